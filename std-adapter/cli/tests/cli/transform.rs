//! `transform`: the features are those of the kernel.

use crate::command::Folder;
use crate::sample::Sample;
use dpp_nystrom::Model;
use dpp_nystrom::model::AnyCoefficients;

/// Products with a landmark's features are kernel values, computed here from the model's numbers.
#[test]
fn products_of_features_are_kernel_values() {
    let sample = Sample::new(300, 3);
    let folder = Folder::with("a.csv", sample.csv());
    for metric in ["one", "map:2"] {
        folder.run(&format!("fit a.csv --landmarks 20 --metric {metric} --model m.dpp")).good();
        let text = folder.run("transform m.dpp a.csv").good().out;
        let (header, lines) = text.split_once('\n').unwrap();
        let phi: Vec<Vec<f64>> =
            lines.lines().map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
        let model = Model::load(folder.path("m.dpp")).unwrap();
        assert_eq!(
            (phi.len(), phi[0].len(), header.split(',').count()),
            (300, model.landmarks(), model.landmarks())
        );
        let AnyCoefficients::F64(coefficients) = &model.coefficients else { panic!("f64") };
        let width = model.scaler.width();
        let scaled = |row: usize| {
            let mut scaled = vec![0.0; width];
            model.scaler.apply_row(&sample.features[row], &mut scaled).unwrap();
            scaled
        };
        let kernel = |x: &[f64], y: &[f64]| {
            let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            (-square / (2.0 * model.kernel.sigma * model.kernel.sigma)).exp()
        };
        for (landmark, &own) in coefficients.landmarks.chunks(width).zip(&model.landmark_rows) {
            for row in 0..300 {
                let product: f64 = phi[row].iter().zip(&phi[own as usize]).map(|(x, y)| x * y).sum();
                let expected = kernel(&scaled(row), landmark);
                assert!((product - expected).abs() < 1e-6, "{metric} {row} {own}: {product} {expected}");
            }
        }
        // The same numbers as an array, from a row store too, and identified rows.
        folder.run("transform m.dpp a.csv --out phi.npy").good();
        let bytes = folder.bytes("phi.npy");
        let array = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(array.shape(), [300, model.landmarks() as u64]);
        assert_eq!(array.into_vec::<f64>().unwrap(), phi.concat());
    }
    folder.run("convert a.csv --out a.rows").good();
    folder.run("transform m.dpp a.rows --out phi.csv").good();
    assert_eq!(folder.text("phi.csv").lines().count(), 301);
    let lines = folder.text("a.csv").replace("\n", ",k\n").replacen(",k", ",id", 1);
    folder.write("b.csv", lines);
    let told = folder.run("transform m.dpp b.csv --ids id").good().out;
    assert!(
        told.starts_with("id,phi0,") && told.lines().skip(1).all(|line| line.starts_with("k,")),
        "{told}"
    );
    folder.run("transform m.dpp a.csv --out a.csv").refused(&["would overwrite an input"]);
    folder.write("c.csv", "a,b\n1,2\n");
    folder.run("transform m.dpp c.csv").refused(&["c.csv", "\"c\""]);
}
