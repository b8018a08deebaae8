//! Ground sets whose rows may fail to be read, and what does not fit a call: each is an error, and not a
//! number.

use dpp_nystrom_core::kernel::{Gaussian, Laplace, Linear};
use dpp_nystrom_core::{
    Acceptance, Chain, Error, GroundSet, Landmarks, Matrix, Model, Nystrom, OpenSlot, Parts, Points,
    Predictor, Proposal, Random, ReadError, RidgeRegression, RidgeWorkspace, Rule, Scaling, SlotChain,
    TryGroundSet, Workspace, start,
};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::snapshot::Snapshot;
use std::cell::Cell;

/// A matrix of which one read fails: the one that finds `left` at zero.
struct Bus<'a> {
    inner: Matrix<'a, f64>,
    left: Cell<Option<usize>>,
}

impl Bus<'_> {
    const CODE: u32 = 17;

    fn fail_after(&self, reads: usize) {
        self.left.set(Some(reads));
    }
}

impl TryGroundSet<f64> for Bus<'_> {
    fn len(&self) -> usize {
        GroundSet::len(&self.inner)
    }

    fn try_entry(&self, i: usize, j: usize) -> Result<f64, ReadError> {
        match self.left.get() {
            Some(0) => {
                self.left.set(None);
                return Err(ReadError { row: i, code: Self::CODE });
            }
            Some(left) => self.left.set(Some(left - 1)),
            None => {}
        }
        Ok(self.inner.entry(i, j))
    }
}

/// Fail each read of a call in turn, until the call succeeds: every failure is [`Error::Read`]. `kept` checks
/// the state after each. Return how many reads failed.
fn each_read<A>(
    ground: &Bus<'_>,
    mut call: impl FnMut() -> Result<A, Error>,
    mut kept: impl FnMut(),
) -> usize {
    for reads in 0.. {
        ground.fail_after(reads);
        match call() {
            Err(Error::Read { code: Bus::CODE, row }) => assert!(row < TryGroundSet::len(ground)),
            Err(error) => panic!("{error} after {reads} reads"),
            Ok(_) => {
                ground.left.set(None);
                return reads;
            }
        }
        kept();
    }
    unreachable!()
}

#[test]
fn a_failing_read_stops_every_start() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Bus { inner: Matrix::new(&entries).unwrap(), left: Cell::new(None) };
    type Start = fn(&mut Landmarks<'_, f64, Bus<'_>>) -> Result<(), Error>;
    let starts: [Start; 3] = [
        |landmarks| start::given(landmarks, &[4, 1, 2]),
        |landmarks| start::uniform(landmarks, 3, &mut Random::seeded(1)),
        |landmarks| start::kmeans_plus_plus(landmarks, 3, &mut [0.0; 6], &mut Random::seeded(1)),
    ];
    for begin in starts {
        let memory = std::cell::RefCell::new(Workspace::<f64, 3>::new());
        let call = || {
            let mut memory = memory.borrow_mut();
            let mut landmarks = Landmarks::new(&ground, memory.lend())?;
            let result = begin(&mut landmarks);
            assert_eq!(landmarks.len(), if result.is_ok() { 3 } else { 0 });
            result
        };
        assert!(each_read(&ground, call, || ()) >= 6);
        // The landmarks are then in memory, and checking them reads too.
        let mut memory = memory.borrow_mut();
        assert_eq!(each_read(&ground, || Landmarks::resume(&ground, 3, memory.lend()).map(|_| ()), || ()), 9);
    }
}

#[test]
fn a_failing_read_leaves_the_chain_where_it_was() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Bus { inner: Matrix::new(&entries).unwrap(), left: Cell::new(None) };
    let mut memory = Workspace::<f64, 3>::new();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2]).unwrap();
    let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    let before = (Snapshot::new(chain.landmarks()), chain.progress());
    ground.fail_after(2);
    assert!(matches!(chain.step(&mut Random::seeded(3)), Err(Error::Read { code: Bus::CODE, .. })));
    assert_eq!((Snapshot::new(chain.landmarks()), chain.progress()), before);

    let mut landmarks = chain.into_landmarks();
    ground.fail_after(4);
    assert_eq!(landmarks.refactor(), Err(Error::Read { row: 2, code: Bus::CODE }));
    assert_eq!(Snapshot::new(&landmarks), before.0);

    let mut slot = OpenSlot::new(&mut landmarks, 2, Acceptance::Metropolis).unwrap();
    for reads in 0..3 {
        ground.fail_after(reads);
        let tried = slot.try_one(Proposal { entering: 5, uniform: 0.0 });
        assert!(matches!(tried, Err(Error::Read { code: Bus::CODE, .. })), "{reads}");
    }
    assert_eq!(Snapshot::new(&landmarks), before.0);

    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    ground.fail_after(40);
    assert!(matches!(chain.run(1_000, &mut Random::seeded(4)), Err(Error::Read { code: Bus::CODE, .. })));
    chain.run(1_000, &mut Random::seeded(5)).unwrap();

    let landmarks = chain.into_landmarks();
    let nystrom = Nystrom::new(&landmarks);
    assert_eq!(each_read(&ground, || nystrom.residual(3, &mut [0.0; 3]), || ()), 4);
}

/// The codes of a failed read reach the caller through `dyn` too, and a `GroundSet` is a `TryGroundSet`.
#[test]
fn every_ground_set_may_be_read_as_one_that_fails() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let matrix = Matrix::new(&entries).unwrap();
    let ground: &dyn GroundSet<f64> = &matrix;
    assert_eq!(ground.try_entry(2, 3), Ok(matrix.entry(2, 3)));
    assert_eq!(ground.try_squared_distance(2, 3), Ok(matrix.squared_distance(2, 3)));
    let bus = Bus { inner: matrix, left: Cell::new(Some(0)) };
    let ground: &dyn TryGroundSet<f64> = &bus;
    assert_eq!(ground.try_diagonal(4), Err(ReadError { row: 4, code: Bus::CODE }));
    assert_eq!(ground.try_squared_distance(2, 3), Ok(matrix.squared_distance(2, 3)));
    let error = Error::from(ReadError { row: 4, code: 17 });
    assert_eq!(error.to_string(), "row 4 could not be read (code 17)");
}

fn column_at<const D: usize>() {
    let rows: Vec<f64> = (0..4 * D).map(|i| i as f64 / 10.0).collect();
    let ground = Points::new(&rows, D, Gaussian::new(1.0).unwrap()).unwrap();
    let x = [0.25; D];
    let mut out = [7.0; 2];
    for wrong in [&x[..D - 1], &[0.25; 9][..D + 1]] {
        let error = Error::Length { expected: D, found: wrong.len() };
        assert_eq!(ground.column_at(wrong, &[0, 1], &mut out), Err(error));
    }
    assert_eq!(ground.column_at(&x, &[0, 1, 2], &mut out), Err(Error::Length { expected: 3, found: 2 }));
    assert_eq!(ground.column_at(&x, &[0], &mut out), Err(Error::Length { expected: 1, found: 2 }));
    assert_eq!(out, [7.0; 2]);
    for index in [4, usize::MAX] {
        assert_eq!(ground.column_at(&x, &[index, 1], &mut out), Err(Error::OutOfRange { index, len: 4 }));
        assert!(out[0].is_nan() && out[1] > 0.0);
        // Where no error can be returned, nothing that could pass as a kernel value.
        assert!(ground.entry(0, index).is_nan() && ground.entry(index, 0).is_nan());
        assert!(ground.diagonal(index).is_nan() && ground.squared_distance(index, 1).is_nan());
        ground.column(2, &[index, 1], &mut out);
        assert!(out[0].is_nan() && out[1] > 0.0);
        ground.column(index, &[0, 1], &mut out);
        assert!(out.iter().all(|entry| entry.is_nan()));
    }
    assert!(Matrix::new(&[2.0_f64, 1.0, 1.0, 2.0]).unwrap().entry(2, 0).is_nan());
}

#[test]
fn a_column_of_the_wrong_shape_is_refused() {
    column_at::<3>();
    column_at::<8>();
}

fn predict<const D: usize>() {
    let landmarks = [0.5_f32; D];
    let place = |column| Err(Error::NotFinite { row: 0, column });
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for column in 0..D {
            let mut x = [0.25; D];
            x[column] = bad;
            let gaussian = Predictor::new(Gaussian::new(1.0).unwrap(), &landmarks, D, &[1.0]).unwrap();
            assert_eq!(gaussian.predict(&x), place(column));
            assert_eq!(gaussian.predict_micromath(&x), place(column));
            let laplace = Predictor::new(Laplace::new(1.0).unwrap(), &landmarks, D, &[1.0]).unwrap();
            assert_eq!(laplace.predict(&x), place(column));
            let linear = Predictor::new(Linear, &landmarks, D, &[1.0]).unwrap();
            assert_eq!(linear.predict(&x), place(column));
            let parts = Parts {
                means: &[0.0; D],
                scaling: Scaling::PerFeature(&[1.0; D]),
                landmarks: &landmarks,
                weights: &[1.0],
                target_mean: 0.0,
                target_scale: 1.0,
            };
            let model = Model::new(Gaussian::new(1.0).unwrap(), parts).unwrap();
            assert_eq!(model.predict(&x, &mut [0.0; D]), place(column));
        }
    }
    // Finite numbers whose sum is not.
    let far = [f32::MAX; D];
    let gaussian = Predictor::new(Gaussian::new(1.0).unwrap(), &landmarks, D, &[1.0]).unwrap();
    assert_eq!(gaussian.predict(&far), Ok(0.0));
}

#[test]
fn a_feature_that_is_not_finite_is_refused() {
    predict::<3>();
    predict::<8>();
}

#[test]
fn the_entry_of_an_approximation_checks_its_features() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut memory = Workspace::<f64, 3>::new();
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[0, 1, 2]).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let (mut phi, mut other) = ([0.0; 3], [0.0; 3]);
    nystrom.features(1, &mut phi).unwrap();
    nystrom.features(4, &mut other).unwrap();
    assert!((nystrom.entry(&phi, &other).unwrap() - ground.entry(1, 4)).abs() < 1e-14);
    let short = Err(Error::Length { expected: 3, found: 2 });
    assert_eq!(nystrom.entry(&phi[..2], &other), short);
    assert_eq!(nystrom.entry(&phi, &other[..2]), short);
}

/// `√(Nγ)` of 2³² rows, which a `usize` of 32 bits would count as none, and sums of counts that overflow.
#[test]
fn counts_of_rows_beyond_32_bits_count() {
    let mut memory = RidgeWorkspace::<f32, 1>::new();
    let mut ridge = RidgeRegression::new(1, memory.lend()).unwrap();
    // One feature of 65536 and a target of 65536.
    ridge.restore(1 << 32, &[65_536.0, 65_536.0, 0.0, 0.0]).unwrap();
    let weight = ridge.solve(1.0).unwrap().weights.iter().next().unwrap();
    assert!((weight - 0.5).abs() < 1e-6, "{weight}");

    let mut other = RidgeWorkspace::<f32, 1>::new();
    let mut forged = RidgeRegression::new(1, other.lend()).unwrap();
    assert_eq!(forged.restore(u64::MAX, &[1.0, 1.0, 0.0, 0.0]), Err(Error::RowCount));
    let most = 1 << 53;
    forged.restore(most, &[1.0, 1.0, 0.0, 0.0]).unwrap();
    let before: Vec<f32> = forged.numbers().unwrap().collect();
    assert_eq!(forged.add(&[1.0], 1.0), Err(Error::RowCount));
    assert_eq!(forged.merge(&ridge), Err(Error::RowCount));
    assert_eq!((forged.rows(), forged.numbers().unwrap().collect::<Vec<_>>()), (most, before));
}

/// The core writes the generator out. Compare with the crate that it was taken from.
#[test]
fn the_default_generator_is_xoshiro() {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro128PlusPlus;
    for seed in [0, 1, 7, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        let (mut own, mut theirs) = (Random::seeded(seed), Xoshiro128PlusPlus::seed_from_u64(seed));
        let (mut filled, mut expected) = ([0; 7], [0; 7]);
        for _ in 0..1_000 {
            assert_eq!((own.next_u32(), own.next_u64()), (theirs.next_u32(), theirs.next_u64()));
            own.fill_bytes(&mut filled);
            theirs.fill_bytes(&mut expected);
            assert_eq!((filled, own.state()), (expected, theirs.state()));
        }
        assert_eq!(Random::resume(theirs.state()), own);
    }
    assert_eq!(Random::resume([0; 16]).state(), Xoshiro128PlusPlus::from_seed([0; 16]).state());
}

/// Generators that were saved as a seed and a count are still read, unless it would take hours.
#[test]
fn generators_saved_as_counts_are_read() {
    use rand_core::Rng;
    let mut random = Random::seeded(5);
    for _ in 0..7 {
        random.next_u32();
    }
    let old: Random = serde_json::from_str(r#"{"seed":5,"drawn":7}"#).unwrap();
    assert_eq!(old, random);
    let text = serde_json::to_string(&random).unwrap();
    assert!(text.starts_with(r#"{"state":["#), "{text}");
    assert_eq!(serde_json::from_str::<Random>(&text).unwrap(), random);
    for damaged in [r#"{"seed":5,"drawn":18446744073709551615}"#, r#"{"seed":5}"#, "{}"] {
        assert!(serde_json::from_str::<Random>(damaged).is_err(), "{damaged}");
    }
}
