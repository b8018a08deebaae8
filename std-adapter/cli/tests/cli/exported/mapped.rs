// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in single precision.
// 3 landmarks, a map of rank 1, gaussian kernel: 40 bytes of constants, 4 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const MAPPED_FEATURES: usize = 2;

/// The number of coordinates of a mapped row.
pub const MAPPED_WIDTH: usize = 1;

/// The model: `MAPPED.predict(&row, &mut [0.0; MAPPED_WIDTH])`.
#[allow(clippy::approx_constant)]
pub static MAPPED: ::dpp_nystrom_core::Model<'static, f32, ::dpp_nystrom_core::kernel::Gaussian<f32>> = {
    let Ok(kernel) = ::dpp_nystrom_core::kernel::Gaussian::from_exponent(-0.32000002) else { panic!("not a kernel") };
    let parts = ::dpp_nystrom_core::Parts {
        means: &MAPPED_MEANS,
        scaling: ::dpp_nystrom_core::Scaling::Map { rank: 1, rows: &MAPPED_MAP },
        landmarks: &MAPPED_LANDMARKS,
        weights: &MAPPED_WEIGHTS,
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
static MAPPED_MEANS: [f32; 2] = [
    20.5, 1013.25,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static MAPPED_MAP: [f32; 2] = [
    0.1875, -0.12,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static MAPPED_LANDMARKS: [f32; 3] = [
    -1.1, 0.4, 1.7,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static MAPPED_WEIGHTS: [f32; 3] = [
    0.8, -1.3, 2.1,
];
