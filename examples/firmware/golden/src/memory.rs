//! Bytes of memory on a 32-bit processor, which the core's README states.

/// Landmarks and features, and the bytes in `f32` of `select`, `learn`, `predict`, `learner` and `state` of
/// [`dpp_nystrom_core::Bytes`].
pub const TABLE: [([usize; 2], [usize; 5]); 5] = [
    ([8, 4], [384, 704, 160, 1_264, 852]),
    ([16, 4], [1_280, 2_432, 320, 3_344, 1_908]),
    ([16, 8], [1_280, 2_432, 576, 3_648, 2_212]),
    ([32, 8], [4_608, 8_960, 1_152, 11_136, 6_116]),
    ([64, 8], [17_408, 34_304, 2_304, 38_400, 20_068]),
];

/// Landmarks and features, and the bytes in `f32` of a [`dpp_nystrom_core::Detector`] and of its state.
pub const DETECTORS: [([usize; 2], [usize; 2]); 5] = [
    ([8, 4], [1_344, 876]),
    ([16, 4], [2_464, 1_272]),
    ([16, 8], [3_280, 1_576]),
    ([32, 8], [7_312, 3_784]),
    ([64, 8], [21_520, 11_272]),
];
