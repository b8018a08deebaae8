//! What a model knows of its predictions: residuals and variances against dense formulas without a triangle,
//! and when a learner has them.

use dpp_nystrom_core::kernel::{Gaussian, Kernel};
use dpp_nystrom_core::{
    Assessor, Error, Landmarks, Learner, Limits, Nystrom, Points, Random, Rarity, RidgeRegression,
    RidgeWorkspace, Standard, Uncertainty, Workspace, start,
};
use dpp_nystrom_tests::dense::solve;
use rand_core::Rng;

const C: usize = 6;
const GAMMA: f64 = 1e-3;

/// Rows of two features with targets.
fn table(count: usize) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut random = Random::seeded(5);
    let mut draw = || 4.0 * f64::from(random.next_u32()) / f64::from(u32::MAX) - 2.0;
    let rows: Vec<[f64; 2]> = (0..count).map(|_| [draw(), draw()]).collect();
    let targets = rows.iter().map(|row| row[0].sin() + row[1] + 0.1 * draw()).collect();
    (rows, targets)
}

fn kernel() -> Gaussian<f64> {
    Gaussian::new(1.5).unwrap()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The residual and the variance of a Gaussian process on these landmarks, from its normal equations.
struct Process {
    landmarks: Vec<[f64; 2]>,
    inner: Vec<f64>,
    normal: Vec<f64>,
    noise: f64,
    penalty: f64,
}

impl Process {
    fn new(landmarks: &[[f64; 2]], rows: &[[f64; 2]], targets: &[f64]) -> Self {
        let landmarks = landmarks.to_vec();
        let c = landmarks.len();
        let column = |row: &[f64; 2]| -> Vec<f64> {
            landmarks.iter().map(|landmark| kernel().value(landmark, row)).collect()
        };
        let columns: Vec<Vec<f64>> = rows.iter().map(column).collect();
        let inner_kernel: Vec<f64> = landmarks.iter().flat_map(column).collect();
        let penalty = rows.len() as f64 * GAMMA;
        let sum = |i: usize, j: usize| columns.iter().map(|k| k[i] * k[j]).sum::<f64>();
        let normal: Vec<f64> =
            (0..c * c).map(|at| sum(at / c, at % c) + penalty * inner_kernel[at]).collect();
        let right: Vec<f64> =
            (0..c).map(|i| columns.iter().zip(targets).map(|(k, y)| k[i] * y).sum()).collect();
        let weights = solve(&normal, c, &right);
        let errors = columns.iter().zip(targets).map(|(k, y)| (inner(k, &weights) - y).powi(2));
        let product: Vec<f64> = inner_kernel.chunks(c).map(|row| inner(row, &weights)).collect();
        let noise = (errors.sum::<f64>() + penalty * inner(&weights, &product)) / rows.len() as f64;
        Self { landmarks, inner: inner_kernel, normal, noise, penalty }
    }

    /// The residual and the variance at a row.
    fn at(&self, row: &[f64; 2]) -> [f64; 2] {
        let column: Vec<f64> = self.landmarks.iter().map(|landmark| kernel().value(landmark, row)).collect();
        let known = |matrix: &[f64]| inner(&column, &solve(matrix, column.len(), &column));
        let residual = 1.0 - known(&self.inner);
        [residual, self.noise * (residual / self.penalty + known(&self.normal) + 1.0)]
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
}

#[test]
fn the_variance_is_that_of_the_gaussian_process() {
    let (rows, targets) = table(60);
    let ground = Points::new(rows.as_flattened(), 2, kernel()).unwrap();
    let (mut memory, mut ridge_memory) = (Workspace::<f64, C>::new(), RidgeWorkspace::<f64, C>::new());
    let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &[3, 11, 20, 31, 44, 52]).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge = RidgeRegression::<f64>::new(C, ridge_memory.lend()).unwrap();
    let mut phi = [0.0; C];
    let fit = |ridge: &mut RidgeRegression<'_, f64>, phi: &mut [f64; C], left_out: usize, gamma: f64| {
        for at in (0..rows.len()).filter(|&at| at != left_out) {
            nystrom.features(at, phi).unwrap();
            ridge.add(phi, targets[at]).unwrap();
        }
        let weights: Vec<f64> = ridge.solve(gamma).unwrap().weights.iter().collect();
        weights
    };
    assert_eq!(ridge.variance(0.0, &mut phi), Err(Error::Unsolved));
    let weights = fit(&mut ridge, &mut phi, usize::MAX, GAMMA);
    let members: Vec<[f64; 2]> = landmarks.members().iter().map(|&at| rows[at]).collect();
    let process = Process::new(&members, &rows, &targets);
    close(ridge.solved().unwrap().noise, process.noise);
    let at = |point: &[f64; 2], ridge: &RidgeRegression<'_, f64>, phi: &mut [f64; C]| {
        ground.column_at(point, landmarks.members(), phi).unwrap();
        let residual = nystrom.residual_at(0, 1.0, phi).unwrap();
        [residual, ridge.variance(residual, phi).unwrap()]
    };
    for point in [[0.0, 0.0], [1.0, -1.5], [2.5, 0.5], [4.0, 4.0], members[2]] {
        let (found, expected) = (at(&point, &ridge, &mut phi), process.at(&point));
        close(found[0], expected[0]);
        close(found[1], expected[1]);
    }
    // Far from all landmarks: the prior.
    close(at(&[90.0, 90.0], &ridge, &mut phi)[1], process.noise * (1.0 / process.penalty + 1.0));

    // The leverage: the residual of a row in a regression without it.
    for left_out in [0, 31, 59] {
        nystrom.features(left_out, &mut phi).unwrap();
        let residual = targets[left_out] - inner(&phi, &weights);
        let leverage = ridge.leverage(&mut phi).unwrap();
        let mut memory = RidgeWorkspace::<f64, C>::new();
        let mut without = RidgeRegression::<f64>::new(C, memory.lend()).unwrap();
        let weights = fit(&mut without, &mut phi, left_out, GAMMA * 60.0 / 59.0);
        nystrom.features(left_out, &mut phi).unwrap();
        close(residual / (1.0 - leverage), targets[left_out] - inner(&phi, &weights));
    }

    // Rows that are added do not count before the next solution; a γ of 0 has no variance, nor has a state
    // that was read.
    let before = at(&[1.0, 1.0], &ridge, &mut phi);
    ridge.add(&[1.0; C], 3.0).unwrap();
    ridge.forget(0.5).unwrap();
    assert_eq!(at(&[1.0, 1.0], &ridge, &mut phi), before);
    let _ = ridge.solve(GAMMA).unwrap();
    assert_ne!(at(&[1.0, 1.0], &ridge, &mut phi), before);
    assert_eq!(ridge.leverage(&mut [0.0; C - 1]), Err(Error::Length { expected: C, found: C - 1 }));
    let _ = ridge.solve(0.0).unwrap();
    assert_eq!(ridge.leverage(&mut phi), Err(Error::Unsolved));
    let _ = ridge.solve(GAMMA).unwrap();
    ridge.settle().unwrap();
    let numbers: Vec<f64> = ridge.numbers().unwrap().collect();
    ridge.restore(61, &numbers).unwrap();
    assert_eq!(ridge.leverage(&mut phi), Err(Error::Unsolved));
}

type Device = Learner<C, 2, Gaussian<f64>, f64>;

fn learned(rows: &[[f64; 2]], targets: &[f64]) -> Device {
    let mut learner = Device::new();
    let standard = Standard { means: [1.0, 2.0], scales: [0.5, 0.25], target_mean: 10.0, target_scale: 3.0 };
    learner.start_scaled(kernel(), &standard).unwrap();
    learner.select(&rows.iter().map(raw).collect::<Vec<_>>(), &mut Random::seeded(7)).unwrap();
    for (row, target) in rows.iter().zip(targets) {
        learner.learn(&raw(row), 10.0 + 3.0 * target).unwrap();
    }
    learner
}

fn raw(row: &[f64; 2]) -> [f64; 2] {
    [row[0] / 0.5 + 1.0, row[1] / 0.25 + 2.0]
}

#[test]
fn a_learner_and_an_assessor_agree_with_the_process() {
    let (rows, targets) = table(60);
    let mut learner = learned(&rows, &targets);
    assert!(matches!(learner.assess(&raw(&rows[0])), Err(Error::Phase { .. })));
    learner.solve(GAMMA).unwrap();
    let landmarks = learner.rows().to_vec();
    let process = Process::new(&landmarks, &rows, &targets);

    // A model in flash, from a factor and a regression in the order of its landmarks.
    let ground = Points::new(landmarks.as_flattened(), 2, kernel()).unwrap();
    let (mut memory, mut ridge_memory) = (Workspace::<f64, C>::new(), RidgeWorkspace::<f64, C>::new());
    let mut set = Landmarks::new(&ground, memory.lend()).unwrap();
    start::given(&mut set, &[0, 1, 2, 3, 4, 5]).unwrap();
    let nystrom = Nystrom::new(&set);
    let mut ridge = RidgeRegression::<f64>::new(C, ridge_memory.lend()).unwrap();
    let mut phi = [0.0; C];
    for (row, &target) in rows.iter().zip(&targets) {
        ground.column_at(row, set.members(), &mut phi).unwrap();
        nystrom.transform(&mut phi).unwrap();
        ridge.add(&phi, target).unwrap();
    }
    let _ = ridge.solve(GAMMA).unwrap();
    let factor: Vec<f64> = (0..C).flat_map(|i| set.factor().row(i).to_vec()).collect();
    let triangle: Vec<f64> = ridge.solved_triangle().collect();
    let uncertainty = Uncertainty { factor: &factor, triangle: &triangle, solved: ridge.solved().unwrap() };
    let limits = Limits { range: [0.0, 20.0], nearest: [0.5, 1.0, 2.0], residual: [0.1, 0.2, 0.9] };

    // A learner divides by what a row of the mean residual has.
    let mean = rows.iter().map(|row| process.at(row)[0]).sum::<f64>() / 60.0;
    let usual = mean / (60.0 * GAMMA) + 1.0;
    let far = [9.0, 9.0];
    for point in [[0.0, 0.0], [1.0, -1.5], far, landmarks[1]] {
        let found = learner.assess(&raw(&point)).unwrap();
        let model = learner.model().unwrap();
        let own_kernel = model.kernel();
        let assessor = Assessor::new(model, Some(limits), Some(uncertainty)).unwrap();
        let exported = assessor.assess(&raw(&point), &mut [0.0; 2 + C]).unwrap();
        assert_eq!(found.value, learner.predict(&raw(&point)).unwrap());
        let nearest = landmarks.iter().map(|l| (l[0] - point[0]).hypot(l[1] - point[1])).fold(9e9, f64::min);
        let [residual, variance] = process.at(&point);
        assert_eq!(own_kernel.diagonal(&point), 1.0);
        for (assessment, variance) in [(found, variance / usual), (exported, variance)] {
            assert_eq!(assessment.value, found.value);
            close(assessment.nearest, nearest);
            close(assessment.residual.unwrap(), residual);
            close(assessment.variance.unwrap(), 9.0 * variance);
            assert_eq!(limits.is_novel(&assessment, Rarity::Hundredth), point == far);
        }
        let room = assessor.assess(&raw(&point), &mut [0.0; 1 + C]).unwrap_err();
        assert_eq!(room, Error::Capacity { needed: 2 + C, have: 1 + C });
    }
    let short = Uncertainty { triangle: &triangle[1..], ..uncertainty };
    let error = Assessor::new(learner.model().unwrap(), None, Some(short)).unwrap_err();
    assert_eq!(error, Error::Length { expected: 21, found: 20 });
    assert!(matches!(learner.assess(&[f64::NAN, 0.0]), Err(Error::NotFinite { column: 0, .. })));
}

#[test]
fn a_learner_has_no_variance_of_another_triangle() {
    let (rows, targets) = table(60);
    let mut learner = learned(&rows, &targets);
    learner.solve(GAMMA).unwrap();
    let point = raw(&[0.3, -0.7]);
    let variance = |learner: &mut Device| learner.assess(&point).unwrap().variance;
    let first = variance(&mut learner).unwrap();

    // Discounts and refused calls leave that of the last solution, rows all but what they say of its errors.
    learner.forget(0.9).unwrap();
    assert_eq!(learner.solve(-1.0), Err(Error::Ridge));
    assert_eq!(variance(&mut learner), Some(first));
    learner.learn(&raw(&[0.1, 0.1]), 1e3).unwrap();
    let surprised = variance(&mut learner).unwrap() / first;
    assert!((1.01..1.03).contains(&surprised), "{surprised}");
    learner.solve(GAMMA).unwrap();
    let second = variance(&mut learner).unwrap();
    assert_ne!(first, second);

    // A state that was read has none before its own solution, which is the same bit for bit.
    let mut bytes = vec![0; Device::STATE];
    learner.write_state([0; 16], &mut bytes).unwrap();
    let mut resumed = Device::new();
    resumed.read_state(kernel(), &bytes).unwrap();
    assert_eq!(resumed.predict(&point), learner.predict(&point));
    assert_eq!(variance(&mut resumed), None);
    for learner in [&mut learner, &mut resumed] {
        learner.solve(GAMMA).unwrap();
    }
    assert_eq!(variance(&mut resumed), variance(&mut learner));

    // An exchange solves again: the variance is that of the new landmarks and of the new triangle.
    let mut exchanged = false;
    for at in 0..400 {
        let row = raw(&[rows[at % 60][0] + 3.0, rows[at % 60][1]]);
        learner.forget(0.95).unwrap();
        learner.learn(&row, 1.0).unwrap();
        exchanged = matches!(learner.exchange(&row), Ok(dpp_nystrom_core::Exchange::Replaced { .. }));
        if exchanged {
            break;
        }
    }
    assert!(exchanged);
    let found = variance(&mut learner).unwrap();
    learner.solve(GAMMA).unwrap();
    close(found, variance(&mut learner).unwrap());

    // A prior has no triangle.
    let mut prior = Device::new();
    let model = learner.model().unwrap();
    let parts = dpp_nystrom_core::Parts {
        means: model.means(),
        scaling: model.scaling(),
        landmarks: model.landmarks(),
        weights: model.weights(),
        target_mean: model.target_mean(),
        target_scale: model.target_scale(),
    };
    let model = dpp_nystrom_core::Model::new(kernel(), parts).unwrap();
    prior.start_from(&model).unwrap();
    assert_eq!(variance(&mut prior), None);
    assert!(prior.assess(&point).unwrap().residual.is_some());
}
