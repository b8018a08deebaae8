//! Learners of a stream in the memory of a device, each predicting a row first, and the detector.
//! `device.py` builds and runs it, so that the workspace does not depend on the rivals:
//!
//!     device METHOD SIZE LAMBDA WIDTH ROWS PREDICTIONS    rows of WIDTH features and a target
//!     device detector 16 1 WIDTH ROWS SCORES              rows of WIDTH features and 0 or 1: to learn from
//!
//! Files are of little-endian f32. It prints the bytes of the learner, its heap included at its largest.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Detector, Error, Learner, Phase, Random};
use irithyll_core::ensemble::SGBT;
use irithyll_core::ensemble::config::SGBTConfig;
use irithyll_core::loss::squared::SquaredLoss;
use irithyll_core::sample::SampleRef;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Rows that a scaling is measured on, and offered for each landmark: those of the core's README.
const SCALED: u32 = 100;
const OFFERED: usize = 16;
/// Rows between two solutions, and between two choices of γ.
const SOLVED: u64 = 16;
const CHOSEN: u64 = 256;
const NEIGHBOURS: usize = 5;

trait Online {
    fn bytes(&self) -> usize;
    fn predict(&mut self, row: &[f32]) -> f32;
    fn learn(&mut self, row: &[f32], target: f32);
}

struct Own<const C: usize, const D: usize> {
    learner: Box<Learner<C, D>>,
    random: Random,
    lambda: f32,
    offered: usize,
    gamma: f32,
    mean: f32,
    rows: f32,
}

/// Freeze a scaling, and allow the columns that are constant.
fn allow(mut freeze: impl FnMut(&[usize]) -> Result<(), Error>) {
    let mut constant = Vec::new();
    while let Err(error) = freeze(&constant) {
        let Error::Constant { column } = error else { panic!("{error}") };
        constant.push(column);
    }
}

impl<const C: usize, const D: usize> Own<C, D> {
    fn new(lambda: f32) -> Self {
        let mut learner = Box::new(Learner::new());
        // 6 for 4 features, as in the core's README.
        learner.start(Gaussian::new(3.0 * (D as f32).sqrt()).unwrap());
        Self { learner, random: Random::seeded(7), lambda, offered: 0, gamma: 0.0, mean: 0.0, rows: 0.0 }
    }

    fn learn_row(&mut self, row: &[f32; D], target: f32) -> Result<(), Error> {
        let learner = &mut self.learner;
        match learner.phase() {
            Phase::Scaling => {
                learner.scale(row, target)?;
                if self.rows as u32 == SCALED {
                    allow(|columns| learner.freeze_scaling_allowing(columns));
                }
            }
            Phase::Selecting => {
                learner.offer(row, &mut self.random)?;
                self.offered += 1;
                if self.offered == OFFERED * C {
                    learner.freeze_landmarks()?;
                }
            }
            _ => {
                if self.lambda < 1.0 {
                    learner.forget(self.lambda)?;
                }
                learner.learn(row, target)?;
                if self.lambda < 1.0 {
                    learner.exchange(row)?;
                }
                let learned = learner.learned();
                if learned.is_multiple_of(CHOSEN) || learned >= SOLVED && learned.is_power_of_two() {
                    self.gamma = learner.choose_gamma()?;
                }
                if learned.is_multiple_of(SOLVED) {
                    learner.solve(self.gamma)?;
                }
            }
        }
        Ok(())
    }
}

impl<const C: usize, const D: usize> Online for Own<C, D> {
    fn bytes(&self) -> usize {
        size_of::<Learner<C, D>>()
    }

    fn predict(&mut self, row: &[f32]) -> f32 {
        match self.learner.phase() {
            Phase::Predicting => self.learner.predict(row.try_into().unwrap()).unwrap(),
            _ => self.mean,
        }
    }

    fn learn(&mut self, row: &[f32], target: f32) {
        self.rows += 1.0;
        self.mean += (target - self.mean) / self.rows;
        match self.learn_row(row.try_into().unwrap(), target) {
            // A feature that was constant in the scaling.
            Ok(()) | Err(Error::Changed { .. }) => {}
            Err(error) => panic!("row {}: {error}", self.rows),
        }
    }
}

/// Means and deviations of the first rows.
struct Scaling {
    means: Vec<f32>,
    squares: Vec<f32>,
    rows: u32,
}

impl Scaling {
    fn new(width: usize) -> Self {
        Self { means: vec![0.0; width], squares: vec![0.0; width], rows: 0 }
    }

    /// Whether the row is one of those that the scaling is measured on.
    fn took(&mut self, row: &[f32]) -> bool {
        if self.rows == SCALED {
            return false;
        }
        self.rows += 1;
        for ((mean, square), &value) in self.means.iter_mut().zip(&mut self.squares).zip(row) {
            let before = value - *mean;
            *mean += before / self.rows as f32;
            *square += before * (value - *mean);
        }
        true
    }

    fn standard<'s>(&'s self, row: &'s [f32]) -> impl Iterator<Item = f32> + 's {
        let scale = |&square: &f32| if square > 0.0 { (SCALED as f32 / square).sqrt() } else { 0.0 };
        row.iter().zip(&self.means).zip(self.squares.iter().map(scale)).map(|((x, mean), s)| (x - mean) * s)
    }

    fn bytes(&self) -> usize {
        8 * self.means.len() + 4
    }
}

/// Recursive least squares of a line, with a constant.
struct Line {
    scaling: Scaling,
    lambda: f32,
    inverse: Vec<f32>,
    weights: Vec<f32>,
    row: Vec<f32>,
    gain: Vec<f32>,
}

impl Line {
    fn new(width: usize, lambda: f32) -> Self {
        let m = width + 1;
        let mut inverse = vec![0.0; m * m];
        inverse.iter_mut().step_by(m + 1).for_each(|entry| *entry = 100.0);
        let [weights, row, gain] = [0.0; 3].map(|zero| vec![zero; m]);
        Self { scaling: Scaling::new(width), lambda, inverse, weights, row, gain }
    }

    fn set(&mut self, row: &[f32]) {
        self.row.clear();
        self.row.extend(self.scaling.standard(row).chain([1.0]));
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Online for Line {
    fn bytes(&self) -> usize {
        self.scaling.bytes() + 4 * (self.inverse.len() + 3 * self.row.len() + 1)
    }

    fn predict(&mut self, row: &[f32]) -> f32 {
        self.set(row);
        dot(&self.row, &self.weights)
    }

    fn learn(&mut self, row: &[f32], target: f32) {
        if self.scaling.took(row) {
            return;
        }
        self.set(row);
        let m = self.row.len();
        for (gain, line) in self.gain.iter_mut().zip(self.inverse.chunks(m)) {
            *gain = dot(line, &self.row);
        }
        let divisor = self.lambda + dot(&self.gain, &self.row);
        let error = target - dot(&self.row, &self.weights);
        for i in 0..m {
            self.weights[i] += self.gain[i] / divisor * error;
            for j in 0..=i {
                let entry = (self.inverse[i * m + j] - self.gain[i] * self.gain[j] / divisor) / self.lambda;
                self.inverse[i * m + j] = entry;
                self.inverse[j * m + i] = entry;
            }
        }
    }
}

/// The mean of the nearest of the last rows.
struct Nearest {
    scaling: Scaling,
    rows: Vec<f32>,
    width: usize,
    count: usize,
    next: usize,
    query: Vec<f32>,
}

impl Nearest {
    /// As many rows as fit into so many bytes.
    fn new(width: usize, bytes: usize) -> Self {
        let scaling = Scaling::new(width);
        let capacity = (bytes - scaling.bytes() - 8 * NEIGHBOURS - 4 * width - 8) / (4 * (width + 1));
        Self { scaling, rows: vec![0.0; capacity * (width + 1)], width, count: 0, next: 0, query: vec![] }
    }
}

impl Online for Nearest {
    fn bytes(&self) -> usize {
        self.scaling.bytes() + 4 * self.rows.len() + 8 * NEIGHBOURS + 4 * self.width + 8
    }

    fn predict(&mut self, row: &[f32]) -> f32 {
        self.query.clear();
        self.query.extend(self.scaling.standard(row));
        let mut nearest = [(f32::INFINITY, 0.0); NEIGHBOURS];
        for stored in self.rows.chunks(self.width + 1).take(self.count) {
            let squares = stored.iter().zip(&self.query).map(|(a, b)| (a - b) * (a - b));
            let mut carried = (squares.sum::<f32>(), stored[self.width]);
            for slot in &mut nearest {
                if carried.0 < slot.0 {
                    std::mem::swap(slot, &mut carried);
                }
            }
        }
        let found = NEIGHBOURS.min(self.count).max(1);
        nearest[..found].iter().map(|one| one.1).sum::<f32>() / found as f32
    }

    fn learn(&mut self, row: &[f32], target: f32) {
        if self.scaling.took(row) {
            return;
        }
        let w = self.width + 1;
        let slot = &mut self.rows[self.next * w..(self.next + 1) * w];
        for (slot, value) in slot.iter_mut().zip(self.scaling.standard(row).chain([target])) {
            *slot = value;
        }
        self.next = (self.next + 1) % (self.rows.len() / w);
        self.count = (self.count + 1).min(self.rows.len() / w);
    }
}

/// Streaming boosted trees.
struct Trees {
    model: SGBT<SquaredLoss>,
    before: usize,
    most: usize,
    row: Vec<f64>,
}

fn live() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

impl Trees {
    fn new(trees: usize, small: bool) -> Self {
        let before = live();
        let mut config = SGBTConfig::builder().n_steps(trees).learning_rate((2.5 / trees as f64).min(0.5));
        if small {
            config = config.n_bins(8).max_depth(3);
        }
        Self { model: SGBT::with_loss(config.build().unwrap(), SquaredLoss), before, most: 0, row: vec![] }
    }

    fn set(&mut self, row: &[f32]) {
        self.row.clear();
        self.row.extend(row.iter().map(|&value| f64::from(value)));
    }
}

impl Online for Trees {
    fn bytes(&self) -> usize {
        self.most + size_of::<SGBT<SquaredLoss>>()
    }

    fn predict(&mut self, row: &[f32]) -> f32 {
        self.set(row);
        self.model.predict(&self.row) as f32
    }

    fn learn(&mut self, row: &[f32], target: f32) {
        self.set(row);
        self.model.train_one(&SampleRef::new(&self.row, f64::from(target)));
        self.most = self.most.max(live().saturating_sub(self.before));
    }
}

/// The scores of all rows, by a detector that has seen those whose last number is 1, repeated if few.
fn detect<const D: usize>(rows: &[f32]) -> (usize, Vec<f32>) {
    const C: usize = 16;
    let mut detector = Box::new(Detector::<C, D>::new());
    let mut random = Random::seeded(7);
    let features = |row: &[f32]| <[f32; D]>::try_from(&row[..D]).unwrap();
    let shown: Vec<[f32; D]> = rows.chunks(D + 1).filter(|row| row[D] == 1.0).map(features).collect();
    let mut shown = shown.iter().cycle();
    // 3 for 4 features, as in the core's README.
    detector.start(Gaussian::new(1.5 * (D as f32).sqrt()).unwrap(), 100).unwrap();
    shown.by_ref().take(SCALED as usize).for_each(|row| detector.scale(row, &mut random).unwrap());
    allow(|columns| detector.freeze_scaling_allowing(columns));
    for row in shown.take(OFFERED * C) {
        match detector.offer(row, &mut random) {
            Ok(_) | Err(Error::Changed { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    detector.freeze_landmarks().unwrap();
    let scores = rows.chunks(D + 1).map(|row| detector.score(&features(row)).unwrap()).collect();
    (size_of::<Detector<C, D>>(), scores)
}

macro_rules! of_width {
    ($width:expr, $call:ident $arguments:tt; $($d:literal)*) => {
        match $width {
            $($d => $call::<$d> $arguments,)*
            other => panic!("no learner of {other} features"),
        }
    };
}

fn own<const D: usize>(landmarks: usize, lambda: f32) -> Box<dyn Online> {
    match landmarks {
        16 => Box::new(Own::<16, D>::new(lambda)),
        32 => Box::new(Own::<32, D>::new(lambda)),
        _ => panic!("16 or 32 landmarks"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, size, lambda, width, rows, out] = arguments.as_slice() else { panic!("six arguments") };
    let (size, width): (usize, usize) = (size.parse().unwrap(), width.parse().unwrap());
    let lambda: f32 = lambda.parse().unwrap();
    let bytes = std::fs::read(rows).unwrap();
    let rows: Vec<f32> = bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word)).collect();
    let mut predictions = Vec::with_capacity(rows.len());
    let used = if method == "detector" {
        let (used, scores) = of_width!(width, detect(&rows); 4 8 9 13 18 30 64);
        predictions = scores;
        used
    } else {
        let mut learner = match method.as_str() {
            "own" => of_width!(width, own(size, lambda); 3 4 6 8 10 12),
            "line" => Box::new(Line::new(width, lambda)),
            "nearest" => Box::new(Nearest::new(width, size)),
            "trees" => Box::new(Trees::new(size, false)),
            "small-trees" => Box::new(Trees::new(size, true)),
            _ => panic!("no learner {method}"),
        };
        for row in rows.chunks(width + 1) {
            predictions.push(learner.predict(&row[..width]));
            learner.learn(&row[..width], row[width]);
        }
        learner.bytes()
    };
    std::fs::write(out, predictions.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    println!("{used}");
}
