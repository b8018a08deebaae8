//! Deciding a swap without solving a linear system: bounds on `zᵀ A⁻¹ z` by Gauss-Radau quadrature.
//!
//! C. Li, S. Sra and S. Jegelka, *Gaussian quadrature for matrix inverse forms with applications*, ICML 2016,
//! which gives the bounds and their test of a k-DPP's swap; the rules are Golub's (1973). Let `J_i` be the
//! matrix of `i` Lanczos steps from `z`, extended by one row such that `a` is an eigenvalue. Then
//! `‖z‖² (J⁻¹)_11` is
//!
//! - at least `zᵀ A⁻¹ z` for `0 < a <= λ_min(A)`, and decreases with every step;
//! - at most `zᵀ A⁻¹ z` for `a >= λ_max(A)`, and increases with every step.
//!
//! A step is a product with `A`, `n²` multiply-adds. [`decide`] compares the residuals of a swap,
//! `s_v > θ s_u` with `s_v = k(v, v) - k_vᵀ A⁻¹ k_v` and `A` the kernel matrix of the remaining members. It
//! refines the wider of the two intervals until they are disjoint.
//!
//! # Departures
//!
//! Every new basis vector is orthogonalised against all earlier ones, twice: otherwise the recurrence loses
//! orthogonality, and the upper bound may rise again. Rounding changes a form by about `n ε λ_max ‖A⁻¹z‖²`,
//! which is estimated from `J` and added to the bounds. If the intervals still overlap then, the swap is
//! undecided, and the caller solves.
//!
//! # Measured cost
//!
//! Quadrature does not pay for this project's chains. They keep the factor of `K_YY`, so a swap costs one
//! forward substitution and its rotations, `O(c²)`: as much as a few products, and a decision takes several
//! for each of two forms. It can pay where every decision would otherwise cost a factorisation, `c³/3`, and
//! the bandwidth is so small that a few products decide. Relative time of a decision on a shared machine
//! (`cargo bench -p dpp-nystrom-lab --bench chain -- quadrature`, 3,000 generated rows of 8 features, twelve
//! swaps, σ as a multiple of the median distance; the bound on the smallest eigenvalue is given):
//! | σ | c | products | relative to the kept factor | relative to a factorisation |
//! | --- | --- | --- | --- | --- |
//! | 0.3 | 20 | 0.8 | 0.7 | 0.17 |
//! | 0.3 | 100 | 5 | 2.2 | 0.14 |
//! | 0.3 | 200 | 8 | 3.6 | 0.15 |
//! | 1 | 20 | 15 | 13 | 2.9 |
//! | 1 | 100 | 51 | 31 | 2.2 |
//! | 1 | 200 | 92 | 50 | 2.3 |
//! | 3 | 200 | 166 | 111 | 5.2 |
//!
//! At the median bandwidth and above it pays for no c: the spectrum is so wide that a decision takes about
//! c/2 products or more (the same at c = 400 and 800). At 0.3 of the median it pays from c = 20 on, but only
//! against a factorisation.

use dpp_nystrom::core::Cholesky;

/// An interval that contains `zᵀ A⁻¹ z`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

/// An interval that contains the eigenvalues of `A`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Positive, and at most the smallest eigenvalue.
    pub least: f64,
    /// At least the largest eigenvalue.
    pub largest: f64,
}

impl Range {
    /// Bound the spectrum of a positive definite matrix, given row by row in a slice of `n²` entries, from
    /// its own factor or from the factor of a kernel matrix of which it is a principal submatrix, such as
    /// that of all members.
    ///
    /// The largest eigenvalue is at most the maximum row sum of absolute values (Gershgorin). The smallest is
    /// at least `1/tr K⁻¹`, which also holds for a principal submatrix by Cauchy interlacing; half of that
    /// allows for rounding. `c³/6` multiply-adds; recompute after an accepted swap.
    pub fn of(matrix: &[f64], factor: &Cholesky<'_, f64>) -> Self {
        let n = matrix.len().isqrt();
        let sums = matrix.chunks_exact(n.max(1)).map(|row| row.iter().map(|entry| entry.abs()).sum());
        let largest = sums.fold(f64::MIN_POSITIVE, f64::max);
        // tr K⁻¹ = ‖L⁻¹‖²: one substitution per unit vector, starting at its own index.
        let order = factor.order();
        let mut inverse_trace = 0.0;
        let mut column = vec![0.0; order];
        for j in 0..order {
            for i in j..order {
                let row = factor.row(i);
                let unit = if i == j { 1.0 } else { 0.0 };
                column[i] = (unit - dot(&row[j..i], &column[j..i])) / factor.pivot(i);
                inverse_trace += column[i] * column[i];
            }
        }
        let least = (0.5 / inverse_trace).clamp(f64::MIN_POSITIVE, 0.5 * largest);
        Self { least, largest: largest * (1.0 + n as f64 * f64::EPSILON) }
    }
}

/// The Lanczos process on a matrix and a vector, and the bounds from it.
#[derive(Clone, Debug)]
pub struct Quadrature<'a> {
    matrix: &'a [f64],
    n: usize,
    range: Range,
    /// `‖z‖²`.
    square: f64,
    basis: Vec<Vec<f64>>,
    /// The next basis vector; none once the Krylov space is exhausted.
    next: Option<Vec<f64>>,
    alphas: Vec<f64>,
    betas: Vec<f64>,
    /// The last pivots of `J`, `J - least` and `J - largest`.
    pivots: [f64; 3],
    /// `Π β/δ`.
    product: f64,
    /// `(J⁻¹)_11`, Gauss' rule.
    gauss: f64,
    bounds: Bounds,
}

impl<'a> Quadrature<'a> {
    /// Start on a positive definite matrix, given row by row in a slice of `n²` entries, and a vector of `n`.
    /// Before the first step the bounds are `‖z‖²` over the ends of the range.
    ///
    /// # Errors
    /// [`dpp_nystrom::core::Error::Length`] unless the matrix has `n²` entries.
    pub fn new(matrix: &'a [f64], z: &[f64], range: Range) -> Result<Self, dpp_nystrom::core::Error> {
        let n = z.len();
        if n * n != matrix.len() {
            return Err(dpp_nystrom::core::Error::Length { expected: n * n, found: matrix.len() });
        }
        let square = dot(z, z);
        let norm = square.sqrt();
        let next = (norm > 0.0).then(|| z.iter().map(|entry| entry / norm).collect());
        Ok(Self {
            matrix,
            n,
            range,
            square,
            basis: Vec::new(),
            next,
            alphas: Vec::new(),
            betas: Vec::new(),
            pivots: [0.0; 3],
            product: 1.0,
            gauss: 0.0,
            bounds: Bounds { lower: square / range.largest, upper: square / range.least },
        })
    }

    /// Return the bounds after the steps made so far.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Return the number of steps made.
    pub fn steps(&self) -> usize {
        self.basis.len()
    }

    /// Make one step: a product with the matrix, and `2 i n` multiply-adds in step `i` for the
    /// orthogonalisation. Return false if no step is left: after `n` steps, or once the Krylov space is
    /// exhausted.
    pub fn refine(&mut self) -> bool {
        let Some(vector) = self.next.take() else { return false };
        let mut image: Vec<f64> = self.matrix.chunks_exact(self.n).map(|row| dot(row, &vector)).collect();
        let alpha = dot(&image, &vector);
        self.basis.push(vector);
        for _ in 0..2 {
            for known in &self.basis {
                let share = dot(known, &image);
                image.iter_mut().zip(known).for_each(|(entry, known)| *entry -= share * known);
            }
        }
        let beta = dot(&image, &image).sqrt();
        let first = self.alphas.is_empty();
        let before = self.betas.last().copied().unwrap_or(0.0);
        let shifts = [0.0, self.range.least, self.range.largest];
        let old = self.pivots;
        for ((pivot, shift), old) in self.pivots.iter_mut().zip(shifts).zip(old) {
            *pivot = alpha - shift - if first { 0.0 } else { before * before / old };
        }
        if !first {
            self.product *= before / old[0];
        }
        self.alphas.push(alpha);
        self.betas.push(beta);
        self.gauss += self.product * self.product / self.pivots[0];
        let closed = self.steps() == self.n || !(beta > self.n as f64 * f64::EPSILON * self.range.largest);
        let rule = |node: f64, pivot: f64| {
            let last = node + beta * beta / pivot - beta * beta / self.pivots[0];
            let product = self.product * beta / self.pivots[0];
            self.square * (self.gauss + product * product / last)
        };
        let [lower, upper] = if closed {
            [self.square * self.gauss; 2]
        } else {
            [rule(self.range.largest, self.pivots[2]), rule(self.range.least, self.pivots[1])]
        };
        // Keep the earlier bounds where rounding makes the new ones worse.
        let Bounds { lower: before_lower, upper: before_upper } = self.bounds;
        self.bounds = Bounds { lower: lower.max(before_lower), upper: upper.min(before_upper) };
        if !closed {
            image.iter_mut().for_each(|entry| *entry /= beta);
            self.next = Some(image);
        }
        true
    }

    /// Estimate the effect of rounding on the form: `n ε λ_max ‖A⁻¹z‖²`, with `A⁻¹z` from `J`. `O(i)`.
    pub fn rounding(&self) -> f64 {
        // J = L D Lᵀ; the first column of its inverse, computed from the last entry up.
        let steps = self.alphas.len();
        let mut pivots = Vec::with_capacity(steps);
        let mut pivot = 0.0;
        for (at, alpha) in self.alphas.iter().enumerate() {
            let before = if at > 0 { self.betas[at - 1] } else { 0.0 };
            pivot = if at > 0 { alpha - before * before / pivot } else { *alpha };
            pivots.push(pivot);
        }
        let mut forward = 1.0;
        let mut column: Vec<f64> = Vec::with_capacity(steps);
        for (at, pivot) in pivots.iter().enumerate() {
            column.push(forward / pivot);
            forward *= -self.betas[at] / pivot;
        }
        for at in (1..steps).rev() {
            let below = column[at];
            column[at - 1] -= self.betas[at - 1] / pivots[at - 1] * below;
        }
        self.n as f64 * f64::EPSILON * self.range.largest * self.square * dot(&column, &column)
    }
}

/// One point of a swap: its diagonal kernel entry and its column with the remaining members.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// `k(v, v)`.
    pub diagonal: f64,
    /// `k_v`, one entry for each of the `c - 1` remaining members.
    pub column: &'a [f64],
}

/// The outcome of a swap decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether `s_v > θ s_u`; none if the difference is below the rounding error.
    pub exceeds: Option<bool>,
    /// Number of products with the matrix.
    pub products: usize,
}

/// Decide whether the residual of the entering point exceeds `threshold` times that of the leaving one, given
/// the remaining members, whose kernel matrix is `matrix`. With [`dpp_nystrom::core::Acceptance::threshold`]
/// for a leaving residual of 1, this is whether the chain accepts the swap.
///
/// # Errors
/// [`dpp_nystrom::core::Error::Length`] unless the lengths agree.
pub fn decide(
    matrix: &[f64],
    range: Range,
    entering: Side<'_>,
    leaving: Side<'_>,
    threshold: f64,
) -> Result<Decision, dpp_nystrom::core::Error> {
    let mut one = Quadrature::new(matrix, entering.column, range)?;
    let mut other = Quadrature::new(matrix, leaving.column, range)?;
    loop {
        let products = one.steps() + other.steps();
        let (in_one, in_other) = (residual(entering.diagonal, &one), residual(leaving.diagonal, &other));
        let below = in_one.upper <= threshold * in_other.lower;
        if below || in_one.lower > threshold * in_other.upper {
            return Ok(Decision { exceeds: Some(!below), products });
        }
        let width = |bounds: Bounds| bounds.upper - bounds.lower;
        let wider = width(in_one) >= threshold * width(in_other);
        let (first, second) = if wider { (&mut one, &mut other) } else { (&mut other, &mut one) };
        let refined = first.refine() || second.refine();
        if !refined {
            return Ok(Decision { exceeds: None, products });
        }
    }
}

/// Return an interval for `k(v, v) - zᵀA⁻¹z`, clamped at zero and widened by the rounding error.
fn residual(diagonal: f64, form: &Quadrature<'_>) -> Bounds {
    let Bounds { lower, upper } = form.bounds();
    let room = form.rounding() + form.n as f64 * f64::EPSILON * diagonal;
    Bounds { lower: (diagonal - upper - room).max(0.0), upper: diagonal - lower + room }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    // Four independent sums, which the compiler vectorises.
    let mut sums = [0.0; 4];
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::{Quadrature, Range, Side as Point, decide};
    use crate::rng::{Stream, stream};
    use dpp_nystrom::core::{
        Acceptance, Error, GroundSet, Landmarks, Points, Random, Scalar, kernel::Gaussian, start,
    };
    use dpp_nystrom::faer::{Mat, Side};
    use dpp_nystrom_host::heap::Heap;
    use rand_core::Rng;

    fn rows(count: usize, dim: usize, random: &mut Random) -> Vec<f64> {
        (0..count * dim).map(|_| 4.0 * f64::from_draw(random.next_u32()) - 2.0).collect()
    }

    /// Return the matrix of some rows, and the column of another.
    fn matrix<G: GroundSet<f64>>(ground: &G, members: &[usize]) -> Vec<f64> {
        members.iter().flat_map(|&i| members.iter().map(move |&j| ground.entry(i, j))).collect()
    }

    fn column<G: GroundSet<f64>>(ground: &G, row: usize, members: &[usize]) -> Vec<f64> {
        members.iter().map(|&member| ground.entry(row, member)).collect()
    }

    #[test]
    fn bounds_bracket_the_form_at_every_step_and_tighten() {
        let mut random = stream(1, Stream::Rows);
        for sigma in [0.3, 0.8] {
            let rows = rows(41, 2, &mut random);
            let ground = Points::new(&rows, 2, Gaussian::new(sigma).unwrap()).unwrap();
            let members: Vec<usize> = (0..40).collect();
            let mut memory = Heap::new(40).unwrap();
            let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
            start::given(&mut landmarks, &members).unwrap();
            let matrix = matrix(&ground, &members);
            let z = column(&ground, 40, &members);
            let mut solved = z.clone();
            landmarks.factor().solve_lower(&mut solved).unwrap();
            let exact: f64 = solved.iter().map(|entry| entry * entry).sum();
            let range = Range::of(&matrix, landmarks.factor());
            let own = Mat::from_fn(40, 40, |i, j| matrix[40 * i + j]);
            let eigenvalues = own.self_adjoint_eigenvalues(Side::Lower).unwrap();
            assert!(range.least < eigenvalues[0] && range.least > eigenvalues[0] / 100.0, "{range:?}");
            assert!(range.largest > eigenvalues[39], "{range:?}");
            let trace: f64 = eigenvalues.iter().map(|value| value.recip()).sum();
            assert!((range.least * trace - 0.5).abs() < 1e-6, "{range:?} {trace}");
            let mut form = Quadrature::new(&matrix, &z, range).unwrap();
            let mut before = form.bounds();
            let mut steps = 0;
            loop {
                let bounds = form.bounds();
                let room = form.rounding() + 1e-14;
                assert!(bounds.lower <= exact + room && exact <= bounds.upper + room, "{bounds:?} {exact}");
                assert!(bounds.lower >= before.lower && bounds.upper <= before.upper);
                before = bounds;
                if !form.refine() {
                    break;
                }
                steps += 1;
            }
            assert!(steps > 5 && form.steps() == steps);
            assert!(before.upper - before.lower < 1e-9, "{sigma}: {before:?}");
        }
    }

    /// By hand: A = diag(1, 4), z = (1, 1): the form is 5/4; α = 5/2, β = 3/2.
    #[test]
    fn the_first_step_at_a_point_computed_by_hand() {
        let range = Range { least: 0.5, largest: 5.0 };
        let matrix = [1.0, 0.0, 0.0, 4.0];
        let mut form = Quadrature::new(&matrix, &[1.0, 1.0], range).unwrap();
        assert_eq!((form.bounds().lower, form.bounds().upper), (0.4, 4.0));
        assert!(form.refine());
        // Node a: α̃ = a + β²/(α - a), and (J⁻¹)_11 = α̃/(α α̃ - β²).
        let rule = |a: f64| {
            let last = a + 2.25 / (2.5 - a);
            2.0 * last / (2.5 * last - 2.25)
        };
        assert!((form.bounds().upper - rule(0.5)).abs() < 1e-14);
        assert!((form.bounds().lower - rule(5.0)).abs() < 1e-14);
        assert!(form.refine() && !form.refine());
        assert!((form.bounds().upper - 1.25).abs() < 1e-14 && (form.bounds().lower - 1.25).abs() < 1e-14);
        // ‖A⁻¹z‖² = 17/16.
        assert!((form.rounding() / (2.0 * f64::EPSILON * 5.0) - 17.0 / 16.0).abs() < 1e-12);
    }

    /// Swaps as a chain proposes them, at a small bandwidth, a large one, and one so large that most
    /// residuals are rounding: every decision agrees with the one by solving.
    #[test]
    fn decisions_are_those_of_exact_residuals() {
        let mut random = stream(2, Stream::Landmarks);
        let c = 30;
        for (sigma, least_decided) in [(0.4, 1.0), (1.0, 1.0), (4.0, 0.9), (20.0, 0.0)] {
            let rows = rows(400, 3, &mut random);
            let ground = Points::new(&rows, 3, Gaussian::new(sigma).unwrap()).unwrap();
            let mut memory = Heap::new(c).unwrap();
            let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
            start::uniform(&mut landmarks, c, &mut random).unwrap();
            let (mut decided, mut exceeding, mut products, tries) = (0, 0, 0, 2_000);
            for _ in 0..tries {
                let slot = random.next_u32() as usize % c;
                let entering = random.next_u32() as usize % 400;
                if landmarks.contains(entering) {
                    continue;
                }
                let uniform = f64::from_draw(random.next_u32());
                let threshold = Acceptance::Metropolis.threshold(uniform, 1.0);
                let leaving = landmarks.members()[slot];
                let stay: Vec<usize> =
                    landmarks.members().iter().copied().filter(|&member| member != leaving).collect();
                let swap = landmarks.swap(slot, entering).unwrap();
                let matrix = matrix(&ground, &stay);
                let side = |row: usize| (ground.diagonal(row), column(&ground, row, &stay));
                let (enters, leaves) = (side(entering), side(leaving));
                let decision = decide(
                    &matrix,
                    Range::of(&matrix, landmarks.factor()),
                    Point { diagonal: enters.0, column: &enters.1 },
                    Point { diagonal: leaves.0, column: &leaves.1 },
                    threshold,
                )
                .unwrap();
                let exact = swap.entering > threshold * swap.leaving;
                if let Some(exceeds) = decision.exceeds {
                    assert_eq!(exceeds, exact, "{sigma} {swap:?} {threshold} {decision:?}");
                    decided += 1;
                    exceeding += usize::from(exceeds);
                    products += decision.products;
                }
                if exact && swap.entering > 0.0 {
                    landmarks.replace(slot, entering).unwrap();
                }
            }
            println!("{sigma}: {decided} of {tries}, {exceeding} exceed, {products} products");
            assert!(f64::from(decided) >= least_decided * 0.9 * f64::from(tries), "{sigma} {decided}");
            assert!(exceeding > 0);
        }
    }

    #[test]
    fn mismatched_lengths_are_rejected() {
        let range = Range { least: 1.0, largest: 1.0 };
        let refused = Quadrature::new(&[1.0; 4], &[1.0; 3], range);
        assert!(matches!(refused, Err(Error::Length { expected: 9, found: 4 })));
        // A zero vector has no form to bound.
        let mut form = Quadrature::new(&[1.0, 0.0, 0.0, 1.0], &[0.0; 2], range).unwrap();
        assert!(!form.refine() && form.bounds().upper == 0.0);
    }
}
