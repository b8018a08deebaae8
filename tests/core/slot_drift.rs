//! After a million tries the factor is still that of its landmarks, with and without refactoring on the way,
//! and no residual at the level of rounding is ever admitted.

use dpp_nystrom_core::{
    Acceptance, Error, Evaluate, GroundSet, Landmarks, OneByOne, OpenSlot, Proposal, Random, SlotChain,
    TRIES, start,
};
use dpp_nystrom_host::simd::Lane;
use dpp_nystrom_tests::dense::{cholesky, eigenvalues};
use dpp_nystrom_tests::evaluator::{Evaluator, Ground, linear};
use dpp_nystrom_tests::ground::{converted, geometric, with_spectrum};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::snapshot::Snapshot;

const C: usize = 24;

/// Tries of each run: 31,250 slots.
const LONG: u64 = 1_000_000;

/// The chain refactors after this many slots.
const PERIOD: u64 = 8 * C as u64;

/// The residuals that a factor may have, in units of `c ε`. A row is rotated some 200 times between two
/// refactorings: roundings of random sign, which add up to 14 of them, and `c` is 24. The largest observed is
/// 0.14, also without refactoring.
const BOUND: f64 = 0.5;

/// Return `n` rows whose linear kernel has this spectrum, up to the rounding of the rows.
fn rows<T: Lane>(n: usize, condition: f64, seed: u64) -> Vec<T> {
    converted(&cholesky(&with_spectrum(&geometric(n, condition), seed), n))
}

/// Return `K_YY`, in `f64`.
fn entries<T: Lane>(landmarks: &Landmarks<'_, T, Ground<'_, T>>) -> Vec<f64> {
    let (ground, members) = (landmarks.ground(), landmarks.members());
    members.iter().flat_map(|&i| members.iter().map(move |&j| ground.entry(i, j).to_f64())).collect()
}

/// Return `‖L Lᵀ - K‖ / ‖K‖` in the Frobenius norm, computed in `f64`, in units of `c ε`.
fn residual<T: Lane>(landmarks: &Landmarks<'_, T, Ground<'_, T>>) -> f64 {
    let rows: Vec<Vec<f64>> = (0..landmarks.len())
        .map(|i| landmarks.factor().row(i).iter().map(|entry| entry.to_f64()).collect())
        .collect();
    let (mut difference, mut norm) = (0.0, 0.0);
    for (at, entry) in entries(landmarks).into_iter().enumerate() {
        let (i, j) = (at / landmarks.len(), at % landmarks.len());
        let product: f64 = rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
        difference += (product - entry).powi(2);
        norm += entry * entry;
    }
    (difference / norm).sqrt() / (landmarks.len() as f64 * T::EPSILON.to_f64())
}

/// Return the difference of `log det` between the landmarks' factor and a fresh one, in units of
/// `c ε (1 + tr K⁻¹)`: the effect of `c ε ‖K‖` on it, and its own rounding.
fn log_det_apart<T: Lane>(landmarks: &Landmarks<'_, T, Ground<'_, T>>) -> f64 {
    let count = landmarks.len();
    let mut room = Room::new(count);
    let mut fresh = Landmarks::new(landmarks.ground(), room.lend()).unwrap();
    start::given(&mut fresh, landmarks.members()).unwrap();
    let spectrum = eigenvalues(&entries(landmarks), count);
    let trace: f64 = spectrum.iter().map(|value| 1.0 / value.max(T::EPSILON.to_f64())).sum();
    let apart = (landmarks.log_det() - fresh.log_det()).to_f64().abs();
    apart / (count as f64 * T::EPSILON.to_f64() * (1.0 + trace))
}

fn condition<T: Lane>(landmarks: &Landmarks<'_, T, Ground<'_, T>>) -> f64 {
    let spectrum = eigenvalues(&entries(landmarks), landmarks.len());
    spectrum[spectrum.len() - 1] / spectrum[0].max(f64::MIN_POSITIVE)
}

fn assert_distinct(members: &[usize]) {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{members:?}");
}

/// Passes proposals on, all together or one at a time, and checks the slot afterwards.
struct Recorder<'e, T> {
    inner: &'e mut Evaluator<T>,
    singly: bool,
    admitted: u64,
    /// The smallest residual that was admitted, in units of its rounding error.
    least: f64,
}

impl<'e, T: Lane> Recorder<'e, T> {
    fn new(inner: &'e mut Evaluator<T>, singly: bool) -> Self {
        Self { inner, singly, admitted: 0, least: f64::INFINITY }
    }

    fn record(&mut self, slot: &OpenSlot<'_, '_, T, Ground<'_, T>>, diagonal: T) {
        let floor = T::from_count(slot.others().len() + 1) * T::EPSILON * diagonal;
        let times = slot.residual().to_f64() / floor.to_f64();
        self.least = self.least.min(times);
        // Its own row of the factor has this residual, up to the rounding of a square root and a square.
        let row = slot.row(slot.others().len());
        let pivot = row[row.len() - 1].to_f64();
        let off = (pivot * pivot / slot.residual().to_f64() - 1.0).abs();
        assert!(off <= 4.0 * T::EPSILON.to_f64(), "{off:e}");
    }
}

impl<'g, T: Lane> Evaluate<T, Ground<'g, T>> for &mut Recorder<'_, T> {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, Ground<'g, T>>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error> {
        let mut admitted = 0;
        if self.singly {
            for proposal in proposals {
                let diagonal = slot.ground().diagonal(proposal.entering);
                let threshold = slot.threshold(proposal.uniform, diagonal);
                let one = self.inner.evaluate(slot, std::slice::from_ref(proposal))?;
                if one > 0 {
                    assert!(slot.residual() > threshold);
                    assert!(!slot.others().contains(&proposal.entering));
                    self.record(slot, diagonal);
                }
                admitted += one;
            }
        } else {
            let before = slot.residual();
            admitted = self.inner.evaluate(slot, proposals)?;
            if admitted == 0 {
                assert!(slot.residual() == before);
            } else {
                // The row is not known here: take the largest diagonal that it may have.
                let rows = proposals.iter().map(|proposal| proposal.entering);
                let matching = rows.filter(|&row| {
                    let last = slot.row(slot.others().len());
                    let own: f64 = last.iter().map(|entry| entry.to_f64().powi(2)).sum();
                    (own / slot.ground().diagonal(row).to_f64() - 1.0).abs() < 1e-3
                });
                let least =
                    matching.map(|row| slot.ground().diagonal(row)).reduce(|a, b| if a < b { a } else { b });
                self.record(slot, least.expect("the row that entered is among those that asked"));
            }
        }
        self.admitted += u64::from(admitted);
        Ok(admitted)
    }
}

/// The results of a long run.
#[derive(Debug, Default)]
struct Seen {
    /// The largest residual of a factor just before a refactoring, and at the end.
    residual: f64,
    log_det: f64,
    /// The largest condition number of `K_YY`.
    condition: f64,
    /// The smallest residual admitted, in units of its rounding error.
    least: f64,
    admitted: u64,
    /// Refactorings, and those for which the matrix was too close to singular.
    refactored: u64,
    singular: u64,
}

fn long_run<T: Lane>(rows: &[T], dim: usize, evaluator: &mut Evaluator<T>, singly: bool) -> Seen {
    let ground = linear(rows, dim);
    let mut random = Random::seeded(101);
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut random).unwrap();
    let mut recorder = Recorder::new(evaluator, singly);
    let mut seen = Seen::default();
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(&mut recorder);
    while chain.progress().steps < LONG {
        chain.step(u64::MAX, &mut random).unwrap();
        assert_distinct(chain.landmarks().members());
        let phase = chain.progress().openings % PERIOD;
        if phase == PERIOD - 1 {
            seen.residual = seen.residual.max(residual(chain.landmarks()));
            seen.condition = seen.condition.max(condition(chain.landmarks()));
        }
        if phase == 0 {
            // Refactored: bit for bit a fresh factor in the same order.
            let mut fresh_room = Room::new(C);
            let mut fresh = Landmarks::new(&ground, fresh_room.lend()).unwrap();
            let begun = start::given(&mut fresh, chain.landmarks().members());
            if begun.and_then(|()| fresh.refactor()).is_ok() {
                assert_eq!(Snapshot::new(chain.landmarks()), Snapshot::new(&fresh));
                seen.refactored += 1;
            } else {
                seen.singular += 1;
            }
        }
    }
    seen.residual = seen.residual.max(residual(chain.landmarks()));
    if seen.singular == 0 {
        seen.log_det = log_det_apart(chain.landmarks());
    }
    seen.least = recorder.least;
    seen.admitted = recorder.admitted;
    println!("{}, ε {:.0e}: {seen:.3?}", recorder.inner.name(), T::EPSILON.to_f64());
    seen
}

fn stays<T: Lane>(n: usize, spectrum: f64, reached: f64) {
    let rows: Vec<T> = rows(n, spectrum, 102);
    for mut evaluator in Evaluator::all(C, n) {
        let singly = matches!(evaluator, Evaluator::OneByOne);
        let seen = long_run(&rows, n, &mut evaluator, singly);
        assert!(seen.residual < BOUND && seen.log_det < BOUND, "{seen:?}");
        assert!(seen.condition >= reached && seen.least > 1.0, "{seen:?}");
        assert!(seen.admitted > LONG / 100 && seen.singular == 0, "{seen:?}");
        assert_eq!(seen.refactored, LONG / TRIES as u64 / PERIOD);
    }
}

#[test]
fn a_million_tries_do_not_wear_out_the_factor_in_f64() {
    stays::<f64>(48, 10.0, 2.0);
}

/// With 24 of 26 rows every set has nearly the whole spectrum.
#[test]
fn a_million_tries_do_not_wear_out_an_ill_conditioned_factor_in_f64() {
    stays::<f64>(26, 1e10, 1e8);
}

#[test]
fn a_million_tries_do_not_wear_out_the_factor_in_f32() {
    stays::<f32>(48, 10.0, 2.0);
}

#[test]
fn a_million_tries_do_not_wear_out_an_ill_conditioned_factor_in_f32() {
    stays::<f32>(26, 1e4, 1e3);
}

/// Beyond the precision of `f32`: residuals are at the level of rounding, and those below the bound are
/// rejected.
#[test]
fn nothing_under_the_floor_is_admitted_where_f32_is_at_its_end() {
    let rows: Vec<f32> = rows(30, 1e8, 103);
    for mut evaluator in Evaluator::all(C, 30) {
        for singly in [true, false] {
            let seen = long_run(&rows, 30, &mut evaluator, singly);
            assert!(seen.least > 1.0 && seen.admitted > 1_000, "{seen:?}");
            assert!(seen.residual < BOUND, "{seen:?}");
        }
    }
}

/// Open the slots of a chain without ever refactoring.
fn unattended<T: Lane>(n: usize, spectrum: f64) -> [f64; 3] {
    let rows: Vec<T> = rows(n, spectrum, 104);
    let ground = linear(&rows, n);
    let mut numbers = SplitMix64::seeded(105);
    let mut room = Room::new(C);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut numbers).unwrap();
    let mut openings = 0;
    [1_000, 10_000, LONG / TRIES as u64].map(|goal| {
        while openings < goal {
            let mut slot = OpenSlot::new(&mut landmarks, numbers.below(C), Acceptance::Metropolis).unwrap();
            let proposals: [Proposal<T>; TRIES] = std::array::from_fn(|_| Proposal {
                entering: numbers.below(n),
                uniform: T::from_f64(numbers.uniform()),
            });
            OneByOne.evaluate(&mut slot, &proposals).unwrap();
            assert_distinct(landmarks.members());
            openings += 1;
        }
        residual(&landmarks)
    })
}

/// A row remains for some `c` slots and is rotated with each. A row that leaves takes its rounding errors
/// with it, so that drift is bounded even without refactoring.
#[test]
fn drift_is_bounded_without_refactoring() {
    for (name, seen, bound) in [
        ("f64, 10", unattended::<f64>(48, 10.0), BOUND),
        ("f64, 1e10", unattended::<f64>(26, 1e10), BOUND),
        ("f32, 10", unattended::<f32>(48, 10.0), BOUND),
        ("f32, 1e4", unattended::<f32>(26, 1e4), BOUND),
    ] {
        println!("{name}: {seen:.3?} c ε after 1,000, 10,000 and 31,250 slots");
        assert!(seen.iter().all(|&residual| residual < bound), "{name}: {seen:?}");
    }
}
