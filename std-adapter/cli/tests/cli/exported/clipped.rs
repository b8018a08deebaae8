// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in single precision.
// 3 landmarks, clipped features, a map of rank 1, gaussian kernel:
// 56 bytes of constants, 4 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const CLIPPED_FEATURES: usize = 2;

/// The number of coordinates of a mapped row.
pub const CLIPPED_WIDTH: usize = 1;

/// The model: `CLIPPED.predict(&row, &mut [0.0; CLIPPED_WIDTH])`.
#[allow(clippy::approx_constant)]
pub static CLIPPED: ::dpp_nystrom_core::Model<'static, f32, ::dpp_nystrom_core::kernel::Gaussian<f32>> = {
    let Ok(kernel) = ::dpp_nystrom_core::kernel::Gaussian::from_exponent(-0.32000002) else { panic!("not a kernel") };
    let parts = ::dpp_nystrom_core::Parts {
        means: &CLIPPED_MEANS,
        scaling: ::dpp_nystrom_core::Scaling::Clipped { rank: Some(1), numbers: &CLIPPED_CLIPPED },
        landmarks: &CLIPPED_LANDMARKS,
        weights: &CLIPPED_WEIGHTS,
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
static CLIPPED_MEANS: [f32; 2] = [
    20.5, 1013.25,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static CLIPPED_CLIPPED: [f32; 6] = [
    0.25, 0.08, 0.30769232, 0.4, 0.75, -1.5,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static CLIPPED_LANDMARKS: [f32; 3] = [
    -1.1, 0.4, 1.7,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static CLIPPED_WEIGHTS: [f32; 3] = [
    0.8, -1.3, 2.1,
];
