//! Merged models of fleets in which one device is hostile, and of fleets in which none is: what is moved,
//! refused and lost by default. Figures are printed; `std-adapter/docs/trust.md` states them.

use dpp_nystrom::data::table::{self, Table, Target};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{Accumulator, Aggregate, Examined, Fleet, MergeLimits, Received};
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};
use dpp_nystrom_core::{Origin, Random};
use faer::{Mat, Side};
use rand_core::Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LANDMARKS: usize = 40;
const DIM: usize = 4;
const TEST_ROWS: usize = 2_000;

fn uniform(random: &mut Random) -> f64 {
    f64::from(random.next_u32()) / 2_f64.powi(32)
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// Rows of features and their targets.
#[derive(Clone)]
struct Rows {
    dim: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Rows {
    /// Draw rows whose features are shifted. The best model on the landmarks has an error of some .37
    /// deviations.
    fn drawn(count: usize, shift: &[f64; DIM], random: &mut Random) -> Self {
        let mut rows = Self { dim: DIM, features: Vec::new(), targets: Vec::new() };
        for _ in 0..count {
            let x: [f64; DIM] = std::array::from_fn(|i| normal(random) + shift[i]);
            let mean = (1.2 * x[0]).sin() + 0.6 * (x[1] * x[2]).tanh() + 0.3 * x[3];
            rows.targets.push(mean + 0.25 * normal(random));
            rows.features.extend(x);
        }
        rows
    }

    /// Draw rows of a target that the landmarks predict well.
    fn plain(count: usize, random: &mut Random) -> Self {
        let mut rows = Self::drawn(count, &[0.0; DIM], random);
        for (target, x) in rows.targets.iter_mut().zip(rows.features.chunks(DIM)) {
            *target = x[0] + 0.5 * x[1] + 0.05 * normal(random);
        }
        rows
    }

    fn fit(&self) -> Model {
        let data = Dataset::from_rows(&self.features, self.dim).unwrap();
        let data = data.with_target(&self.targets).unwrap();
        let params = Nystroem::params(LANDMARKS).kernel(Gaussian::new(Sigma::Median(1.0)));
        let map = params.selector(Kdpp::default()).seed(1).fit(&data).unwrap();
        KernelRidge::params(&map).ridge(Ridge::CrossValidated).seed(1).fit(&data).unwrap()
    }

    /// The rows with targets that are off by so many deviations.
    fn off_by(&self, deviations: f64, model: &Model) -> Self {
        let mut rows = self.clone();
        rows.targets.iter_mut().for_each(|target| *target += deviations * model.target_deviation);
        rows
    }

    fn table(&self) -> Table {
        Table {
            name: "rows".into(),
            feature_names: (0..self.dim).map(|i| format!("x{i}")).collect(),
            dim: self.dim,
            features: self.features.clone(),
            target: Some(self.targets.clone()),
            target_name: Some("y".into()),
            weights: None,
        }
    }

    fn state(&self, fleet: &Fleet<'_>, name: usize) -> Received {
        Received::of(name.to_string(), fleet.accumulate(&self.table()).unwrap())
    }
}

fn apart(one: &[f64], other: &[f64], deviation: f64) -> f64 {
    let squares: f64 = one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum();
    (squares / one.len() as f64).sqrt() / deviation
}

fn examine(fleet: &Fleet<'_>, model: &Model, states: &[Received], limits: MergeLimits) -> Vec<Examined> {
    fleet.examine(states, limits, Ridge::Value(model.ridge), &NoObserver).unwrap()
}

const UNLIMITED: MergeLimits = MergeLimits { rows: f64::INFINITY, influence: f64::INFINITY };
const BY_ROWS: MergeLimits = MergeLimits { rows: 2.0, influence: f64::INFINITY };

/// Merge the states with what each counts for.
fn merge(
    fleet: &Fleet<'_>,
    model: &Model,
    states: &[Received],
    limits: MergeLimits,
    aggregate: Aggregate,
) -> Model {
    let examined = examine(fleet, model, states, limits);
    let parts = states.iter().zip(&examined).filter(|(_, one)| one.outlier.is_none());
    let parts: Vec<_> = parts.map(|(state, one)| state.accumulated.counting_as(one.counted)).collect();
    fleet.merge(&parts, Ridge::Value(model.ridge), aggregate, &NoObserver).unwrap().model
}

/// The bytes of a state with other rows and numbers (`R` by rows, `Qᵀy`, residual), as their author would
/// write them: with a checksum.
fn forged(fleet: &Fleet<'_>, own: &Accumulator<f32>, rows: u64, numbers: &[f32]) -> Received {
    let mut bytes = fleet.state(own, Some(Origin { device: 0, counter: 0 })).unwrap();
    bytes[36..44].copy_from_slice(&rows.to_le_bytes());
    for (slot, number) in bytes[112..].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *slot = number.to_le_bytes();
    }
    let checksum = crc32fast::hash(&bytes[12..]).to_le_bytes();
    bytes[8..12].copy_from_slice(&checksum);
    fleet.receive("0", &bytes, None).unwrap()
}

/// The same means of `scale` times as many rows.
fn scaled(fleet: &Fleet<'_>, own: &Accumulator<f32>, scale: f64) -> Option<Received> {
    let rows = own.rows() as f64 * scale;
    if rows > 2_f64.powi(53) {
        return None;
    }
    let end = own.values().len() - 2;
    let factor = |at: usize| if at < end { scale.sqrt() } else { scale };
    let numbers =
        own.values().iter().enumerate().map(|(at, &number)| (f64::from(number) * factor(at)) as f32);
    Some(forged(fleet, own, rows as u64, &numbers.collect::<Vec<_>>()))
}

/// Sums with `mass` times the rows' own in an eigen-direction of theirs, and a slope of 1,000 deviations
/// there.
fn with_steep_direction(
    fleet: &Fleet<'_>,
    own: &Accumulator<f32>,
    direction: usize,
    mass: f64,
) -> Accumulator<f32> {
    let c = own.features();
    let values: Vec<f64> = own.values().iter().map(|&value| f64::from(value)).collect();
    let mut r = Mat::<f64>::zeros(c, c);
    let mut numbers = values.iter();
    for i in 0..c {
        (i..c).for_each(|j| r[(i, j)] = *numbers.next().unwrap());
    }
    let q = Mat::from_fn(c, 1, |i, _| values[c * (c + 1) / 2 + i]);
    let mut gram = r.transpose() * &r;
    let eigen = gram.self_adjoint_eigen(Side::Lower).unwrap();
    let v = eigen.U().subcols(direction, 1).to_owned();
    let eigenvalue = eigen.S()[direction].max(1e-6);
    gram -= faer::Scale((1.0 - mass) * eigenvalue) * &v * v.transpose();
    (0..c).for_each(|i| gram[(i, i)] += 1e-6);
    let lower = gram.llt(Side::Lower).unwrap().L().to_owned();
    // Of the rows' own slopes elsewhere.
    let right = r.transpose() * &q + faer::Scale(1_000.0 * mass * eigenvalue) * &v;
    let mut q = right.clone();
    for i in 0..c {
        let before: f64 = (0..i).map(|j| lower[(i, j)] * q[(j, 0)]).sum();
        q[(i, 0)] = (right[(i, 0)] - before) / lower[(i, i)];
    }
    let mut numbers: Vec<f32> =
        (0..c).flat_map(|i| (i..c).map(move |j| (i, j))).map(|(i, j)| lower[(j, i)] as f32).collect();
    numbers.extend((0..c).map(|i| q[(i, 0)] as f32));
    numbers.extend(&own.values()[values.len() - 2..]);
    forged(fleet, own, own.rows(), &numbers).accumulated
}

/// What a merge with one hostile device, the first, comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// Refused, and the device is named.
    Named,
    /// Refused, and others are named.
    Misnamed,
    /// By how much the predictions moved, in deviations, and the test error, in that of the others' model.
    Merged { moved: f64, error: f64 },
}

/// A fleet of equal honest devices, and rows that no device has.
struct Trial<'m> {
    fleet: Fleet<'m>,
    model: &'m Model,
    own: Vec<Rows>,
    states: Vec<Received>,
    test: Rows,
    /// The model of the others, and its error.
    honest: Vec<f64>,
    error: f64,
}

impl<'m> Trial<'m> {
    fn new(model: &'m Model, devices: usize, rows: usize, test: Rows, random: &mut Random) -> Self {
        Self::of(model, (0..devices).map(|_| Rows::drawn(rows, &[0.0; DIM], random)).collect(), test)
    }

    fn of(model: &'m Model, own: Vec<Rows>, test: Rows) -> Self {
        let fleet = Fleet::of(model).unwrap();
        let states: Vec<Received> = own.iter().enumerate().map(|(at, rows)| rows.state(&fleet, at)).collect();
        let others = merge(&fleet, model, &states[1..], MergeLimits::default(), Aggregate::Rows);
        let honest = others.predict(&test.features).unwrap();
        let error = apart(&honest, &test.targets, model.target_deviation);
        Self { fleet, model, own, states, test, honest, error }
    }

    fn outcome(&self, forger: Received, aggregate: Aggregate) -> Outcome {
        let mut states = self.states.clone();
        states[0] = forger;
        let limits = if aggregate == Aggregate::Robust { BY_ROWS } else { MergeLimits::default() };
        let examined = examine(&self.fleet, self.model, &states, limits);
        let named: Vec<usize> = (0..states.len()).filter(|&at| examined[at].outlier.is_some()).collect();
        match named[..] {
            [0] => return Outcome::Named,
            [] => {}
            _ => return Outcome::Misnamed,
        }
        let merged = merge(&self.fleet, self.model, &states, limits, aggregate);
        let predicted = merged.predict(&self.test.features).unwrap();
        let deviation = self.model.target_deviation;
        Outcome::Merged {
            moved: apart(&predicted, &self.honest, deviation),
            error: apart(&predicted, &self.test.targets, deviation) / self.error,
        }
    }

    /// Return the forged states, each with what it is, at this scale.
    fn forgeries(&self, scale: f64) -> Vec<(String, Received)> {
        let shifted = |shift| self.own[0].off_by(shift, self.model).state(&self.fleet, 0).accumulated;
        let mut sums: Vec<(String, Accumulator<f32>)> =
            [0.55, 3.2, -0.55].map(|shift| (format!("targets {shift:+}"), shifted(shift))).into();
        for direction in [0, LANDMARKS / 4, LANDMARKS / 2, LANDMARKS - 1] {
            for mass in [1e-6, 1e-3, 1e-1] {
                let steep = with_steep_direction(&self.fleet, &self.states[0].accumulated, direction, mass);
                sums.push((format!("direction {direction}, mass {mass:e}"), steep));
            }
        }
        let scaled = |(what, sums)| Some((what, scaled(&self.fleet, &sums, scale)?));
        sums.into_iter().filter_map(scaled).collect()
    }
}

/// The bounds that one device is held to.
const MOST_MOVED: f64 = 0.1;
const MOST_ERROR: f64 = 1.05;

#[test]
fn one_device_of_ten_or_of_five_does_not_take_over_the_model() {
    let mut random = Random::seeded(11);
    let model = Rows::drawn(500, &[0.0; DIM], &mut random).fit();
    println!(
        "devices, aggregate, error of the others; what is sent at each scale: largest move, largest error, times refused"
    );
    // Of three, one that counts for two medians has half of the rows, and no median holds.
    let aggregates =
        [10, 5].into_iter().flat_map(|devices| [(devices, Aggregate::Rows), (devices, Aggregate::Robust)]);
    for (devices, aggregate) in aggregates.chain([(3, Aggregate::Rows)]) {
        let test = Rows::drawn(TEST_ROWS, &[0.0; DIM], &mut random);
        let trial = Trial::new(&model, devices, 500, test, &mut random);
        println!("{devices}, {aggregate:?}: {:.3}", trial.error);
        // Two others know less of the model than the bounds ask. The geometric median is within a multiple of
        // the distances between honest solutions, not within a distance.
        let (most_moved, most_error) = match (devices, aggregate) {
            (3, _) => (0.2, 1.15),
            (_, Aggregate::Rows) => (MOST_MOVED, MOST_ERROR),
            _ => (0.15, 1.1),
        };
        let scales = (0..=15).map(|power| 10_f64.powi(power)).chain([2_f64.powi(53) / 500.0]);
        let mut worst = BTreeMap::<String, (f64, f64, usize)>::new();
        for scale in scales {
            for (what, forger) in trial.forgeries(scale) {
                let outcome = trial.outcome(forger, aggregate);
                let worst = worst.entry(what.clone()).or_default();
                match outcome {
                    Outcome::Named => worst.2 += 1,
                    Outcome::Merged { moved, error } if moved <= most_moved && error <= most_error => {
                        *worst = (worst.0.max(moved), worst.1.max(error), worst.2);
                    }
                    other => panic!("{devices} {aggregate:?}, {scale:e}, {what}: {other:?}"),
                }
            }
        }
        assert_eq!(worst.len(), 15);
        worst.iter().for_each(|(what, worst)| println!("    {what}: {worst:.3?}"));
    }
}

/// The merged model is the next round's reference, and the forger sends what moves it furthest of what is not
/// refused.
#[test]
fn nor_in_ten_rounds() {
    let mut random = Random::seeded(12);
    let first = Rows::drawn(500, &[0.0; DIM], &mut random).fit();
    let test = Rows::drawn(TEST_ROWS, &[0.0; DIM], &mut random);
    for devices in [10, 5] {
        let mut model = first.clone();
        for round in 1..=10 {
            let trial = Trial::new(&model, devices, 500, test.clone(), &mut random);
            let mut worst: Option<(f64, f64, Model)> = None;
            for shift in [0.1, 0.2, 0.4, 0.55, 0.8, 1.2, 2.0, 3.2] {
                let sums = trial.own[0].off_by(shift, trial.model).state(&trial.fleet, 0).accumulated;
                for scale in [1.0, 1e12] {
                    let forger = scaled(&trial.fleet, &sums, scale).unwrap();
                    let Outcome::Merged { moved, error } = trial.outcome(forger.clone(), Aggregate::Rows)
                    else {
                        continue;
                    };
                    assert!(
                        moved <= MOST_MOVED && error <= MOST_ERROR,
                        "{devices}, {round}, {shift}: {moved} {error}"
                    );
                    if worst.as_ref().is_none_or(|worst| moved > worst.0) {
                        let states: Vec<_> = [forger].into_iter().chain(trial.states[1..].to_vec()).collect();
                        let merged = merge(
                            &trial.fleet,
                            trial.model,
                            &states,
                            MergeLimits::default(),
                            Aggregate::Rows,
                        );
                        worst = Some((moved, error, merged));
                    }
                }
            }
            let (moved, error, merged) = worst.unwrap();
            println!("{devices} devices, round {round}: moved {moved:.3}, error {error:.3}");
            model = merged;
        }
    }
}

/// A shift that would be small beside a large error is not beside a small one.
#[test]
fn the_smaller_the_error_the_less_a_device_moves() {
    let mut random = Random::seeded(15);
    let model = Rows::plain(500, &mut random).fit();
    let test = Rows::plain(TEST_ROWS, &mut random);
    let trial = Trial::of(&model, (0..6).map(|_| Rows::plain(500, &mut random)).collect(), test);
    for shift in [0.3, 0.55] {
        let outcome =
            trial.outcome(trial.own[0].off_by(shift, &model).state(&trial.fleet, 0), Aggregate::Rows);
        println!("error {:.3}, targets +{shift}: {outcome:.3?}", trial.error);
        let Outcome::Merged { moved, error } = outcome else { panic!("{outcome:?}") };
        assert!(trial.error < 0.15 && moved < 0.045 && error < 1.15, "{} {moved} {error}", trial.error);
    }
}

/// Rows that are there three times and count for a third of themselves are those rows.
#[test]
fn a_limited_state_has_the_means_of_its_rows() {
    let mut random = Random::seeded(16);
    let model = Rows::drawn(500, &[0.0; DIM], &mut random).fit();
    let fleet = Fleet::of(&model).unwrap();
    let once = fleet.accumulate(&Rows::drawn(200, &[0.0; DIM], &mut random).table()).unwrap();
    let mut thrice = once.clone();
    (0..2).for_each(|_| thrice.merge(&once).unwrap());
    let limited = thrice.counting_as(200);
    assert_eq!(
        (limited.rows(), thrice.counting_as(600), thrice.counting_as(601)),
        (200, thrice.clone(), thrice.clone())
    );
    let most = once.values().iter().map(|value| value.abs()).fold(0.0, f32::max);
    for (limited, once) in limited.values().iter().zip(once.values()).take(once.values().len() - 2) {
        assert!((limited - once).abs() <= 1e-4 * most, "{limited} {once}");
    }
    let residual = |sums: &Accumulator<f32>| sums.values().iter().rev().take(2).sum::<f32>();
    assert!((residual(&limited) / residual(&once) - 1.0).abs() < 1e-3);
}

/// What is lost where no device is hostile.
#[derive(Default)]
struct Honest {
    refused: usize,
    limited: usize,
    /// Test errors of the merged model in those of the unlimited one, and those of the geometric median.
    errors: Vec<f64>,
    robust: Vec<f64>,
}

impl Honest {
    fn add(&mut self, fleet: &Fleet<'_>, model: &Model, states: &[Received], test: &Rows) {
        let examined = examine(fleet, model, states, MergeLimits::default());
        let by_rows = examine(fleet, model, states, BY_ROWS);
        self.refused += usize::from(examined.iter().any(|one| one.outlier.is_some()));
        let is_limited = examined.iter().zip(&by_rows).any(|(one, other)| one.counted < other.counted);
        self.limited += usize::from(is_limited);
        let error = |limits, aggregate| {
            let merged = merge(fleet, model, states, limits, aggregate);
            apart(&merged.predict(&test.features).unwrap(), &test.targets, model.target_deviation)
        };
        let whole = error(UNLIMITED, Aggregate::Rows);
        self.errors.push(error(MergeLimits::default(), Aggregate::Rows) / whole);
        self.robust.push(error(BY_ROWS, Aggregate::Robust) / whole);
    }

    fn print(&self, what: &str) {
        let figures = |errors: &[f64]| (mean(errors), errors.iter().copied().fold(0.0, f64::max));
        let (count, by_limits, robust) = (self.errors.len(), figures(&self.errors), figures(&self.robust));
        println!(
            "{what}: {} of {count} refused, {} limited by influence, error in the unlimited one's {by_limits:.3?}, robust {robust:.3?} \
             (mean, most)",
            self.refused, self.limited
        );
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// From 5 to 15 devices of 50 to 1,000 rows each, that `draw` draws, with targets that drift by up to a tenth
/// of a deviation.
fn honest_fleets(
    count: usize,
    model: &Model,
    test: &Rows,
    random: &mut Random,
    draw: impl Fn(usize, &mut Random) -> Rows,
) -> Honest {
    let fleet = Fleet::of(model).unwrap();
    let mut honest = Honest::default();
    for _ in 0..count {
        let devices = 5 + random.next_u32() as usize % 11;
        let states: Vec<Received> = (0..devices)
            .map(|at| {
                let rows = (50.0 * 20_f64.powf(uniform(random))) as usize;
                let drift = 0.2 * uniform(random) - 0.1;
                draw(rows, random).off_by(drift, model).state(&fleet, at)
            })
            .collect();
        honest.add(&fleet, model, &states, test);
    }
    honest
}

#[test]
fn honest_fleets_are_not_refused() {
    let mut random = Random::seeded(13);
    let model = Rows::drawn(500, &[0.0; DIM], &mut random).fit();
    let test = Rows::drawn(TEST_ROWS, &[0.0; DIM], &mut random);
    let honest = honest_fleets(200, &model, &test, &mut random, |rows, random| {
        let shift = std::array::from_fn(|_| uniform(random) - 0.5);
        Rows::drawn(rows, &shift, random)
    });
    honest.print("drawn rows, features shifted by up to half a deviation each");
    assert!(honest.refused <= 2, "{}", honest.refused);
    assert!(mean(&honest.errors) < 1.01, "{}", mean(&honest.errors));
    for name in ["cal.housing", "cpu.small", "abalone", "bank8FM", "ailerons"] {
        let Some([first, pool, test]) = split(name, &mut random) else { continue };
        let model = first.fit();
        let honest = honest_fleets(40, &model, &test, &mut random, |rows, random| pool.tilted(rows, random));
        honest.print(name);
        assert!(honest.refused <= 1, "{name}: {}", honest.refused);
    }
}

impl Rows {
    /// Draw rows of another place: the first of three that is furthest along a direction, half of the time.
    fn tilted(&self, count: usize, random: &mut Random) -> Self {
        let direction: Vec<f64> = (0..self.dim).map(|_| normal(random)).collect();
        let mut rows = Self { dim: self.dim, features: Vec::new(), targets: Vec::new() };
        let deviations = self.deviations();
        let along = |row: usize| -> f64 {
            let features = &self.features[row * self.dim..(row + 1) * self.dim];
            features.iter().zip(&direction).zip(&deviations).map(|((x, d), s)| x * d / s).sum()
        };
        for _ in 0..count {
            let mut drawn = || random.next_u32() as usize % self.targets.len();
            let (one, other) = (drawn(), drawn());
            let row = if drawn() % 2 == 0 || along(one) > along(other) { one } else { other };
            rows.features.extend(&self.features[row * self.dim..(row + 1) * self.dim]);
            rows.targets.push(self.targets[row]);
        }
        rows
    }

    fn deviations(&self) -> Vec<f64> {
        let count = self.targets.len() as f64;
        let column = |i: usize| self.features.iter().skip(i).step_by(self.dim);
        let deviation = |i: usize| {
            let mean = column(i).sum::<f64>() / count;
            (column(i).map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-12)
        };
        (0..self.dim).map(deviation).collect()
    }
}

/// Return 1,000 rows of a data set for the first model, rows for devices and 1,000 for a test; none, with a
/// note, where the file is missing.
fn split(name: &str, random: &mut Random) -> Option<[Rows; 3]> {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = folder.join(format!("{name}.arff"));
    if !path.exists() {
        println!("{name}: skipped, no {name}.arff in DPP_NYSTROM_DATA or in ../shared/data");
        return None;
    }
    let table = table::read(&path, &Target::Last).unwrap();
    let target = table.target.as_ref().unwrap();
    let mut order: Vec<usize> = (0..table.rows()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.next_u32() as usize % (at + 1));
    }
    let rows = |order: &[usize]| Rows {
        dim: table.dim,
        features: order.iter().flat_map(|&row| table.row(row).to_vec()).collect(),
        targets: order.iter().map(|&row| target[row]).collect(),
    };
    let (first, rest) = order.split_at(1_000);
    let (pool, test) = rest.split_at(rest.len() - 1_000);
    Some([rows(first), rows(pool), rows(test)])
}

/// Nine devices of 100 rows and one of 10,000, the reverse, and equal ones of few rows.
#[test]
fn unequal_sizes_cost_at_most_two_per_cent() {
    let mut random = Random::seeded(14);
    let model = Rows::drawn(500, &[0.0; DIM], &mut random).fit();
    let fleet = Fleet::of(&model).unwrap();
    let test = Rows::drawn(TEST_ROWS, &[0.0; DIM], &mut random);
    let sizes = |many: usize, one: usize| [vec![many; 9], vec![one]].concat();
    for (sizes, draws) in
        [(sizes(100, 10_000), 5), (sizes(10_000, 100), 2), (sizes(500, 500), 5), (sizes(100, 100), 5)]
    {
        let mut honest = Honest::default();
        for _ in 0..draws {
            let states = sizes
                .iter()
                .enumerate()
                .map(|(at, &rows)| Rows::drawn(rows, &[0.0; DIM], &mut random).state(&fleet, at));
            honest.add(&fleet, &model, &states.collect::<Vec<_>>(), &test);
        }
        honest.print(&format!("9 x {} + {} rows", sizes[0], sizes[9]));
        assert!(honest.refused == 0 && mean(&honest.errors) <= 1.02, "{sizes:?}: {}", mean(&honest.errors));
    }
}
