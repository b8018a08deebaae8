// Written by dpp-nystrom 1.0.0: do not edit, export again.
//
// Predicts days from a raw row of 2 features, in the target's own units.
// Trained on 1000 rows of weather in double precision; here in integers, 8-bit landmarks.
// 3 landmarks, gaussian kernel: 298 bytes of constants, 4 bytes of RAM for the row.
//
// Features, in order:
//     0  warm
//     1  wet _/ "both"

/// The number of features of a row.
pub const BITS8_FEATURES: usize = 2;

/// The model: `BITS8.predict(&row, &mut [0; BITS8_FEATURES])`.
#[allow(clippy::approx_constant)]
pub static BITS8: ::dpp_nystrom_core::QuantisedModel<'static, i8> = {
    let parts = ::dpp_nystrom_core::QuantisedParts {
        centres: &BITS8_CENTRES,
        factors: &BITS8_FACTORS,
        exponents: &BITS8_EXPONENTS,
        map: None,
        landmarks: &BITS8_LANDMARKS,
        weights: &BITS8_WEIGHTS,
        limit: 401489724,
        multiplier: 2781871221,
        shift: 3,
        step: 33,
        target_mean: 3.75,
        target_scale: 1.3666532e-18,
    };
    match ::dpp_nystrom_core::QuantisedModel::<i8>::new(parts) {
        Ok(model) => model,
        Err(_) => panic!("parts that do not fit"),
    }
};

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS8_CENTRES: [i32; 2] = [
    343932928, 531234816,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS8_FACTORS: [i32; 2] = [
    156494, 1602502,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS8_EXPONENTS: [i32; 2] = [
    24, 19,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS8_WEIGHTS: [i32; 3] = [
    409586662, -665251255, 1072645728,
];

#[allow(clippy::approx_constant)]
#[rustfmt::skip]
static BITS8_LANDMARKS: [i8; 6] = [
    -82, 30, 22, 67, 126, -44,
];
