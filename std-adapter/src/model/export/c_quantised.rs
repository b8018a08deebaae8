//! A quantised model as a C99 header, in integers except for the last multiplication and addition.
//!
//! The arithmetic is that of [`dpp_nystrom_core::QuantisedModel`], step by step, and the prediction equal bit
//! for bit.

use crate::model::export::bundle::Bundle;
use crate::model::export::c::{
    END, EXACT, FLOATS, after, all_weights, float, head, named, predict, write_array, write_limits,
    write_outputs,
};
use crate::model::export::name::Name;
use crate::model::export::quantised::{Quantised, Stored};
use dpp_nystrom_core::{FALL, POWERS};
use std::fmt::Debug;

/// Return the header's text.
pub(crate) fn text<L: Stored + Debug>(quantised: &Quantised<L>, bundle: &Bundle<'_>, name: &Name) -> String {
    let bits = L::BITS;
    let limits = bundle.limits.is_some();
    let mut text = head(bundle, name, false);
    for (array, values) in [
        ("centres", &quantised.centres),
        ("factors", &quantised.factors),
        ("exponents", &quantised.exponents),
    ] {
        write_array(&mut text, "int32_t", name, array, values, "");
    }
    if let Some(map) = &quantised.map {
        write_array(&mut text, "int16_t", name, "map", &map.rows, "");
    }
    write_array(&mut text, &format!("int{bits}_t"), name, "landmarks", &quantised.landmarks, "");
    let weights: Vec<i32> = all_weights(bundle).into_iter().map(|word| word as i32).collect();
    write_array(&mut text, "int32_t", name, "weights", &weights, "");
    write_array(&mut text, "uint32_t", name, "powers", &POWERS, "u");
    let [c1, c2] = FALL;
    // Names are replaced last, because one may contain another placeholder.
    let one = bundle.further.is_empty();
    let body = if one {
        BODY.replace("SCALED", "    float scaled;\n")
    } else {
        BODY.replace("SCALED", "").replace(SUMMED, SUMMED_SEVERAL).replace(RESULT, "    RESULT;\n")
    };
    let (kept, width) = match &quantised.map {
        None => (KEPT.to_owned(), "NAME_FEATURES"),
        Some(map) => {
            let (shift, half) = (map.shift.to_string(), ((1 << map.shift) >> 1).to_string());
            (MAPPED.replace("MAP_SHIFT", &shift).replace("MAP_HALF", &half), "NAME_WIDTH")
        }
    };
    let nearest = if limits { NEAREST } else { "" };
    let body = [LEVELS, &kept, &body, nearest].concat().replace("NAME_WIDTH", width);
    let step = if quantised.step == 1 { String::new() } else { format!(" * {}", quantised.step) };
    let body = predict(&body, bundle.outputs(), ["int64_t", "0", "NAME_AS(float, sums[i])"])
        .replace(" * STEP", &step)
        .replace("KIND", &format!("int{bits}_t"))
        .replace("LIMIT", &format!("{}u", quantised.limit))
        .replace("SHIFT", &quantised.shift.to_string())
        .replace("MULTIPLIER", &format!("{}u", quantised.multiplier))
        .replace("FALL1", &format!("{c1}u"))
        .replace("FALL2", &format!("{c2}u"))
        .replace("MEAN", &float(quantised.target_mean))
        .replace("SCALE", &float(quantised.target_scale));
    write_outputs(&mut text, bundle, name);
    write_limits(&mut text, bundle, name);
    text + &named(&[EXACT, FLOATS, &body, &after(bundle), END].concat(), name)
}

// Parts of the template that several outputs replace.
const SUMMED: &str =
    "        sum += NAME_AS(int64_t, name_weights[a]) * NAME_AS(int64_t, name_kernel(distance));\n";
const SUMMED_SEVERAL: &str = "        const int64_t kernel = NAME_AS(int64_t, name_kernel(distance));

        for (i = 0; i < NAME_OUTPUTS; i++) {
            sums[i] += NAME_AS(int64_t, name_weights[i * NAME_LANDMARKS + a]) * kernel;
        }
";
const RESULT: &str = "    scaled = SCALE * name_rounded(sum);\n    return MEAN + scaled;\n";

const LEVELS: &str = "
#if (-1 >> 1) != -1
#error \"this header needs right shifts of negative numbers that keep the sign\"
#endif

/* 2^e x as an integer, rounded and cut to 30 bits: the bits of a number are taken apart. */
static inline int32_t name_fixed(float x, int32_t exponent)
{
    const uint32_t bits = name_bits(x);
    const uint32_t field = (bits >> 23) & 0xffu;
    const int32_t shift = NAME_AS(int32_t, field) - 150 + exponent;
    uint32_t size = (field == 0u) ? 0u : ((bits & 0x7fffffu) | 0x800000u);
    int32_t fixed;

    if (shift < -31) {
        size = 0u;
    } else if (shift < 0) {
        const int32_t fewer = -shift - 1;

        size >>= NAME_AS(uint32_t, fewer);
        size = (size >> 1) + (size & 1u);
    } else if (shift > 6) {
        size = (size == 0u) ? 0u : 0x3fffffffu;
    } else {
        size <<= NAME_AS(uint32_t, shift);
        size = (size > 0x3fffffffu) ? 0x3fffffffu : size;
    }
    fixed = NAME_AS(int32_t, size);
    return ((bits >> 31) == 1u) ? -fixed : fixed;
}

/* sum as a float, rounded alike. The conversion from 64 bits is a function of the compiler's library, as large as a prediction. */
static inline float name_rounded(int64_t sum)
{
    uint64_t size = (sum < 0) ? (UINT64_C(0) - NAME_AS(uint64_t, sum)) : NAME_AS(uint64_t, sum);
    float value, scale = 1.0f;

    /* At least 26 bits are left, of which the last stands for all below it. */
    while ((size >> 32) != 0u) {
        const uint64_t below = ((size & 63u) != 0u) ? UINT64_C(1) : UINT64_C(0);

        size = (size >> 6) | below;
        scale *= 64.0f;
    }
    value = NAME_AS(float, NAME_AS(uint32_t, size)) * scale;
    return (sum < 0) ? -value : value;
}

static inline uint32_t name_upper(uint32_t a, uint32_t b)
{
    return NAME_AS(uint32_t, (NAME_AS(uint64_t, a) * b) >> 32);
}

/* exp(-distance^2 / (2 sigma^2)), times 2^31, from the squared distance in levels. */
static inline uint32_t name_kernel(uint64_t distance)
{
    uint32_t u, y, entry;

    if (distance >= LIMIT) {
        return 0u;
    }
    u = name_upper(NAME_AS(uint32_t, distance) << SHIFT, MULTIPLIER);
    y = u << 12;
    entry = name_powers[(u >> 20) & 63u];
    return (entry - name_upper(entry, name_upper(y, FALL1 - name_upper(y, FALL2)))) >> (u >> 26);
}
";

/// What keeps the levels as they are.
const KEPT: &str = "
/* The levels of a raw row; false where a feature is NaN or infinite. */
static inline bool name_levels(const float *x, int16_t *levels)
{
    int i;

    for (i = 0; i < NAME_FEATURES; i++) {
        const int32_t away = name_fixed(x[i], name_exponents[i]) - name_centres[i];
        const int64_t level = (NAME_AS(int64_t, away) * name_factors[i] + INT64_C(2147483648)) >> 32;

        if (!name_is_finite(x[i])) {
            return false;
        }
        levels[i] = NAME_AS(int16_t, (level < -16384) ? -16384 : ((level > 16383) ? 16383 : level));
    }
    return true;
}
";

/// What maps them.
const MAPPED: &str = "
/* The levels of a raw row's map; false where a feature is NaN or infinite. */
static inline bool name_levels(const float *x, int16_t *levels)
{
    int16_t raw[NAME_FEATURES];
    int i, a;

    for (i = 0; i < NAME_FEATURES; i++) {
        const int32_t away = name_fixed(x[i], name_exponents[i]) - name_centres[i];
        const int64_t level = (NAME_AS(int64_t, away) * name_factors[i] + INT64_C(2147483648)) >> 32;

        if (!name_is_finite(x[i])) {
            return false;
        }
        raw[i] = NAME_AS(int16_t, (level < -16384) ? -16384 : ((level > 16383) ? 16383 : level));
    }
    for (a = 0; a < NAME_WIDTH; a++) {
        int32_t total = INT32_C(MAP_HALF);

        for (i = 0; i < NAME_FEATURES; i++) {
            total += NAME_AS(int32_t, name_map[a * NAME_FEATURES + i]) * raw[i];
        }
        total >>= MAP_SHIFT;
        levels[a] = NAME_AS(int16_t, (total < -16384) ? -16384 : ((total > 16383) ? 16383 : total));
    }
    return true;
}
";

const BODY: &str = "
/* The WHAT for one raw row; NaN where a feature is NaN or infinite. */
static inline SIGNATURE
{
    int16_t levels[NAME_WIDTH];
    SUM;
SCALED    int i, a;

    if (!name_levels(x, levels)) {
        REFUSE;
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
        const KIND *landmark = &name_landmarks[a * NAME_WIDTH];
        uint64_t distance = 0;

        for (i = 0; i < NAME_WIDTH; i++) {
            const int32_t difference = NAME_AS(int32_t, landmark[i]) * STEP - levels[i];
            const int32_t square = difference * difference;

            distance += NAME_AS(uint32_t, square);
        }
        sum += NAME_AS(int64_t, name_weights[a]) * NAME_AS(int64_t, name_kernel(distance));
    }
    scaled = SCALE * name_rounded(sum);
    return MEAN + scaled;
}
";

const NEAREST: &str = "
/* The distance to the nearest landmark, in levels; NaN where a feature is NaN or infinite. A half, a tenth and a hundredth of rows
   like those of the training exceed name_nearest_limits. */
static inline float name_nearest(const float *x)
{
    int16_t levels[NAME_WIDTH];
    uint64_t least = UINT64_MAX;
    int i, a;

    if (!name_levels(x, levels)) {
        return name_float(UINT32_C(0x7fc00000));
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
        const KIND *landmark = &name_landmarks[a * NAME_WIDTH];
        uint64_t distance = 0;

        for (i = 0; i < NAME_WIDTH; i++) {
            const int32_t difference = NAME_AS(int32_t, landmark[i]) * STEP - levels[i];
            const int32_t square = difference * difference;

            distance += NAME_AS(uint32_t, square);
        }
        least = (distance < least) ? distance : least;
    }
    return sqrtf(NAME_AS(float, least));
}
";
