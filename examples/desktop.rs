//! The library on a desktop: fit a model on a file, and predict with it.

use dpp_nystrom::approximation::trace_error;
use dpp_nystrom::benchmark::root_mean_square;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{Bandwidth, KernelKind, Precision};
use dpp_nystrom::landmarks::{ChainKind, Method, Start, Steps, select_rows};
use dpp_nystrom::model;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::train;
use dpp_nystrom::regression::{Ridge, Setting, choose_bandwidth};
use std::error::Error;
use std::fmt::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("waves.csv");
    std::fs::write(&path, waves()?)?;

    let table = table::read(&path, &Target::Name("height".to_owned()))?;
    let data = Prepared::new(table.clone(), None, 0)?;
    let kernel = KernelKind::Gaussian;
    let sigma = choose_bandwidth(Bandwidth::Median(1.0), kernel, &data, 0, &NoObserver)?.sigma;
    let setting = Setting { kernel: KernelSpec { kind: kernel, sigma }, precision: Precision::F64, seed: 0 };

    let method = Method::Kdpp { start: Start::KmeansPlusPlus, chain: ChainKind::Slot, steps: Steps::Auto };
    let selection = select_rows(&data, 40, &method, setting, &NoObserver)?;
    let error = trace_error(&data.ground(KernelSpec { kind: kernel, sigma: sigma })?, &selection.landmarks)?;
    println!("40 landmarks of {} rows: trace error / trace {:.1e}", data.len(), error.fraction);

    let training = train(&data, &selection.landmarks, Ridge::CrossValidated, setting, &NoObserver)?;
    let file = folder.path().join("waves.dpp");
    model::save(&training.model, &file)?;
    let predictions = model::load(&file)?.predict(&table)?;
    println!("root mean square error {:.4}", root_mean_square(&predictions, &table));
    Ok(())
}

/// Generate a thousand points of two crossing waves.
fn waves() -> Result<String, std::fmt::Error> {
    let mut text = String::from("east,north,height\n");
    for i in 0..1_000 {
        let (east, north) = (f64::from(i % 40) / 4.0, f64::from(i / 40) / 4.0);
        writeln!(text, "{east},{north},{}", east.sin() + (0.7 * north).cos())?;
    }
    Ok(text)
}
