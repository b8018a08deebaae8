//! Quantised models compared with the same formulas in `f64`: the stated error on models and rows of every
//! shape, the ends of all ranges, and all inputs that are refused.

use dpp_nystrom_core::{Error, FALL, POWERS, QuantisedMap, QuantisedModel, QuantisedParts};

/// Pseudo-random numbers: SplitMix64.
struct Noise(u64);

impl Noise {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The parts of a model, owned.
#[derive(Clone)]
struct Owned {
    centres: Vec<i32>,
    factors: Vec<i32>,
    exponents: Vec<i32>,
    /// Rows and shift.
    map: Option<(Vec<i16>, u32)>,
    wide: Vec<i16>,
    narrow: Vec<i8>,
    weights: Vec<i32>,
    limit: u32,
    multiplier: u32,
    shift: u32,
    step: i32,
}

impl Owned {
    /// Create a random model whose kernel falls to `2^-31` at this distance in levels.
    fn random(noise: &mut Noise, dim: usize, count: usize, reach: f64) -> Self {
        let limit = (reach * reach).min(f64::from(u32::MAX)) as u32;
        let shift = limit.leading_zeros();
        let multiplier = (31.0 / f64::from(limit) * (58.0 - f64::from(shift)).exp2()).floor() as u32;
        let most = (1_u64 << 31) / count as u64;
        Self {
            centres: (0..dim).map(|_| noise.below(1 << 30) as i32 - (1 << 29)).collect(),
            factors: (0..dim).map(|_| (1 << 16) + noise.below(1 << 18) as i32).collect(),
            exponents: (0..dim).map(|_| noise.below(40) as i32 - 10).collect(),
            map: None,
            wide: (0..dim * count).map(|_| noise.below(1 << 15) as i32 as i16 - (1 << 14)).collect(),
            narrow: (0..dim * count).map(|_| noise.bits() as i8).collect(),
            weights: (0..count).map(|_| noise.between(-(most as f64), most as f64) as i32).collect(),
            limit,
            multiplier,
            shift,
            step: 1 + noise.below(128) as i32,
        }
    }

    fn parts<'a, L>(&'a self, landmarks: &'a [L]) -> QuantisedParts<'a, L> {
        QuantisedParts {
            centres: &self.centres,
            factors: &self.factors,
            exponents: &self.exponents,
            map: self.map.as_ref().map(|(rows, shift)| QuantisedMap {
                rank: rows.len() / self.centres.len(),
                rows,
                shift: *shift,
            }),
            landmarks,
            weights: &self.weights,
            limit: self.limit,
            multiplier: self.multiplier,
            shift: self.shift,
            step: self.step,
            target_mean: 0.0,
            target_scale: SCALE,
        }
    }

    fn wide(&self) -> Result<QuantisedModel<'_, i16>, Error> {
        QuantisedModel::<i16>::new(self.parts(&self.wide))
    }

    fn narrow(&self) -> Result<QuantisedModel<'_, i8>, Error> {
        QuantisedModel::<i8>::new(self.parts(&self.narrow))
    }

    /// Return the level of a raw feature, in `f64`, which is exact for all of these numbers.
    fn level(&self, feature: usize, raw: f64) -> f64 {
        let largest = ((1_i64 << 30) - 1) as f64;
        let fixed = (raw * f64::from(self.exponents[feature]).exp2()).round().clamp(-largest, largest);
        let away = (fixed - f64::from(self.centres[feature])) as i64;
        let scaled = (i128::from(away) * i128::from(self.factors[feature]) + (1 << 31)).div_euclid(1 << 32);
        (scaled as f64).clamp(-16_384.0, 16_383.0)
    }

    /// Return `Σ w 2^-u`, in units of weights.
    fn exact(&self, landmarks: &[f64], raw: &[f64]) -> f64 {
        let mut levels: Vec<f64> = raw.iter().enumerate().map(|(i, &value)| self.level(i, value)).collect();
        if let Some((rows, shift)) = &self.map {
            let scale = f64::from(*shift).exp2();
            let sum =
                |row: &[i16]| row.iter().zip(&levels).map(|(&m, level)| f64::from(m) * level).sum::<f64>();
            let level = |row| (sum(row) / scale + 0.5).floor().clamp(-16_384.0, 16_383.0);
            levels = rows.chunks(raw.len()).map(level).collect();
        }
        let rate = f64::from(self.multiplier) * (f64::from(self.shift) - 58.0).exp2();
        let terms = landmarks.chunks(levels.len()).zip(&self.weights).map(|(landmark, &weight)| {
            let distance: f64 = landmark.iter().zip(&levels).map(|(x, y)| (x - y) * (x - y)).sum();
            if distance < f64::from(self.limit) { f64::from(weight) * (-distance * rate).exp2() } else { 0.0 }
        });
        terms.sum()
    }

    /// Return the error that the module states: a fraction of the sum of the weights' magnitudes, and the
    /// rounding of the result.
    fn bound(&self, exact: f64) -> f64 {
        let size: f64 = self.weights.iter().map(|&weight| f64::from(weight).abs()).sum();
        2e-8 * size + f64::from(f32::EPSILON) * exact.abs()
    }
}

/// A unit of weight.
const SCALE: f32 = 1.0 / (1_u64 << 31) as f32;

#[test]
fn the_error_is_the_stated_one() {
    let mut noise = Noise(1);
    let (mut worst, mut seen) = (0.0_f64, 0);
    for dim in [1, 2, 3, 4, 5, 8, 13, 40] {
        for count in [1, 2, 32, 65] {
            for reach in [70_000.0, 20_000.0, 2_000.0, 40.0, 1.5] {
                let owned = Owned::random(&mut noise, dim, count, reach);
                let (wide, narrow) = (owned.wide().unwrap(), owned.narrow().unwrap());
                let landmarks: [Vec<f64>; 2] = [
                    owned.wide.iter().map(|&value| f64::from(value)).collect(),
                    owned.narrow.iter().map(|&value| f64::from(value) * f64::from(owned.step)).collect(),
                ];
                for row in 0..20 {
                    // Rows around the landmarks, near one of them, and far from all.
                    let raw: Vec<f32> = (0..dim)
                        .map(|i| {
                            let level = match row % 3 {
                                0 => noise.between(-20_000.0, 20_000.0),
                                _ => {
                                    landmarks[row % 2][i % landmarks[row % 2].len()]
                                        + noise.between(-30.0, 30.0)
                                }
                            };
                            let away = level * (32_f64.exp2() / f64::from(owned.factors[i]));
                            let unit = f64::from(owned.exponents[i]).exp2();
                            ((f64::from(owned.centres[i]) + away) / unit) as f32
                        })
                        .collect();
                    let double: Vec<f64> = raw.iter().copied().map(f64::from).collect();
                    let found = [wide.predict(&raw, &mut [0; 40]), narrow.predict(&raw, &mut [0; 40])];
                    for (found, landmarks) in found.into_iter().zip(&landmarks) {
                        let exact = owned.exact(landmarks, &double);
                        let off = (f64::from(found.unwrap()) - exact).abs();
                        let bound = owned.bound(exact);
                        assert!(off <= bound, "{dim} {count} {reach}: {off} over {bound}");
                        worst = worst.max(off / bound);
                        seen += usize::from(exact != 0.0);
                    }
                }
            }
        }
    }
    // The bound is sharp, and enough rows were tested.
    assert!(worst > 0.3 && seen > 2_000, "{worst} {seen}");
}

/// A random model of `dim` features with a map of this rank, whose rows are as large as they may be or far
/// smaller.
fn with_map(noise: &mut Noise, dim: usize, rank: usize, reach: f64) -> Owned {
    let most = if noise.below(2) == 0 { 65_536 / dim as u64 } else { 1_000 / dim as u64 }.min(32_767);
    let rows = (0..dim * rank).map(|_| (noise.below(2 * most + 1) as i64 - most as i64) as i16).collect();
    let features = Owned::random(noise, dim, 1, reach);
    let coordinates = Owned::random(noise, rank, 9, reach);
    let Owned { centres, factors, exponents, .. } = features;
    Owned { centres, factors, exponents, map: Some((rows, noise.below(18) as u32)), ..coordinates }
}

#[test]
fn a_map_of_levels_is_exact() {
    let mut noise = Noise(7);
    let (mut worst, mut seen) = (0.0_f64, 0);
    for dim in [1, 2, 3, 8, 40] {
        for rank in [1, 2, 5].into_iter().filter(|rank| *rank <= dim) {
            for reach in [70_000.0, 20_000.0, 2_000.0] {
                for _ in 0..10 {
                    let owned = with_map(&mut noise, dim, rank, reach);
                    let (wide, narrow) = (owned.wide().unwrap(), owned.narrow().unwrap());
                    assert_eq!((wide.features(), wide.width(), wide.room()), (dim, rank, dim + rank));
                    let landmarks: [Vec<f64>; 2] = [
                        owned.wide.iter().map(|&value| f64::from(value)).collect(),
                        owned.narrow.iter().map(|&value| f64::from(value) * f64::from(owned.step)).collect(),
                    ];
                    for at in 0..8 {
                        let raw: Vec<f32> = (0..dim)
                            .map(|i| match at {
                                0 => f32::MAX,
                                1 => f32::MIN,
                                _ => {
                                    let level = noise.between(-20_000.0, 20_000.0);
                                    let away = level * (32_f64.exp2() / f64::from(owned.factors[i]));
                                    let unit = f64::from(owned.exponents[i]).exp2();
                                    ((f64::from(owned.centres[i]) + away) / unit) as f32
                                }
                            })
                            .collect();
                        let double: Vec<f64> = raw.iter().copied().map(f64::from).collect();
                        let mut room = vec![0; dim + rank];
                        let found = [wide.predict(&raw, &mut room), narrow.predict(&raw, &mut room)];
                        for (found, landmarks) in found.into_iter().zip(&landmarks) {
                            let exact = owned.exact(landmarks, &double);
                            let (off, bound) =
                                ((f64::from(found.unwrap()) - exact).abs(), owned.bound(exact));
                            assert!(off <= bound, "{dim} {rank} {reach}: {off} over {bound}");
                            worst = worst.max(off / bound);
                            seen += usize::from(exact != 0.0);
                        }
                    }
                    let short = Error::Capacity { needed: dim + rank, have: dim + rank - 1 };
                    let mut room = vec![0; dim + rank - 1];
                    assert_eq!(wide.predict(&vec![0.0; dim], &mut room).unwrap_err(), short);
                }
            }
        }
    }
    assert!(worst > 0.1 && seen > 2_000, "{worst} {seen}");
}

/// The largest sums of a map fit.
#[test]
fn the_ends_of_a_map_do_not_overflow() {
    for (rows, shift) in [(vec![-32_768, -32_768], 16), (vec![32_767, 32_767], 30), (vec![32_767, 32_767], 0)]
    {
        let mut owned = Owned::random(&mut Noise(8), 2, 1, 70_000.0);
        (owned.centres, owned.exponents, owned.factors) = (vec![0; 2], vec![0; 2], vec![1 << 30; 2]);
        (owned.wide, owned.map) = (vec![16_383], Some((rows, shift)));
        let model = owned.wide().unwrap();
        for ends in [[f32::MAX; 2], [f32::MIN; 2], [f32::MIN, f32::MAX]] {
            let exact = owned.exact(&[16_383.0], &ends.map(f64::from));
            let found = f64::from(model.predict(&ends, &mut [0; 3]).unwrap());
            assert!((found - exact).abs() <= owned.bound(exact), "{found} {exact}");
        }
    }
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let sound = with_map(&mut Noise(9), 3, 2, 9_000.0);
    let refused = |map: (Vec<i16>, u32)| {
        let changed = Owned { map: Some(map), ..sound.clone() };
        assert_eq!(changed.wide().err(), changed.narrow().err());
        changed.wide().unwrap_err()
    };
    assert_eq!(refused((vec![], 1)), Error::Empty);
    assert_eq!(refused((vec![1; 12], 1)), Error::Length { expected: 3, found: 4 });
    assert_eq!(refused((vec![1; 7], 1)), Error::Length { expected: 6, found: 7 });
    assert_eq!(refused((vec![1; 9], 1)), Error::Length { expected: 27, found: 18 });
    assert_eq!(refused((vec![1; 6], 31)), Error::Quantisation);
    let full = vec![0, 0, 0, 32_767, -32_768, 1];
    assert!(Owned { map: Some((full.clone(), 30)), ..sound.clone() }.wide().is_ok());
    assert_eq!(refused((vec![0, 0, 0, 32_767, -32_768, 2], 30)), Error::Quantisation);
    assert_eq!(refused((vec![-32_768, -32_768, -1, 0, 0, 0], 30)), Error::Quantisation);
}

/// A distance of more than 32 bits must not wrap around to a small one.
#[test]
fn opposite_corners_are_far_apart() {
    for dim in 1..40 {
        let mut owned = Owned::random(&mut Noise(2), dim, 1, 70_000.0);
        owned.limit = u32::MAX;
        owned.shift = 0;
        owned.multiplier = 2_080_374_784;
        owned.weights = vec![i32::MIN];
        owned.wide = vec![-16_384; dim];
        owned.centres = vec![0; dim];
        owned.exponents = vec![0; dim];
        owned.factors = vec![1 << 30; dim];
        let model = owned.wide().unwrap();
        let raw = vec![f32::MAX; dim];
        let found = f64::from(model.predict(&raw, &mut [0; 40]).unwrap());
        let exact = owned.exact(&vec![-16_384.0; dim], &vec![f64::from(f32::MAX); dim]);
        assert!((found - exact).abs() <= owned.bound(exact), "{dim}: {found} {exact}");
        // Four features at their ends are below 2^32, five exceed it.
        assert_eq!(exact != 0.0, dim <= 4, "{dim}");
        // At the landmark itself the kernel is 1, exactly.
        assert_eq!(model.predict(&vec![f32::MIN; dim], &mut [0; 40]).unwrap(), i32::MIN as f32);
        assert_eq!(model.predict_counts(&vec![i32::MIN; dim], &mut [0; 40]).unwrap(), i32::MIN as f32);
    }
}

#[test]
fn counts_are_features() {
    let mut noise = Noise(3);
    for _ in 0..300 {
        let mut owned = Owned::random(&mut noise, 5, 7, 30_000.0);
        // Counts that are exact in single precision, so that both functions get the same number.
        owned.exponents.iter_mut().for_each(|exponent| *exponent = exponent.rem_euclid(12) - 3);
        owned.centres.iter_mut().for_each(|centre| *centre /= 64);
        let model = owned.wide().unwrap();
        let counts: Vec<i32> = (0..5).map(|_| noise.below(1 << 24) as i32 - (1 << 23)).collect();
        let raw: Vec<f32> = counts.iter().map(|&count| count as f32).collect();
        let by_count = model.predict_counts(&counts, &mut [0; 5]).unwrap();
        assert_eq!(by_count.to_bits(), model.predict(&raw, &mut [0; 5]).unwrap().to_bits());
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let sound = Owned::random(&mut Noise(4), 2, 3, 9_000.0);
    assert!(sound.wide().is_ok() && sound.narrow().is_ok());
    let changes: [fn(&mut Owned); 13] = [
        |owned| owned.limit = 0,
        |owned| owned.shift = 32,
        |owned| owned.shift += 1,
        |owned| (owned.limit, owned.shift) = (u32::MAX, 1),
        |owned| owned.multiplier = u32::MAX,
        |owned| owned.step = 0,
        |owned| owned.step = -1,
        |owned| owned.step = 129,
        |owned| owned.weights = vec![i32::MAX, 1, 1],
        |owned| owned.weights = vec![i32::MIN, i32::MIN, 0],
        |owned| owned.factors[1] = -1,
        |owned| owned.centres[1] = 1 << 30,
        |owned| owned.centres[0] = i32::MIN,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut changed = sound.clone();
        change(&mut changed);
        assert_eq!(changed.wide().unwrap_err(), Error::Quantisation, "change {at}");
        assert_eq!(changed.narrow().unwrap_err(), Error::Quantisation, "change {at}");
    }
    for level in [16_384, i16::MAX, -16_385, i16::MIN] {
        let mut changed = sound.clone();
        changed.wide[5] = level;
        assert_eq!(changed.wide().unwrap_err(), Error::Quantisation);
    }
    let mut full = sound.clone();
    full.weights = vec![1 << 30, -(1 << 30), 0];
    assert!(full.wide().is_ok());

    let length = |expected, found| Error::Length { expected, found };
    let mut changed = sound.clone();
    changed.factors.pop();
    assert_eq!(changed.wide().unwrap_err(), length(2, 1));
    let mut changed = sound.clone();
    changed.exponents.pop();
    assert_eq!(changed.wide().unwrap_err(), length(2, 1));
    let mut changed = sound.clone();
    changed.wide.pop();
    assert_eq!(changed.wide().unwrap_err(), length(6, 5));
    let mut changed = sound.clone();
    changed.weights.clear();
    changed.wide.clear();
    assert_eq!(changed.wide().unwrap_err(), Error::Empty);
}

#[test]
fn rows_that_cannot_be_predicted_are_refused() {
    let owned = Owned::random(&mut Noise(5), 3, 4, 9_000.0);
    let model = owned.wide().unwrap();
    assert_eq!(model.features(), 3);
    assert_eq!(model.predict(&[1.0; 2], &mut [0; 3]).unwrap_err(), Error::Length { expected: 3, found: 2 });
    assert_eq!(model.predict(&[1.0; 3], &mut [0; 2]).unwrap_err(), Error::Capacity { needed: 3, have: 2 });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for column in 0..3 {
            let mut raw = [1.0; 3];
            raw[column] = bad;
            assert_eq!(model.predict(&raw, &mut [0; 3]).unwrap_err(), Error::NotFinite { row: 0, column });
        }
    }
    assert_eq!(
        model.predict_counts(&[1; 4], &mut [0; 4]).unwrap_err(),
        Error::Length { expected: 3, found: 4 }
    );
}

/// The constants for implementations of the same arithmetic in other languages.
#[test]
fn the_table_holds_powers_of_two() {
    for (j, &power) in POWERS.iter().enumerate() {
        assert!((f64::from(power) - (31.0 - j as f64 / 64.0).exp2()).abs() <= 0.5, "{j}");
    }
    let unit = 32_f64.exp2();
    let [c1, c2] = FALL.map(|value| f64::from(value) / unit);
    for step in 0..=1_000 {
        let y = f64::from(step) / 1_000.0;
        assert!((1.0 - y * (c1 - y * c2) - (-y / 64.0).exp2()).abs() < 8.3e-9, "{y}");
    }
}
