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
    let includes =
        if limits { "#include <math.h>\n#include <stdint.h>\n\n" } else { "#include <stdint.h>\n\n" };
    let mut text = head(bundle, name, includes);
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
    let plain = [REFUSE, DECLARED, SUMMED, RESULT];
    let several = ["            REFUSE;\n", "", SUMMED_SEVERAL, "    RESULT;\n"];
    let body = plain.into_iter().zip(several).fold(BODY.to_owned(), |body, (plain, several)| {
        if one { body } else { body.replace(plain, several) }
    });
    let nearest = if limits { NEAREST } else { "" };
    let mut body = [LEVELS, &body, nearest].concat();
    body = match &quantised.map {
        None => body.replace("NAME_WIDTH", "NAME_FEATURES"),
        Some(map) => [(OF_FEATURES, OF_BOTH), (TO_LEVELS, TO_RAW), (FIRST, &[MAP, FIRST].concat())]
            .into_iter()
            .fold(body, |body, (plain, mapped)| body.replace(plain, mapped))
            .replace("MAP_SHIFT", &map.shift.to_string())
            .replace("MAP_HALF", &((1 << map.shift) >> 1).to_string()),
    };
    let body = predict(&body, bundle.outputs(), "int64_t", "0")
        .replace("STEP", &quantised.step.to_string())
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
    let floats = if one && !limits { "" } else { FLOATS };
    text + &named(&[EXACT, floats, &body, &after(bundle), END].concat(), name)
}

// Parts of the template that a map replaces.
const OF_FEATURES: &str = "    int16_t levels[NAME_FEATURES];\n";
const OF_BOTH: &str = "    int16_t raw[NAME_FEATURES], levels[NAME_WIDTH];\n";
const TO_LEVELS: &str = "        levels[i] = (int16_t)(level";
const TO_RAW: &str = "        raw[i] = (int16_t)(level";
const FIRST: &str = "    for (a = 0; a < NAME_LANDMARKS; a++) {\n";
const MAP: &str = "    for (a = 0; a < NAME_WIDTH; a++) {
        int32_t total = INT32_C(MAP_HALF);
        for (i = 0; i < NAME_FEATURES; i++) {
            total += (int32_t)name_map[a * NAME_FEATURES + i] * raw[i];
        }
        total >>= MAP_SHIFT;
        levels[a] = (int16_t)(total < -16384 ? -16384 : total > 16383 ? 16383 : total);
    }
";

// Parts of the template that several outputs replace.
const REFUSE: &str = "            number.bits = UINT32_C(0x7fc00000);\n            return number.value;\n";
const DECLARED: &str = "    float scaled;\n";
const SUMMED: &str = "        sum += (int64_t)name_weights[a] * (int64_t)name_kernel(distance);\n";
const SUMMED_SEVERAL: &str = "        const int64_t kernel = (int64_t)name_kernel(distance);
        for (i = 0; i < NAME_OUTPUTS; i++) {
            sums[i] += (int64_t)name_weights[i * NAME_LANDMARKS + a] * kernel;
        }
";
const RESULT: &str = "    scaled = SCALE * name_rounded(sum);\n    return MEAN + scaled;\n";

const LEVELS: &str = "
/* 2^e x as an integer, rounded and cut to 30 bits: the bits of a number are taken apart. Right shifts of negative
   numbers must keep the sign, as every common compiler for C does. */
static inline int32_t name_fixed(float x, int32_t exponent)
{
    union {
        float value;
        uint32_t bits;
    } number;
    int32_t biased, shift;
    uint32_t size;

    number.value = x;
    biased = (int32_t)((number.bits >> 23) & 0xffu);
    size = biased == 0 ? 0u : (number.bits & 0x7fffffu) | 0x800000u;
    shift = biased - 150 + exponent;
    if (shift < -31) {
        size = 0u;
    } else if (shift < 0) {
        size >>= -shift - 1;
        size = (size >> 1) + (size & 1u);
    } else if (shift > 6 || (size << shift) > 0x3fffffffu) {
        size = size == 0u ? 0u : 0x3fffffffu;
    } else {
        size <<= shift;
    }
    return number.bits >> 31 == 1u ? -(int32_t)size : (int32_t)size;
}

/* (float)sum, rounded alike. The conversion from 64 bits is a function of the compiler's library, as large as a prediction. */
static inline float name_rounded(int64_t sum)
{
    uint64_t size = sum < 0 ? (uint64_t)0 - (uint64_t)sum : (uint64_t)sum;
    float value, scale = 1.0f;

    /* At least 26 bits are left, of which the last stands for all below it. */
    while (size >> 32 != 0) {
        size = (size >> 6) | ((size & 63u) != 0);
        scale *= 64.0f;
    }
    value = (float)(uint32_t)size * scale;
    return sum < 0 ? -value : value;
}

static inline uint32_t name_upper(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* exp(-distance^2 / (2 sigma^2)), times 2^31, from the squared distance in levels. */
static inline uint32_t name_kernel(uint64_t distance)
{
    uint32_t u, y, entry;

    if (distance >= LIMIT) {
        return 0u;
    }
    u = name_upper((uint32_t)distance << SHIFT, MULTIPLIER);
    y = u << 12;
    entry = name_powers[(u >> 20) & 63u];
    return (entry - name_upper(entry, name_upper(y, FALL1 - name_upper(y, FALL2)))) >> (u >> 26);
}
";

const BODY: &str = "
/* The WHAT for one raw row; NaN where a feature is NaN or infinite. */
NAME_EXACT static inline SIGNATURE
{
    NAME_UNFUSED
    int16_t levels[NAME_FEATURES];
    const KIND *landmark = name_landmarks;
    SUM;
    float scaled;
    int i, a;

    for (i = 0; i < NAME_FEATURES; i++) {
        union {
            float value;
            uint32_t bits;
        } number;
        number.value = x[i];
        if ((number.bits & UINT32_C(0x7f800000)) == UINT32_C(0x7f800000)) {
            number.bits = UINT32_C(0x7fc00000);
            return number.value;
        }
    }
    for (i = 0; i < NAME_FEATURES; i++) {
        const int32_t away = name_fixed(x[i], name_exponents[i]) - name_centres[i];
        const int64_t level = ((int64_t)away * name_factors[i] + INT64_C(0x80000000)) >> 32;
        levels[i] = (int16_t)(level < -16384 ? -16384 : level > 16383 ? 16383 : level);
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
        uint64_t distance = 0;
        for (i = 0; i < NAME_WIDTH; i++) {
            const int32_t difference = (int32_t)landmark[i] * STEP - levels[i];
            distance += (uint32_t)(difference * difference);
        }
        sum += (int64_t)name_weights[a] * (int64_t)name_kernel(distance);
        landmark += NAME_WIDTH;
    }
    scaled = SCALE * name_rounded(sum);
    return MEAN + scaled;
}
";

/// The distance, from the part of the prediction that finds the levels.
const NEAREST: &str = "
/* The distance to the nearest landmark, in levels; NaN where a feature is NaN or infinite. A half, a tenth and a hundredth of rows
   like those of the training exceed name_nearest_limits. */
NAME_EXACT static inline float name_nearest(const float *x)
{
    NAME_UNFUSED
    int16_t levels[NAME_FEATURES];
    const KIND *landmark = name_landmarks;
    uint64_t least = UINT64_MAX;
    int i, a;

    for (i = 0; i < NAME_FEATURES; i++) {
        if (!name_is_finite(x[i])) {
            return name_float(UINT32_C(0x7fc00000));
        }
    }
    for (i = 0; i < NAME_FEATURES; i++) {
        const int32_t away = name_fixed(x[i], name_exponents[i]) - name_centres[i];
        const int64_t level = ((int64_t)away * name_factors[i] + INT64_C(0x80000000)) >> 32;
        levels[i] = (int16_t)(level < -16384 ? -16384 : level > 16383 ? 16383 : level);
    }
    for (a = 0; a < NAME_LANDMARKS; a++) {
        uint64_t distance = 0;
        for (i = 0; i < NAME_WIDTH; i++) {
            const int32_t difference = (int32_t)landmark[i] * STEP - levels[i];
            distance += (uint32_t)(difference * difference);
        }
        least = distance < least ? distance : least;
        landmark += NAME_WIDTH;
    }
    return sqrtf((float)least);
}
";
