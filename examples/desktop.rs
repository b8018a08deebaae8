//! The library on a desktop: a file to a model, and the model to predictions.

use dpp_nystrom::approximation::Gram;
use dpp_nystrom::benchmark::root_mean_square;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{Bandwidth, KernelKind, Precision};
use dpp_nystrom::landmarks::{self, Task};
use dpp_nystrom::model;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{Ridge, Setting, choose_bandwidth, train_at};
use dpp_nystrom::selectors::Kdpp;
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

    let gram = Gram::new(&data, setting.kernel)?;
    let selection = landmarks::run(&Kdpp::default(), &Task::new(&gram, 40))?;
    let missed = gram.trace_error(&selection.landmarks)?;
    println!("40 landmarks of {} rows miss {:.1e} of the trace", data.len(), missed.fraction);

    let training = train_at(&data, &selection.landmarks, Ridge::CrossValidated, setting, &NoObserver)?;
    let file = folder.path().join("waves.dpp");
    model::save(&training.model, &file)?;
    let predictions = model::load(&file)?.predict(&table)?;
    println!("root mean square error {:.4}", root_mean_square(&predictions, &table));
    Ok(())
}

/// A thousand points of two crossing waves.
fn waves() -> Result<String, std::fmt::Error> {
    let mut text = String::from("east,north,height\n");
    for i in 0..1_000 {
        let (east, north) = (f64::from(i % 40) / 4.0, f64::from(i / 40) / 4.0);
        writeln!(text, "{east},{north},{}", east.sin() + (0.7 * north).cos())?;
    }
    Ok(text)
}
