// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts target from a raw row of 4 features, in the target's own units.
// Trained on 1000 rows of readings in double precision; here in single precision.
// 16 landmarks, gaussian kernel: 352 bytes of constants, 16 bytes of RAM for the row.
//
// Features, in order:
//     0  a
//     1  b
//     2  c
//     3  d

/// The number of features of a row.
pub const READINGS_FEATURES: usize = 4;

/// The model: `READINGS.predict(&row, &mut [0.0; READINGS_FEATURES])`.
#[allow(clippy::approx_constant)]
pub static READINGS: ::dpp_nystrom_core::Model<'static, f32, ::dpp_nystrom_core::kernel::Gaussian<f32>> = {
    let Ok(kernel) = ::dpp_nystrom_core::kernel::Gaussian::from_exponent(-0.017017301) else { panic!("not a kernel") };
    let parts = ::dpp_nystrom_core::Parts {
        means: &READINGS_MEANS,
        scaling: ::dpp_nystrom_core::Scaling::PerFeature(&READINGS_SCALES),
        landmarks: &READINGS_LANDMARKS,
        weights: &READINGS_WEIGHTS,
        target_mean: -0.09248077,
        target_scale: 0.4591253,
    };
    match ::dpp_nystrom_core::Model::new(kernel, parts) {
        Ok(model) => model,
        Err(_) => panic!("parts that do not fit"),
    }
};

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static READINGS_MEANS: [f32; 4] = [
    0.4885195, 0.51084256, 0.4980057, 0.490812,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static READINGS_SCALES: [f32; 4] = [
    3.4356415, 3.4328823, 3.5087779, 3.4467351,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static READINGS_LANDMARKS: [f32; 64] = [
    0.31392765, -1.2747166, -1.6568701, 0.25027466, 1.110846, -1.5768806, 0.6607664, -0.19890179,
    1.369486, 1.2992997, 1.0789667, 1.560792, -0.60500264, -1.6046643, 1.6405193, -0.61438286,
    1.7345133, -1.6841122, 0.31977603, -0.23237707, -1.6725763, -1.4757292, 0.48063946, -1.0242078,
    0.023784952, 0.74376494, 1.2529829, -0.7957868, 0.442539, 1.0144391, -0.04136381, 0.6505251,
    -1.1703537, 0.39638585, 1.2078786, -0.5944115, 1.5374682, -1.259074, 1.0555879, -0.5774299,
    0.36620042, 0.4153586, -0.77711916, 0.16205324, 0.36162087, 1.5661107, -0.78852797, -0.29977477,
    -0.9155389, -1.1493577, 0.54702115, 1.6168271, 0.6890612, 0.3967462, 0.12026867, -0.9268323,
    -1.5877103, 0.4391174, -0.35637048, 1.6947507, 1.3454913, 0.70017695, -1.3621294, -0.99925905,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static READINGS_WEIGHTS: [f32; 16] = [
    -16.518894, -102.75901, -54.446667, -31.769733, 46.120388, 57.525356, -2.9446902, 196.76553,
    -58.37849, 26.822838, -63.161198, -35.4157, 46.50092, 39.84504, -41.623806, -12.247895,
];
