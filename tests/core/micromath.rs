//! The accuracy of predictions with the exponential of `micromath`.

use dpp_nystrom_core::Predictor;
use dpp_nystrom_core::kernel::Gaussian;

const COUNT: u32 = 1_000_000;

/// One landmark of weight 1: the prediction is the exponential.
#[test]
fn the_error_is_as_stated() {
    let model = Predictor::new(Gaussian::new(1.0_f32).unwrap(), &[0.0], 1, &[1.0]).unwrap();
    let (mut own, mut coarse) = (0.0_f64, 0.0_f64);
    for i in 0..=COUNT {
        let x = (40.0 * f64::from(i) / f64::from(COUNT)).sqrt() as f32;
        // The square is rounded once in `f32`, and so is its half, which is exact.
        let exact = f64::from(x * x * -0.5).exp();
        let error = |value: f32| (f64::from(value) / exact - 1.0).abs();
        own = own.max(error(model.predict(&[x]).unwrap()));
        coarse = coarse.max(error(model.predict_micromath(&[x]).unwrap()));
    }
    assert!(own < 8.15e-8, "{own:e}");
    assert!(coarse > 2.3e-3 && coarse < 2.4e-3, "{coarse:e}");
}
