//! What every kernel of the list promises. Tests of the adapter compare its lanes and its gradients, and
//! those of the program its exported code.

use dpp_nystrom_core::kernel::{About, Argument, ChosenKernel, Formula, Gaussian, Kernel, KernelKind, Visit};
use faer::{Mat, Side};

const SIGMA: f64 = 0.8;
const DIM: usize = 3;

/// Value and slope at an argument.
struct At(f64);

impl Visit<f64> for At {
    type Output = [f64; 2];

    fn visit<K: Formula<f64>>(self, kernel: K) -> [f64; 2] {
        [kernel.value_of(self.0), kernel.slope_of(self.0)]
    }
}

fn kernels() -> impl Iterator<Item = (KernelKind, ChosenKernel<f64>)> {
    KernelKind::ALL.iter().map(|&kind| (kind, kind.build(SIGMA).unwrap()))
}

fn rows() -> Vec<[f64; DIM]> {
    let number = |i: usize| ((i as f64 * 1.7).sin() * 43_758.545_3).fract();
    (0..25).map(|i| std::array::from_fn(|j| number(DIM * i + j))).collect()
}

/// The argument of the formula, from its definition.
fn argument(about: About, x: &[f64], y: &[f64]) -> f64 {
    let pairs = x.iter().zip(y);
    match about.argument {
        Argument::SquaredDistance => pairs.map(|(x, y)| (x - y).powi(2)).sum(),
        Argument::L1Distance => pairs.map(|(x, y)| (x - y).abs()).sum(),
        Argument::InnerProduct => pairs.map(|(x, y)| x * y).sum(),
    }
}

#[test]
fn a_value_is_that_of_the_formula_at_the_argument() {
    for (kind, kernel) in kernels() {
        let rows = rows();
        for (x, y) in rows.iter().flat_map(|x| rows.iter().map(move |y| (x, y))) {
            let [expected, _] = kernel.visit(At(argument(kind.about(), x, y)));
            assert!((kernel.value(x, y) - expected).abs() < 1e-14 * expected.abs().max(1.0), "{kind}");
            assert_eq!(kernel.value(x, y), kernel.value(y, x), "{kind}");
        }
        assert!((kernel.diagonal(&rows[0]) - kernel.value(&rows[0], &rows[0])).abs() < 1e-14, "{kind}");
    }
}

#[test]
fn matrices_are_positive_semidefinite() {
    for (kind, kernel) in kernels() {
        let rows = rows();
        let matrix = Mat::from_fn(rows.len(), rows.len(), |i, j| kernel.value(&rows[i], &rows[j]));
        let values = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
        let [least, most] = [values[0], values[values.len() - 1]];
        assert!(least > -1e-13 * most, "{kind}: {least:e}");
        // Those of a bandwidth have full rank.
        assert_eq!(least > 1e-13 * most, kind.has_bandwidth(), "{kind}: {least:e} of {most}");
    }
}

#[test]
fn slopes_are_those_of_differences() {
    for (kind, kernel) in kernels() {
        let unit = match kind.about().argument {
            Argument::SquaredDistance => 2.0 * SIGMA * SIGMA,
            Argument::L1Distance => SIGMA,
            Argument::InnerProduct => {
                assert!(kernel.visit(At(1.0))[1].is_nan(), "{kind}");
                continue;
            }
        };
        for at in [0.01, 0.3, 1.0, 4.0, 25.0] {
            let step = 1e-5 * at;
            let [before, after] = [-step, step].map(|step| kernel.visit(At(at + step))[0]);
            let (expected, [_, found]) = (unit * (after - before) / (2.0 * step), kernel.visit(At(at)));
            assert!((found / expected - 1.0).abs() < 1e-7, "{kind} at {at}: {found} {expected}");
        }
    }
}

/// Distant rows: no product of infinity and zero.
#[test]
fn values_fall_to_zero() {
    for (kind, _) in kernels().filter(|(kind, _)| kind.has_bandwidth()) {
        let single = kind.build::<f32>(SIGMA).unwrap().value(&[3e18], &[-3e18]);
        let double = kind.build::<f64>(SIGMA).unwrap().value(&[1e100], &[-1e100]);
        assert!(
            (0.0..1e-30).contains(&single) && (0.0..1e-100).contains(&double),
            "{kind} {single} {double}"
        );
    }
}

/// `1/(1 + u) = ∫ exp(-u t) exp(-t) dt`, `u = r²/(2σ²)`: a mixture of Gaussian kernels, by Simpson's rule.
#[test]
fn the_rational_quadratic_kernel_is_a_mixture_of_gaussians() {
    let mixed = KernelKind::RationalQuadratic.build::<f64>(SIGMA).unwrap();
    for distance in [0.0, 0.1, 0.5, 1.0, 2.0] {
        let (step, intervals) = (0.005, 8_000);
        let integrand = |at: usize| {
            let precision = step * at as f64;
            let gaussian = match at {
                0 => 1.0,
                _ => {
                    let gaussian = Gaussian::new(SIGMA / precision.sqrt()).unwrap();
                    gaussian.value(&[distance], &[0.0])
                }
            };
            gaussian * (-precision).exp()
        };
        let inner: f64 = (1..intervals).map(|at| [2.0, 4.0][at % 2] * integrand(at)).sum();
        let integral = step / 3.0 * (integrand(0) + inner + integrand(intervals));
        let found = mixed.value(&[distance], &[0.0]);
        assert!((found - integral).abs() < 1e-9, "{distance}: {found} {integral}");
    }
}
