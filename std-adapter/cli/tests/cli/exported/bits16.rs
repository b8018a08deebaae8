// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in integers, 16-bit landmarks.
// 3 landmarks, gaussian kernel: 304 bytes of constants, 4 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const BITS16_FEATURES: usize = 2;

/// The model: `BITS16.predict(&row, &mut [0; BITS16_FEATURES])`.
#[allow(clippy::approx_constant)]
pub static BITS16: ::dpp_nystrom_core::QuantisedModel<'static, i16> = {
    let parts = ::dpp_nystrom_core::QuantisedParts {
        centres: &BITS16_CENTRES,
        factors: &BITS16_FACTORS,
        exponents: &BITS16_EXPONENTS,
        map: None,
        landmarks: &BITS16_LANDMARKS,
        weights: &BITS16_WEIGHTS,
        limit: 401489724,
        multiplier: 2781871221,
        shift: 3,
        step: 1,
        target_mean: 3.75,
        target_scale: 1.3659941e-18,
    };
    match ::dpp_nystrom_core::QuantisedModel::<i16>::new(parts) {
        Ok(model) => model,
        Err(_) => panic!("parts that do not fit"),
    }
};

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS16_CENTRES: [i32; 2] = [
    343932928, 531234816,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS16_FACTORS: [i32; 2] = [
    156494, 1602502,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS16_EXPONENTS: [i32; 2] = [
    24, 19,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS16_WEIGHTS: [i32; 3] = [
    408981319, -664681622, 1073820704,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS16_LANDMARKS: [i16; 6] = [
    -2690, 978, 734, 2201, 4157, -1467,
];
