//! Initial sets of landmarks: their laws, and the treatment of duplicates, dependent rows and rows that
//! cannot be read.

use dpp_nystrom_core::kernel::{Gaussian, Linear};
use dpp_nystrom_core::{Error, GroundSet, Landmarks, Matrix, Points, Random, start};
use dpp_nystrom_tests::ground::{Gram, normal_points};
use dpp_nystrom_tests::room::Room;
use dpp_nystrom_tests::script::Script;
use dpp_nystrom_tests::snapshot::Snapshot;
use dpp_nystrom_tests::statistics::Fit;
use dpp_nystrom_tests::subsets::{index_of, subsets};
use std::cell::Cell;

const DRAWS: u64 = 40_000;

/// Return the members after a start, in order.
fn uniform_members<G: GroundSet<f64>>(
    ground: &G,
    given: &[usize],
    c: usize,
    random: &mut Random,
) -> Vec<usize> {
    let mut room = Room::new(c);
    let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
    start::given(&mut landmarks, given).unwrap();
    start::uniform(&mut landmarks, c, random).unwrap();
    landmarks.members().to_vec()
}

fn kmeans_members<G: GroundSet<f64>>(
    ground: &G,
    given: &[usize],
    c: usize,
    random: &mut Random,
) -> Vec<usize> {
    let mut room = Room::new(c);
    let mut landmarks = Landmarks::new(ground, room.lend()).unwrap();
    start::given(&mut landmarks, given).unwrap();
    // Longer than needed, and not initialised.
    let mut distances = vec![f64::NAN; ground.len() + 2];
    start::kmeans_plus_plus(&mut landmarks, c, &mut distances, random).unwrap();
    landmarks.members().to_vec()
}

#[test]
fn seeding_stops_before_the_next_seed_and_leaves_what_was_there() {
    let entries: Vec<f64> = Gram::well_conditioned(8).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(6);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[3]).unwrap();
    let before = Snapshot::new(&landmarks);
    for asked in 1..=6 {
        let (mut random, mut count) = (Random::seeded(5), 0);
        let goes_on = || {
            count += 1;
            count < asked
        };
        let seeded = start::kmeans_plus_plus_while(&mut landmarks, 6, &mut [0.0; 8], &mut random, goes_on);
        assert_eq!((seeded, count), (Ok(asked == 6), asked.min(5)));
        if asked < 6 {
            assert_eq!(Snapshot::new(&landmarks), before);
        }
    }
    assert_eq!(landmarks.members(), kmeans_members(&ground, &[3], 6, &mut Random::seeded(5)));
}

#[test]
fn a_uniform_start_is_uniform() {
    let entries: Vec<f64> = Gram::well_conditioned(8).to();
    let ground = Matrix::new(&entries).unwrap();
    let sets = subsets(8, 3);
    let mut of_sets = vec![0; sets.len()];
    let mut at_place = [[0; 8]; 3];
    let mut random = Random::seeded(71);
    for _ in 0..DRAWS {
        let members = uniform_members(&ground, &[], 3, &mut random);
        of_sets[index_of(&sets, &members)] += 1;
        for (place, &member) in at_place.iter_mut().zip(&members) {
            place[member] += 1;
        }
    }
    let fit = Fit::new(&of_sets, &vec![1.0 / sets.len() as f64; sets.len()]);
    assert!(fit.holds(), "{fit:?}");
    // Uniform sets imply uniform inclusion; that each place is uniform is a stronger statement.
    for counts in at_place {
        let fit = Fit::new(&counts, &[1.0 / 8.0; 8]);
        assert!(fit.holds(), "{fit:?}");
    }
}

#[test]
fn a_start_adds_to_the_landmarks_there_are() {
    let entries: Vec<f64> = Gram::well_conditioned(8).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut counts = [0; 8];
    let mut random = Random::seeded(72);
    for _ in 0..DRAWS {
        let members = uniform_members(&ground, &[6, 0], 3, &mut random);
        assert_eq!(members[..2], [6, 0]);
        counts[members[2]] += 1;
    }
    let law = std::array::from_fn::<f64, 8, _>(|row| if row == 6 || row == 0 { 0.0 } else { 1.0 / 6.0 });
    let fit = Fit::new(&counts, &law);
    assert!(fit.holds(), "{fit:?}");
    // With enough landmarks nothing is drawn.
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    start::given(&mut landmarks, &[1, 2]).unwrap();
    start::uniform(&mut landmarks, 2, &mut Script::new(&[])).unwrap();
    start::uniform(&mut landmarks, 1, &mut Script::new(&[])).unwrap();
    assert_eq!(landmarks.members(), [1, 2]);
}

/// Return the law of three seeds in order: the first uniform, each next with probability proportional to the
/// squared distance from the nearest before it.
fn seeding_law(n: usize, distance: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut law = vec![0.0; n * n * n];
    for i in 0..n {
        let from_first: f64 = (0..n).map(|row| distance(row, i)).sum();
        for j in 0..n {
            let nearest = |row: usize| distance(row, i).min(distance(row, j));
            let from_both: f64 = (0..n).map(nearest).sum();
            for k in 0..n {
                let second = distance(j, i) / from_first;
                law[(i * n + j) * n + k] = second * nearest(k) / from_both / n as f64;
            }
        }
    }
    law
}

fn seeds_follow<G: GroundSet<f64>>(ground: &G, distance: impl Fn(usize, usize) -> f64, seed: u64) {
    let n = ground.len();
    let mut random = Random::seeded(seed);
    let (mut triples, mut pairs, mut firsts) = (vec![0; n * n * n], vec![0; n * n], vec![0; n]);
    for _ in 0..DRAWS {
        let members = kmeans_members(ground, &[], 3, &mut random);
        triples[(members[0] * n + members[1]) * n + members[2]] += 1;
        pairs[members[0] * n + members[1]] += 1;
        firsts[members[0]] += 1;
    }
    let law = seeding_law(n, distance);
    let of_pairs: Vec<f64> = law.chunks(n).map(|third| third.iter().sum()).collect();
    for (counts, law) in [(firsts, vec![1.0 / n as f64; n]), (pairs, of_pairs), (triples, law)] {
        let fit = Fit::new(&counts, &law);
        println!("{fit:?}, bound {:.1}", fit.bound());
        assert!(fit.holds(), "{fit:?}");
    }
}

#[test]
fn kmeans_seeds_spread_by_the_squared_distance_of_features() {
    let rows: Vec<f64> = normal_points(6, 2, 73);
    let ground = Points::new(&rows, 2, Gaussian::new(0.5).unwrap()).unwrap();
    let distance = |i: usize, j: usize| {
        rows[2 * i..2 * i + 2].iter().zip(&rows[2 * j..]).map(|(x, y)| (x - y) * (x - y)).sum()
    };
    seeds_follow(&ground, distance, 74);
}

#[test]
fn kmeans_seeds_of_a_matrix_spread_by_the_kernels_own_distance() {
    let gram = Gram::well_conditioned(6);
    let entries: Vec<f64> = gram.to();
    let ground = Matrix::new(&entries).unwrap();
    let entry = |i: usize, j: usize| entries[i * 6 + j];
    seeds_follow(&ground, |i, j| entry(i, i) + entry(j, j) - 2.0 * entry(i, j), 75);
}

#[test]
fn kmeans_seeds_keep_off_the_landmarks_there_are() {
    // On a line at 0, 1, 3, 10, landmarks at 0 and 10: nearest squared distances 1 and 9.
    let rows = [0.0, 1.0, 3.0, 10.0];
    let ground = Points::new(&rows, 1, Gaussian::new(1.0).unwrap()).unwrap();
    let mut random = Random::seeded(76);
    let mut counts = [0; 4];
    for _ in 0..DRAWS {
        counts[kmeans_members(&ground, &[3, 0], 3, &mut random)[2]] += 1;
    }
    let fit = Fit::new(&counts, &[0.0, 0.1, 0.9, 0.0]);
    assert!(fit.holds(), "{fit:?} {counts:?}");
}

/// Return rows that are equal in pairs: 0 and 1, 2 and 3, and so on.
fn pairs(n: usize) -> Vec<f64> {
    let distinct: Vec<f64> = normal_points(n / 2, 2, 77);
    distinct.chunks(2).flat_map(|row| [row, row].concat()).collect()
}

#[test]
fn of_two_equal_rows_never_both() {
    let rows = pairs(8);
    let ground = Points::new(&rows, 2, Gaussian::new(1.0).unwrap()).unwrap();
    let sets = subsets(8, 3);
    // A row that depends on those before is drawn again, so all sets without equal rows are equally likely.
    let equals = |set: &[usize]| set.windows(2).any(|pair| pair[0] / 2 == pair[1] / 2);
    let without = sets.iter().filter(|set| !equals(set)).count() as f64;
    let law: Vec<f64> = sets.iter().map(|set| if equals(set) { 0.0 } else { 1.0 / without }).collect();
    let mut counts = vec![0; sets.len()];
    let mut random = Random::seeded(78);
    for _ in 0..DRAWS {
        counts[index_of(&sets, &uniform_members(&ground, &[], 3, &mut random))] += 1;
        let seeds = kmeans_members(&ground, &[], 4, &mut random);
        let mut classes: Vec<usize> = seeds.iter().map(|row| row / 2).collect();
        classes.sort_unstable();
        assert_eq!(classes, [0, 1, 2, 3]);
    }
    let fit = Fit::new(&counts, &law);
    assert!(fit.holds(), "{fit:?}");
}

#[test]
fn duplicates_only_have_rank_one() {
    let rows = [0.3; 24];
    let ground = Points::new(&rows, 2, Gaussian::new(1.0).unwrap()).unwrap();
    let deficient = Error::RankDeficient { rank: 1, landmarks: 2 };
    for seed in 0..20 {
        let mut random = Random::seeded(seed);
        let mut room = Room::new(3);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        assert_eq!(start::uniform(&mut landmarks, 2, &mut random), Err(deficient));
        assert!(landmarks.is_empty());
        assert_eq!(start::kmeans_plus_plus(&mut landmarks, 2, &mut [0.0; 12], &mut random), Err(deficient));
        assert!(landmarks.is_empty());
        start::uniform(&mut landmarks, 1, &mut random).unwrap();
        assert_eq!(
            start::given(&mut landmarks, &[11]),
            Err(if landmarks.contains(11) {
                Error::Duplicate { index: 11 }
            } else {
                Error::NotPositive { pivot: 1 }
            })
        );
    }
}

#[test]
fn the_rank_of_a_linear_kernel_is_found() {
    // Points in the plane, no two of them nearly parallel: rounding could otherwise make a third dimension
    // that is just above the bound.
    let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 3.0, -1.0, 1.0, -2.0, -2.0, 0.0, 0.0];
    let ground = Points::new(&rows, 2, Linear).unwrap();
    for seed in 0..20 {
        let mut random = Random::seeded(seed);
        let mut room = Room::new(3);
        let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
        start::uniform(&mut landmarks, 2, &mut random).unwrap();
        let before = Snapshot::new(&landmarks);
        let deficient = Err(Error::RankDeficient { rank: 2, landmarks: 3 });
        assert_eq!(start::uniform(&mut landmarks, 3, &mut random), deficient);
        assert_eq!(start::kmeans_plus_plus(&mut landmarks, 3, &mut [0.0; 8], &mut random), deficient);
        assert_eq!(Snapshot::new(&landmarks), before);
    }
}

#[test]
fn the_one_other_row_among_many_copies_is_found() {
    // More copies than draws, so that every row is tried in order.
    let mut rows = vec![0.0; 1_000];
    (rows[17], rows[611]) = (1.0, 2.0);
    let ground = Points::new(&rows, 1, Gaussian::new(1.0).unwrap()).unwrap();
    for seed in 0..20 {
        let mut random = Random::seeded(seed);
        for members in
            [uniform_members(&ground, &[], 3, &mut random), kmeans_members(&ground, &[], 3, &mut random)]
        {
            assert!(members.contains(&17) && members.contains(&611), "{members:?}");
        }
    }
}

#[test]
fn impossible_numbers_of_landmarks_are_refused() {
    let entries: Vec<f64> = Gram::well_conditioned(6).to();
    let ground = Matrix::new(&entries).unwrap();
    let mut room = Room::new(3);
    let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
    let mut distances = [0.0; 6];
    for (c, error) in [
        (0, Error::Empty),
        (7, Error::TooManyLandmarks { landmarks: 7, rows: 6 }),
        (usize::MAX, Error::TooManyLandmarks { landmarks: usize::MAX, rows: 6 }),
        (4, Error::Capacity { needed: 4, have: 3 }),
    ] {
        assert_eq!(start::uniform(&mut landmarks, c, &mut Script::new(&[])), Err(error));
        let seeded = start::kmeans_plus_plus(&mut landmarks, c, &mut distances, &mut Script::new(&[]));
        assert_eq!(seeded, Err(error));
        assert!(landmarks.is_empty());
    }
    let short = start::kmeans_plus_plus(&mut landmarks, 2, &mut distances[..5], &mut Script::new(&[]));
    assert_eq!(short, Err(Error::Capacity { needed: 6, have: 5 }));
    // No rows given: no landmarks are added.
    start::given(&mut landmarks, &[]).unwrap();
    // All rows as landmarks.
    let mut random = Random::seeded(80);
    for mut members in
        [uniform_members(&ground, &[], 6, &mut random), kmeans_members(&ground, &[], 6, &mut random)]
    {
        members.sort_unstable();
        assert_eq!(members, [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn ground_sets_without_rows_or_room_are_refused() {
    #[derive(Debug)]
    struct Empty(usize);
    impl GroundSet<f32> for Empty {
        fn len(&self) -> usize {
            self.0
        }
        fn entry(&self, _: usize, _: usize) -> f32 {
            1.0
        }
    }
    let new = |rows: usize| Landmarks::new(&Empty(rows), Room::new(2).lend()).map(drop);
    assert_eq!(new(0), Err(Error::Empty));
    assert_eq!(new(1), Ok(()));
    if let Ok(many) = usize::try_from(1_u64 << 32) {
        assert_eq!(new(many), Err(Error::TooManyRows));
        assert_eq!(new(many - 1), Ok(()));
    }
    let mut room = Room::new(2);
    room.landmarks.truncate(1);
    let refused = Landmarks::new(&Empty(3), room.lend()).unwrap_err();
    assert_eq!(refused, Error::Capacity { needed: 2, have: 1 });
}

/// Entries of points that cannot be read from the `reads`-th on while `broken`.
struct Unplugged {
    rows: Vec<f64>,
    left: Cell<usize>,
    broken: Cell<usize>,
}

impl GroundSet<f64> for Unplugged {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
        } else if self.broken.get() > 0 {
            self.broken.set(self.broken.get() - 1);
            return f64::NAN;
        }
        (-(self.rows[i] - self.rows[j]).powi(2)).exp()
    }
}

/// Break one read, or all from it on, at every point: a start that reads it stops with [`Error::NotFinite`]
/// and has changed nothing.
fn every_broken_read_is_reported(
    call: impl Fn(&mut Landmarks<'_, f64, Unplugged>) -> Result<(), Error>,
) -> usize {
    let ground = Unplugged { rows: normal_points(9, 1, 81), left: Cell::new(0), broken: Cell::new(0) };
    for reads in 0.. {
        for broken in [1, usize::MAX] {
            ground.left.set(usize::MAX);
            let mut room = Room::new(5);
            let mut landmarks = Landmarks::new(&ground, room.lend()).unwrap();
            start::given(&mut landmarks, &[8, 2]).unwrap();
            let before = Snapshot::new(&landmarks);
            ground.left.set(reads);
            ground.broken.set(broken);
            let result = call(&mut landmarks);
            if ground.broken.get() == broken {
                // The start finished without the read that would have failed.
                assert_eq!(result, Ok(()));
                return reads;
            }
            assert!(matches!(result, Err(Error::NotFinite { .. })), "read {reads}: {result:?}");
            assert_eq!(Snapshot::new(&landmarks), before, "read {reads}");
        }
    }
    unreachable!("a start reads at least this many entries")
}

#[test]
fn a_given_start_reports_every_broken_read() {
    // Three rows with two to four landmarks, and themselves.
    assert_eq!(every_broken_read_is_reported(|landmarks| start::given(landmarks, &[0, 5, 7])), 12);
}

#[test]
fn a_uniform_start_reports_every_broken_read() {
    let reads =
        every_broken_read_is_reported(|landmarks| start::uniform(landmarks, 5, &mut Random::seeded(82)));
    assert_eq!(reads, 12);
}

#[test]
fn a_kmeans_start_reports_every_broken_read() {
    let reads = every_broken_read_is_reported(|landmarks| {
        start::kmeans_plus_plus(landmarks, 5, &mut [0.0; 9], &mut Random::seeded(83))
    });
    assert!(reads > 9 * 2, "{reads}");
}
