//! From a file to landmarks, features, a model and its predictions.
//!
//! `cargo run -p dpp-nystrom-examples --bin desktop`

use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{Dataset, Error, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("waves.csv");
    std::fs::write(&path, waves()).expect("a file in the temporary folder");

    let data = Dataset::read(&path)?; // the last column is the target
    let map = Nystroem::params(40)
        .kernel(Gaussian::new(Sigma::Median(1.0)))
        .selector(Kdpp::default())
        .fit(&data)?;
    println!("{} landmarks, trace error {:.1e}", map.landmarks().len(), map.trace_error(&data)?);

    let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(&data)?;
    let file = folder.path().join("waves.dpp");
    model.save(&file)?;
    let predictions = Model::load(&file)?.predict(&[1.5, 2.0])?;
    println!(
        "ridge {:.1e}, training error {:.3}, f(1.5, 2) = {:.3}",
        model.ridge, model.train_nrmse, predictions[0]
    );
    Ok(())
}

/// Return a table of two crossing waves with noise, as CSV.
fn waves() -> String {
    let row = |i: u32| {
        let (east, north) = (f64::from(i % 40) / 4.0, f64::from(i / 40) / 4.0);
        let noise = f64::from(i * 7_919 % 101) / 101.0 - 0.5;
        format!("{east},{north},{}\n", east.sin() + (0.7 * north).cos() + 0.2 * noise)
    };
    std::iter::once("east,north,height\n".to_owned()).chain((0..1_000).map(row)).collect()
}
