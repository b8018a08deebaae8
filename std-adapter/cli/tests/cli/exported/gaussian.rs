// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in single precision.
// 3 landmarks, gaussian kernel: 52 bytes of constants, 8 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const GAUSSIAN_FEATURES: usize = 2;

/// The model: `GAUSSIAN.predict(&row, &mut [0.0; GAUSSIAN_FEATURES])`.
#[allow(clippy::approx_constant)]
pub static GAUSSIAN: ::dpp_nystrom_core::Model<'static, f32, ::dpp_nystrom_core::kernel::Gaussian<f32>> = {
    let Ok(kernel) = ::dpp_nystrom_core::kernel::Gaussian::from_exponent(-0.32000002) else { panic!("not a kernel") };
    let parts = ::dpp_nystrom_core::Parts {
        means: &GAUSSIAN_MEANS,
        scaling: ::dpp_nystrom_core::Scaling::PerFeature(&GAUSSIAN_SCALES),
        landmarks: &GAUSSIAN_LANDMARKS,
        weights: &GAUSSIAN_WEIGHTS,
        target_mean: 3.75,
        target_scale: 1.5,
    };
    match ::dpp_nystrom_core::Model::new(kernel, parts) {
        Ok(model) => model,
        Err(_) => panic!("parts that do not fit"),
    }
};

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static GAUSSIAN_MEANS: [f32; 2] = [
    20.5, 1013.25,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static GAUSSIAN_SCALES: [f32; 2] = [
    0.25, 0.08,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static GAUSSIAN_LANDMARKS: [f32; 6] = [
    -1.1, 0.4, 0.3, 0.9, 1.7, -0.6,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static GAUSSIAN_WEIGHTS: [f32; 3] = [
    0.8, -1.3, 2.1,
];
