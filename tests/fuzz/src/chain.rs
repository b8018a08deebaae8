//! Chains over ground sets that answer anything: values that are no kernel's, that change between calls,
//! reads that fail. Landmarks remain distinct rows, and an error keeps their number.

use crate::input::Input;
use dpp_nystrom_core::kernel::Kernel;
use dpp_nystrom_core::{
    Acceptance, Chain, Error, Landmarks, Matrix, Memory, Nystrom, Progress, Random, ReadError, Rule, Scalar,
    Scan, SlotChain, StreamChain, TryGroundSet, Workspace, start,
};
use std::cell::Cell;

/// The most rows and landmarks.
const ROWS: usize = 12;
const MOST: usize = 6;

/// The steps of a run.
const STEPS: u64 = 40;

/// Answers from a list, which it goes round.
struct Any<T> {
    rows: usize,
    values: Vec<T>,
    /// Whether an entry has one value, or another at each call.
    steady: bool,
    /// The remainder of a call's number at which it fails, and of what; none fails if that is zero.
    fails: (u64, u64),
    calls: Cell<u64>,
}

impl<T: Scalar> Any<T> {
    fn value(&self, i: usize, j: usize) -> T {
        let at =
            if self.steady { i.max(j) * (i.max(j) + 1) / 2 + i.min(j) } else { self.calls.get() as usize };
        self.values.get(at % self.values.len().max(1)).copied().unwrap_or(T::ONE)
    }
}

macro_rules! answers {
    ($($number:ty),*) => {$(
        impl TryGroundSet<$number> for Any<$number> {
            fn len(&self) -> usize {
                self.rows
            }

            fn try_entry(&self, i: usize, j: usize) -> Result<$number, ReadError> {
                assert!(i < self.rows && j < self.rows, "a row past the end: {i} {j}");
                self.calls.set(self.calls.get() + 1);
                match self.fails {
                    (rest, every) if every > 0 && self.calls.get() % every == rest => Err(ReadError { row: i, code: 3 }),
                    _ => Ok(self.value(i, j)),
                }
            }
        }

        impl Kernel<$number> for Any<$number> {
            fn value(&self, x: &[$number], y: &[$number]) -> $number {
                assert_eq!(x.len(), y.len());
                self.calls.set(self.calls.get() + 1);
                Any::value(self, x.len(), self.calls.get() as usize % ROWS)
            }
        }
    )*};
}

answers!(f32, f64);

fn distinct(members: &[usize], rows: usize) {
    for (at, member) in members.iter().enumerate() {
        assert!(*member < rows && !members[..at].contains(member), "{members:?} of {rows}");
    }
}

fn runs<T: Scalar, G: TryGroundSet<T>>(input: &mut Input<'_>, ground: &G, random: &mut Random) {
    let rows = ground.len();
    let mut memory = Workspace::<T, MOST>::new();
    let Ok(mut landmarks) = Landmarks::new(ground, memory.lend()) else { return };
    let wanted = input.below(MOST + 2);
    let choice = input.below(4);
    let given: Vec<usize> = (0..wanted).map(|_| input.below(ROWS + 1)).collect();
    let started = match choice {
        0 => start::given(&mut landmarks, &given).map(|()| given.len()),
        1 => start::uniform(&mut landmarks, wanted, random).map(|()| wanted),
        2 => start::uniform_up_to(&mut landmarks, wanted, random),
        _ => {
            let mut distances = [T::ZERO; ROWS];
            start::kmeans_plus_plus(&mut landmarks, wanted, &mut distances, random).map(|()| wanted)
        }
    };
    distinct(landmarks.members(), rows);
    if let Ok(count) = started {
        assert_eq!(landmarks.len(), count);
    }
    // What a start that failed leaves is used as well.
    let count = landmarks.len();
    let (acceptance, lazy) =
        (if input.flag() { Acceptance::Barker } else { Acceptance::Metropolis }, input.flag());
    let progress = if input.flag() {
        let mut chain = Chain::new(landmarks, Rule { acceptance, lazy });
        // An error of one step is not the end of the chain.
        for _ in 0..3 {
            let before = chain.progress();
            match chain.run(STEPS, random) {
                Ok(after) => assert_eq!(after.steps, before.steps + STEPS),
                Err(error) => assert!(!matches!(error, Error::Internal), "{error:?}"),
            }
            distinct(chain.landmarks().members(), rows);
            assert_eq!(chain.landmarks().len(), count);
        }
        let progress = chain.progress();
        landmarks = chain.into_landmarks();
        progress
    } else {
        let scan = if input.flag() { Scan::Random } else { Scan::Systematic };
        let mut chain = SlotChain::new(landmarks, acceptance).with_scan(scan).with_tries(input.below(40));
        for _ in 0..3 {
            let ran = chain.step(STEPS, random);
            assert!(!matches!(ran, Err(Error::Internal)), "{ran:?}");
            distinct(chain.landmarks().members(), rows);
            assert_eq!(chain.landmarks().len(), count);
        }
        let progress = chain.progress();
        landmarks = chain.into_landmarks();
        progress
    };
    assert!(progress.accepted <= progress.proposed && progress.proposed <= progress.steps);
    let mut phi = vec![T::ZERO; count];
    let _ = Nystrom::new(&landmarks).features(input.below(ROWS), &mut phi);
    let swapped = landmarks.swap(input.below(MOST), input.below(ROWS)).is_ok();
    let _ = landmarks.replace(input.below(MOST), input.below(ROWS));
    distinct(landmarks.members(), rows);
    let _ = (swapped, landmarks.refactor());
    landmarks.truncate(input.below(MOST));
    let _ = landmarks.push(input.below(ROWS + 1));
    distinct(landmarks.members(), rows);
    resumed::<T, G>(input, ground, random);
}

/// Memory of any content, under counters of any value.
fn resumed<T: Scalar, G: TryGroundSet<T>>(input: &mut Input<'_>, ground: &G, random: &mut Random) {
    let mut memory = Workspace::<T, MOST>::new();
    let lent: Memory<'_, T> = memory.lend();
    lent.factor.square.iter_mut().for_each(|entry| *entry = T::from_f64(input.number()));
    lent.landmarks.iter_mut().for_each(|place| *place = input.below(ROWS + 1));
    let mut number =
        || if input.flag() { u64::MAX - u64::from(input.byte()) } else { u64::from(input.byte()) };
    let progress = Progress { steps: number(), proposed: number(), accepted: number(), openings: number() };
    let count = input.below(MOST + 2);
    // Counters near 2⁶⁴ are of no chain: what they count is then not run.
    let small = [progress.steps, progress.proposed, progress.accepted, progress.openings]
        .iter()
        .all(|&n| n < 1 << 40);
    if let Ok(mut chain) = Chain::resume(ground, count, lent, Rule::ALGORITHM_1, progress) {
        distinct(chain.landmarks().members(), ground.len());
        if small {
            let _ = chain.run(STEPS, random);
            distinct(chain.landmarks().members(), ground.len());
        }
    }
}

fn stream<T: Scalar>(input: &mut Input<'_>, any: &Any<T>, random: &mut Random)
where
    Any<T>: Kernel<T>,
{
    let (mut rows, mut memory) = ([T::ZERO; MOST * 2], Workspace::<T, MOST>::new());
    let c = input.below(MOST + 1);
    let acceptance = if input.flag() { Acceptance::Barker } else { Acceptance::Metropolis };
    let Ok(mut chain) = StreamChain::new(any, c, 2, &mut rows, memory.lend(), acceptance) else { return };
    for _ in 0..12 {
        let row = [T::from_f64(input.number()), T::from_f64(input.number())];
        let (before, held) = (chain.len(), chain.progress());
        match chain.offer(&row, random) {
            Ok(_) => assert!(row.iter().all(|value| value.is_finite()) && chain.len() >= before),
            Err(_) => assert!(chain.len() == before && chain.progress() == held),
        }
        distinct(chain.members(), c);
        assert!(chain.rows().iter().all(|value| value.is_finite()));
    }
}

fn target_in<T: Scalar>(input: &mut Input<'_>)
where
    Any<T>: Kernel<T> + TryGroundSet<T>,
{
    let rows = input.below(ROWS + 1);
    let (steady, period) = (input.flag(), u64::from(input.byte() % 16));
    let mut random = Random::seeded(u64::from(input.byte()));
    let count = input.below(80);
    let values: Vec<T> = (0..count).map(|_| T::from_f64(input.number())).collect();
    if input.flag() {
        let square = &values[..rows.min(count.isqrt()).pow(2)];
        if let Ok(matrix) = Matrix::new(square) {
            runs(input, &matrix, &mut random);
            assert!(square.iter().all(|value| value.is_finite()));
        }
    } else {
        let any = Any { rows, values, steady, fails: (period / 2, period), calls: Cell::new(0) };
        runs(input, &any, &mut random);
        stream(input, &any, &mut random);
    }
}

pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    if input.flag() { target_in::<f32>(&mut input) } else { target_in::<f64>(&mut input) }
}
