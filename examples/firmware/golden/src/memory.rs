//! Bytes of memory on a 32-bit processor, which the core's README states.

/// Landmarks and features, and the bytes in `f32` of `select`, `learn`, `predict`, `learner` and `state` of
/// [`dpp_nystrom_core::Bytes`].
pub const TABLE: [([usize; 2], [usize; 5]); 5] = [
    ([8, 4], [384, 384, 160, 1_176, 852]),
    ([16, 4], [1_280, 1_280, 320, 3_192, 1_908]),
    ([16, 8], [1_280, 1_280, 576, 3_496, 2_212]),
    ([32, 8], [4_608, 4_608, 1_152, 10_856, 6_116]),
    ([64, 8], [17_408, 17_408, 2_304, 37_864, 20_068]),
];
