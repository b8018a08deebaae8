//! Qualities and landmarks that remain: the laws of the chains, by enumeration and by draws.

use dpp_nystrom_core::{
    Acceptance, Chain, GroundSet, Landmarks, Matrix, OneByOne, Random, Rule, Scalar, Scan, SlotChain, Step,
    WithQuality, start,
};
use dpp_nystrom_tests::ground::{Gram, exact};
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::SplitMix64;
use dpp_nystrom_tests::slot_transition::powers;
use dpp_nystrom_tests::statistics::Fit;
use dpp_nystrom_tests::transition::{RULES, advance, transition};

const N: usize = 6;
const QUALITIES: [i64; N] = [1, 3, 2, 5, 1, 2];

/// Return `q_i q_j k(i, j)`, computed in integers.
fn with_quality(gram: &Gram) -> Vec<i64> {
    let quality = |at| QUALITIES[at / N] * QUALITIES[at % N];
    gram.entries.iter().enumerate().map(|(at, entry)| quality(at) * entry).collect()
}

fn quality_decides_the_law<T: Scalar>(c: usize) {
    let gram = Gram::well_conditioned(N);
    let (entries, quality): (Vec<T>, Vec<T>) = (gram.to(), exact(&QUALITIES));
    let matrix = Matrix::new(&entries).unwrap();
    let ground = WithQuality::new(&matrix, &quality).unwrap();
    let pi = Law::exact(&with_quality(&gram), N, c).probabilities;
    let swaps = RULES.map(|rule| transition(&ground, c, rule));
    let slots = [Acceptance::Barker, Acceptance::Metropolis]
        .map(|acceptance| powers(&ground, c, 2, acceptance, &mut OneByOne));
    for p in swaps.iter().chain(&slots) {
        // Some n roundings of entries that are at most one.
        for (&probability, next) in pi.iter().zip(advance(&pi, p)) {
            let bound = 100.0 * c as f64 * T::EPSILON.to_f64();
            assert!((next - probability).abs() <= bound, "{probability} {next}");
        }
    }
    let unweighted = Law::exact(&gram.entries, N, c).probabilities;
    let distance: f64 = pi.iter().zip(&unweighted).map(|(p, q)| (p - q).abs()).sum();
    assert!(distance > 0.1, "qualities that change nothing test nothing");
}

#[test]
fn a_chain_among_rows_with_a_quality_has_their_law() {
    for c in [1, 3, 5] {
        quality_decides_the_law::<f64>(c);
        quality_decides_the_law::<f32>(c);
    }
}

#[test]
fn a_column_is_its_entries() {
    let gram = Gram::well_conditioned(N);
    let (entries, quality): (Vec<f64>, Vec<f64>) = (gram.to(), exact(&QUALITIES));
    let matrix = Matrix::new(&entries).unwrap();
    let ground = WithQuality::new(&matrix, &quality).unwrap();
    let expected: Vec<f64> = exact(&with_quality(&gram));
    let mut column = [0.0; N];
    for i in 0..N {
        ground.column(i, &[0, 1, 2, 3, 4, 5], &mut column);
        for j in 0..N {
            let entry = if i == j { ground.diagonal(i) } else { ground.entry(i, j) };
            assert_eq!((entry, column[j]), (expected[i * N + j], expected[i * N + j]));
        }
    }
}

#[test]
fn a_row_of_quality_zero_is_never_selected() {
    let entries: Vec<f64> = Gram::well_conditioned(N).to();
    let matrix = Matrix::new(&entries).unwrap();
    let quality = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let ground = WithQuality::new(&matrix, &quality).unwrap();
    let mut random = Random::seeded(51);
    for _ in 0..200 {
        let mut room = Room::new(4);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::uniform(&mut landmarks, 3, &mut random).unwrap();
        let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
        chain.run(20, &mut random).unwrap();
        let mut chain = SlotChain::new(chain.into_landmarks(), Acceptance::Metropolis);
        chain.run(200, &mut random).unwrap();
        assert!(!chain.landmarks().contains(1) && !chain.landmarks().contains(4));
    }
    let mut room = Room::<f64>::new(5);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    assert!(start::uniform(&mut landmarks, 5, &mut random).is_err(), "four rows are left");
}

/// The c-DPP given that it contains the first `kept` of these rows.
fn given(gram: &Gram, c: usize, kept: &[usize]) -> Law {
    let mut law = Law::exact(&gram.entries, gram.n, c);
    let mut total = 0.0;
    for (state, probability) in law.states.iter().zip(&mut law.probabilities) {
        if !kept.iter().all(|row| state.contains(row)) {
            *probability = 0.0;
        }
        total += *probability;
    }
    law.probabilities.iter_mut().for_each(|probability| *probability /= total);
    law
}

/// What runs some steps from these landmarks and returns them.
type Run<'r, T> = &'r dyn Fn(Landmarks<'_, T, Matrix<'_, T>>, &mut Random) -> Vec<usize>;

/// Start from exact draws of the conditional law, in random order, and count where `run` leads.
fn counted<T: Scalar>(
    law: &Law,
    ground: &Matrix<'_, T>,
    kept: &[usize],
    c: usize,
    run: Run<'_, T>,
) -> Vec<u64> {
    let (mut numbers, mut random) = (SplitMix64::seeded(52), Random::seeded(53));
    let mut room = Room::new(c);
    let mut counts = vec![0; law.states.len()];
    for _ in 0..40_000 {
        let state = law.state_at(numbers.uniform());
        let mut rest: Vec<usize> = state.iter().copied().filter(|row| !kept.contains(row)).collect();
        for last in (1..rest.len()).rev() {
            rest.swap(last, numbers.below(last + 1));
        }
        let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
        start::given(&mut landmarks, kept).unwrap();
        start::given(&mut landmarks, &rest).unwrap();
        counts[law.index(&run(landmarks, &mut random))] += 1;
    }
    counts
}

fn kept_landmarks_condition_the_law<T: Scalar>(kept: &[usize], c: usize) {
    let gram = Gram::well_conditioned(N);
    let entries: Vec<T> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = given(&gram, c, kept);
    let swaps = |rule: Rule| {
        move |landmarks: Landmarks<'_, T, Matrix<'_, T>>, random: &mut Random| {
            let mut chain = Chain::new(landmarks, rule).keeping(kept.len());
            chain.run(8, random).unwrap();
            assert_eq!(&chain.landmarks().members()[..kept.len()], kept);
            chain.landmarks().members().to_vec()
        }
    };
    let slots = |scan: Scan| {
        move |landmarks: Landmarks<'_, T, Matrix<'_, T>>, random: &mut Random| {
            let chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_scan(scan).with_tries(2);
            let mut chain = chain.keeping(kept.len());
            chain.run(8, random).unwrap();
            assert_eq!(&chain.landmarks().members()[..kept.len()], kept);
            chain.landmarks().members().to_vec()
        }
    };
    for rule in RULES {
        let fit = Fit::new(&counted(&law, &ground, kept, c, &swaps(rule)), &law.probabilities);
        assert!(fit.holds(), "{rule:?}, {kept:?} of {c}: {fit:?}");
    }
    for scan in [Scan::Systematic, Scan::Random] {
        let fit = Fit::new(&counted(&law, &ground, kept, c, &slots(scan)), &law.probabilities);
        assert!(fit.holds(), "{scan:?}, {kept:?} of {c}: {fit:?}");
    }
}

#[test]
fn kept_landmarks_condition_the_law_of_the_others() {
    for (kept, c) in [(&[4][..], 3), (&[4, 0][..], 3), (&[2][..], 5)] {
        kept_landmarks_condition_the_law::<f64>(kept, c);
    }
    kept_landmarks_condition_the_law::<f32>(&[4], 3);
}

/// From one start alone, the chain reaches the whole conditional law.
#[test]
fn a_long_chain_forgets_its_start() {
    let gram = Gram::well_conditioned(N);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let law = given(&gram, 3, &[5]);
    let mut counts = vec![0; law.states.len()];
    for seed in 0..20_000 {
        let (mut room, mut random) = (Room::new(3), Random::seeded(seed));
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, &[5, 0, 1]).unwrap();
        let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).keeping(1);
        chain.run(320, &mut random).unwrap();
        counts[law.index(chain.landmarks().members())] += 1;
    }
    let fit = Fit::new(&counts, &law.probabilities);
    assert!(fit.holds(), "{fit:?}");
}

#[test]
fn with_all_landmarks_kept_nothing_moves() {
    let entries: Vec<f64> = Gram::well_conditioned(N).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut random = Random::seeded(54);
    for kept in [2, 7] {
        let mut room = Room::new(2);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::given(&mut landmarks, &[3, 1]).unwrap();
        let mut chain = Chain::new(landmarks, Rule::METROPOLIS).keeping(kept);
        assert_eq!(chain.step(&mut random), Ok(Step::Held));
        let mut chain = SlotChain::new(chain.into_landmarks(), Acceptance::Metropolis).keeping(kept);
        assert_eq!((chain.step(32, &mut random), chain.progress().steps), (Ok(0), 32));
        assert_eq!(chain.landmarks().members(), [3, 1]);
    }
}
