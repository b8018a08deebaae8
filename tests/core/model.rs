//! Models that take raw rows: compared with the predictor on rows that were standardised by hand, and all inputs that
//! are refused.

use dpp_nystrom_core::kernel::{ChosenKernel, Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial};
use dpp_nystrom_core::{Error, Model, Parts, Predictor};

const MEANS: [f32; 3] = [10.0, -2.0, 7.0];
/// The last feature was constant.
const SCALES: [f32; 3] = [0.5, 4.0, 0.0];
const LANDMARKS: [f32; 6] = [0.5, -1.0, 0.0, 2.0, 0.25, 0.0];
const WEIGHTS: [f32; 2] = [1.5, -0.75];

fn parts() -> Parts<'static, f32> {
    Parts {
        means: &MEANS,
        scales: &SCALES,
        landmarks: &LANDMARKS,
        weights: &WEIGHTS,
        target_mean: 100.0,
        target_scale: 3.0,
    }
}

fn kernels() -> [ChosenKernel<f32>; 6] {
    [
        ChosenKernel::Gaussian(Gaussian::new(1.3).unwrap()),
        ChosenKernel::Laplace(Laplace::new(1.3).unwrap()),
        ChosenKernel::Matern32(Matern32::new(1.3).unwrap()),
        ChosenKernel::Matern52(Matern52::new(1.3).unwrap()),
        ChosenKernel::Polynomial(Polynomial::new(3, 0.5).unwrap()),
        ChosenKernel::Linear(Linear),
    ]
}

#[test]
fn raw_rows_are_standardised_and_predictions_scaled_back() {
    for kernel in kernels() {
        let model = Model::new(kernel, parts()).unwrap();
        let predictor = Predictor::new(kernel, &LANDMARKS, 3, &WEIGHTS).unwrap();
        assert_eq!(model.features(), 3);
        for raw in [[10.0, -2.0, 7.0], [12.5, -1.75, 7.0], [3.0, 0.0, 1e30], [f32::MAX, -2.0, 7.0]] {
            let standard = [(raw[0] - 10.0) * 0.5, (raw[1] + 2.0) * 4.0, 0.0];
            let expected = 100.0 + 3.0 * predictor.predict(&standard).unwrap();
            // The buffer may be longer than the row, and its content does not matter.
            let found = model.predict(&raw, &mut [f32::NAN; 5]).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{kernel:?} {raw:?}");
        }
    }
}

/// The constant constructors create the same kernels as the others.
#[test]
fn constant_kernels_are_the_same() {
    let mut room = [0.0; 3];
    for kernel in kernels() {
        let again = match kernel {
            ChosenKernel::Gaussian(kernel) => {
                Gaussian::from_exponent(kernel.exponent()).map(ChosenKernel::Gaussian)
            }
            ChosenKernel::Laplace(kernel) => Laplace::from_rate(kernel.rate()).map(ChosenKernel::Laplace),
            ChosenKernel::Matern32(kernel) => Matern32::from_rate(kernel.rate()).map(ChosenKernel::Matern32),
            ChosenKernel::Matern52(kernel) => Matern52::from_rate(kernel.rate()).map(ChosenKernel::Matern52),
            ChosenKernel::Polynomial(kernel) => {
                Polynomial::constant(kernel.degree(), kernel.offset()).map(ChosenKernel::Polynomial)
            }
            ChosenKernel::Linear(_) => Ok(ChosenKernel::Linear(Linear)),
        };
        let [one, other] = [kernel, again.unwrap()].map(|kernel| {
            Model::new(kernel, parts()).unwrap().predict(&[11.0, -1.9, 7.0], &mut room).unwrap()
        });
        assert_eq!(one.to_bits(), other.to_bits());
    }
    for bad in [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(Gaussian::from_exponent(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Laplace::from_rate(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Matern32::from_rate(bad).unwrap_err(), Error::Bandwidth);
        assert_eq!(Matern52::from_rate(bad).unwrap_err(), Error::Bandwidth);
    }
    assert_eq!(Gaussian::from_exponent(1.0).unwrap_err(), Error::Bandwidth);
    assert_eq!(Laplace::from_rate(-1.0).unwrap_err(), Error::Bandwidth);
    for (degree, offset) in [(0, 1.0), (2, -1.0), (2, f32::NAN), (2, f32::INFINITY)] {
        assert_eq!(Polynomial::constant(degree, offset).unwrap_err(), Error::Polynomial);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let refused = |parts| Model::new(Linear, parts).unwrap_err();
    assert_eq!(refused(Parts { means: &[], scales: &[], landmarks: &[], ..parts() }), Error::Empty);
    assert_eq!(refused(Parts { weights: &[], landmarks: &[], ..parts() }), Error::Empty);
    assert_eq!(refused(Parts { scales: &SCALES[..2], ..parts() }), Error::Length { expected: 3, found: 2 });
    assert_eq!(
        refused(Parts { landmarks: &LANDMARKS[..5], ..parts() }),
        Error::Length { expected: 6, found: 5 }
    );
    assert_eq!(refused(Parts { weights: &[1.0; 3], ..parts() }), Error::Length { expected: 9, found: 6 });
}

#[test]
fn rows_that_cannot_be_predicted_are_refused() {
    let model = Model::new(Gaussian::new(1.0_f32).unwrap(), parts()).unwrap();
    let refused = |raw: &[f32], room: &mut [f32]| model.predict(raw, room).unwrap_err();
    assert_eq!(refused(&[1.0; 2], &mut [0.0; 3]), Error::Length { expected: 3, found: 2 });
    assert_eq!(refused(&[1.0; 4], &mut [0.0; 4]), Error::Length { expected: 3, found: 4 });
    assert_eq!(refused(&[1.0; 3], &mut [0.0; 2]), Error::Capacity { needed: 3, have: 2 });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for column in 0..3 {
            let mut raw = [1.0; 3];
            raw[column] = bad;
            assert_eq!(refused(&raw, &mut [0.0; 3]), Error::NotFinite { row: 0, column });
        }
    }
    // Finite, but its difference from the mean overflows.
    assert_eq!(refused(&[1.0, f32::MAX, 1.0], &mut [0.0; 3]), Error::NotFinite { row: 0, column: 1 });
}
