//! The library as its documentation shows it: landmarks, a map, a model and its predictions for the rows of a
//! file.
//!
//! `files DATA STORE MODEL` fits to the rows of a file, given as numbers, read, and opened as the row store
//! `STORE`. It prints landmarks and predictions with all digits, and leaves a model in `MODEL`.

use dpp_nystrom::data::table::{self, Table, Target};
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::{
    Dataset, Gaussian, KernelRidge, Nystroem, Ridge, Sigma,
    selectors::{Kdpp, Refined, RpCholesky, Uniform},
};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, store, model] = &arguments[..] else { return Err("usage: files DATA STORE MODEL".into()) };
    let Table { features: x, target, dim: d, .. } = table::read(Path::new(path), &Target::Last)?;
    let y = target.ok_or("no target")?;

    let data = Dataset::from_rows(&x, d)?.with_target(&y)?;
    let map = Nystroem::params(50)
        .kernel(Gaussian::new(Sigma::Median(4.0)))
        .selector(Refined::default().sweeps(5))
        .seed(7)
        .fit(&data)?;
    let landmarks: &[usize] = map.landmarks();
    let phi: Vec<f64> = map.transform(&x)?;
    let error: f64 = map.trace_error(&data)?;
    let regression = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(&data)?;
    let predicted = regression.predict(&x)?;
    regression.save(Path::new(model))?;
    let loaded = dpp_nystrom::Model::load(Path::new(model))?;
    assert_eq!(loaded.predict(&x)?, predicted);
    assert!(phi.len() == y.len() * map.rank() && error < 1.0);
    print("rows refined", landmarks, &predicted);

    let file = Dataset::read(path)?;
    let stored = Dataset::open_store(store)?;
    for (kind, data) in [("rows", &data), ("file", &file), ("store", &stored)] {
        fit(&format!("{kind} refined"), Refined::default().sweeps(5), data, &x)?;
        fit(&format!("{kind} kdpp"), Kdpp::default(), data, &x)?;
        fit(&format!("{kind} uniform"), Uniform, data, &x)?;
        fit(&format!("{kind} rpcholesky"), RpCholesky::default(), data, &x)?;
    }
    Ok(())
}

fn fit(
    name: &str,
    selector: impl Selector + 'static,
    data: &Dataset<'_>,
    x: &[f64],
) -> Result<(), Box<dyn Error>> {
    let map = Nystroem::params(50)
        .kernel(Gaussian::new(Sigma::Median(4.0)))
        .selector(selector)
        .seed(7)
        .fit(data)?;
    let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(data)?;
    print(name, map.landmarks(), &model.predict(x)?);
    Ok(())
}

/// One line of a name and landmarks, and one of predictions with all digits.
fn print(name: &str, landmarks: &[usize], predicted: &[f64]) {
    println!("{name} landmarks {landmarks:?}");
    println!("{name} predictions {predicted:?}");
}
