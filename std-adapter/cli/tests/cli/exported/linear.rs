// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in single precision.
// 3 landmarks, linear kernel: 52 bytes of constants, 8 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const LINEAR_FEATURES: usize = 2;

/// The model: `LINEAR.predict(&row, &mut [0.0; LINEAR_FEATURES])`.
#[allow(clippy::approx_constant)]
pub static LINEAR: ::dpp_nystrom_core::Model<'static, f32, ::dpp_nystrom_core::kernel::Linear> = {
    let kernel = ::dpp_nystrom_core::kernel::Linear;
    let parts = ::dpp_nystrom_core::Parts {
        means: &LINEAR_MEANS,
        scaling: ::dpp_nystrom_core::Scaling::PerFeature(&LINEAR_SCALES),
        landmarks: &LINEAR_LANDMARKS,
        weights: &LINEAR_WEIGHTS,
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
static LINEAR_MEANS: [f32; 2] = [
    20.5, 1013.25,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static LINEAR_SCALES: [f32; 2] = [
    0.25, 0.08,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static LINEAR_LANDMARKS: [f32; 6] = [
    -1.1, 0.4, 0.3, 0.9, 1.7, -0.6,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static LINEAR_WEIGHTS: [f32; 3] = [
    0.8, -1.3, 2.1,
];
