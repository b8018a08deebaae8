//! Five tasks that a diverse subset solves: a batch to label, results to re-rank, places of sensors, inducing
//! points of a Gaussian process, and sparse points of an interatomic potential. All data are made.
//!
//! `cargo run --release -p dpp-nystrom-examples --bin subsets`
//!
//! Each task compares its subset with what people do without one, and stops if the subset is no better.

use dpp_nystrom::approximation::Gram;
use dpp_nystrom::core::kernel::{Gaussian as Kernel, Linear};
use dpp_nystrom::core::{GroundSet, Points, Random};
use dpp_nystrom::landmarks::{Selector, Task, run};
use dpp_nystrom::selectors::{Conditioned, Greedy, KdppExact, Refined, Uniform};
use dpp_nystrom::{Dataset, Error, Gaussian, KernelRidge, Nystroem, Ridge, Scale, Sigma};
use std::collections::HashSet;

fn main() -> Result<(), Error> {
    batch_to_label()?;
    results_to_rank()?;
    places_of_sensors()?;
    inducing_points()?;
    sparse_points()
}

/// Active learning: the next batch to label is uncertain, and its points tell different things.
fn batch_to_label() -> Result<(), Error> {
    const BATCH: usize = 20;
    let mut numbers = Numbers::new(1);
    let rows: Vec<f64> = (0..2_000).flat_map(|_| [numbers.normal(), numbers.normal()]).collect();
    // A classifier is uncertain near its boundary, most of all in one place.
    let quality: Vec<f64> = rows
        .chunks_exact(2)
        .map(|row| {
            (-(row[0] - 0.3 * row[1]).powi(2) / 0.1).exp() * (1.5 - (row[1] - 1.0).abs() / 4.0).max(0.0)
        })
        .collect();
    let labelled: Vec<usize> = (0..200).collect();
    let pool = Points::new(&rows, 2, Kernel::new(0.4)?)?;
    let sampler = Conditioned::new(KdppExact).quality(quality.clone()).exclude(labelled);
    let batch = selected(&pool, BATCH, &sampler)?;
    let mut uncertain: Vec<usize> = (200..2_000).collect();
    uncertain.sort_by(|&one, &other| quality[other].total_cmp(&quality[one]));
    let uncertain = &uncertain[..BATCH];

    let apart = |batch: &[usize]| mean(batch.iter().map(|&row| nearest(&rows, row, batch)));
    let uncertainty = |batch: &[usize]| mean(batch.iter().map(|&row| quality[row]));
    let (all, close) = (uncertainty(&(200..2_000).collect::<Vec<_>>()), apart(uncertain));
    println!("a batch to label        distance to the nearest  uncertainty (of all: {all:.2})");
    println!("  most uncertain        {close:23.2}  {:.2}", uncertainty(uncertain));
    println!("  c-DPP with a quality  {:23.2}  {:.2}", apart(&batch), uncertainty(&batch));
    assert!(apart(&batch) > 4.0 * close && uncertainty(&batch) > 2.0 * all);
    Ok(())
}

/// Retrieval: the first ten results are relevant, and they do not all say the same.
fn results_to_rank() -> Result<(), Error> {
    const RESULTS: usize = 1_000;
    const TOPICS: usize = 25;
    const DIM: usize = 32;
    const SHOWN: usize = 10;
    let mut numbers = Numbers::new(2);
    let topics: Vec<f64> = (0..TOPICS * DIM).map(|_| numbers.normal()).collect();
    let topic = |result: usize| result % TOPICS;
    let mut embeddings = Vec::with_capacity(RESULTS * DIM);
    for result in 0..RESULTS {
        let row: Vec<f64> =
            (0..DIM).map(|k| topics[topic(result) * DIM + k] + 0.3 * numbers.normal()).collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        embeddings.extend(row.iter().map(|x| x / norm));
    }
    // The query is about a few topics above all.
    let relevance: Vec<f64> =
        (0..RESULTS).map(|result| 1.0 / (1.0 + topic(result) as f64) + 0.1 * numbers.uniform()).collect();
    // The inner product of rows of norm one is their cosine.
    let results = Points::new(&embeddings, DIM, Linear)?;
    // The greedy MAP of a DPP: its order is the ranking. Relevance counts exponentially.
    let quality: Vec<f64> = relevance.iter().map(|relevance| relevance.exp()).collect();
    let ranking = selected(&results, SHOWN, &Conditioned::new(Greedy).quality(quality))?;
    let mut relevant: Vec<usize> = (0..RESULTS).collect();
    relevant.sort_by(|&one, &other| relevance[other].total_cmp(&relevance[one]));

    let about = |ranking: &[usize]| ranking.iter().map(|&result| topic(result)).collect::<HashSet<_>>().len();
    let relevance = |ranking: &[usize]| mean(ranking.iter().map(|&result| relevance[result]));
    println!("\n1,000 results to rank   topics in the first ten  relevance");
    println!(
        "  most relevant         {:23}  {:.2}",
        about(&relevant[..SHOWN]),
        relevance(&relevant[..SHOWN])
    );
    println!("  greedy MAP            {:23}  {:.2}", about(&ranking), relevance(&ranking));
    assert!(about(&ranking) >= 8 && about(&relevant[..SHOWN]) == 1);
    assert_eq!(topic(ranking[0]), 0, "the first result is the most relevant one");
    Ok(())
}

/// Design of experiments: a field is to be measured at 25 places. Three stations stand, and there is a lake.
fn places_of_sensors() -> Result<(), Error> {
    const SIDE: usize = 30;
    const SENSORS: usize = 25;
    let grid: Vec<f64> = (0..SIDE * SIDE).flat_map(|at| [(at % SIDE) as f64, (at / SIDE) as f64]).collect();
    let stations = [0, 29, 465];
    let in_lake = |at: &usize| (8..14).contains(&(at % SIDE)) && (16..24).contains(&(at / SIDE));
    let lake: Vec<usize> = (0..SIDE * SIDE).filter(in_lake).collect();
    let field = Points::new(&grid, 2, Kernel::new(4.0)?)?;
    // The variance of the field on land that the measurements leave.
    let left = |places: &[usize]| -> Result<f64, Error> {
        let errors = (0..SIDE * SIDE).filter(|at| !lake.contains(at));
        let features = dpp_nystrom::approximation::features_of(&field, places)?;
        Ok(mean(errors.map(|at| 1.0 - features.col(at).squared_norm_l2())))
    };
    let planned = |selector: Box<dyn Selector>| -> Result<Vec<usize>, Error> {
        let planned = Conditioned::new(selector).include(stations).exclude(lake.clone());
        selected(&field, SENSORS, &planned)
    };
    let places = planned(boxed(Refined::default()))?;
    let at_random = planned(boxed(Uniform))?;
    println!("\n25 places of sensors    variance that is left on land");
    println!("  at random             {:.4}", left(&at_random)?);
    println!("  refined               {:.4}", left(&places)?);
    assert!(places[..3] == stations && !places.iter().any(in_lake));
    assert!(left(&places)? < 0.6 * left(&at_random)?);
    Ok(())
}

/// A sparse Gaussian process: inducing points explain the prior's covariance, and so the data.
fn inducing_points() -> Result<(), Error> {
    const ROWS: usize = 2_000;
    const POINTS: usize = 40;
    let mut numbers = Numbers::new(3);
    // Most inputs lie in the middle.
    let rows: Vec<f64> = (0..ROWS * 2).map(|_| numbers.normal().powi(3)).collect();
    let targets = rows.chunks_exact(2).map(|row| (1.2 * row[0]).sin() + (0.8 * row[1]).cos());
    let targets: Vec<f64> = targets.map(|signal| signal + 0.05 * numbers.normal()).collect();
    let error = |selector: Box<dyn Selector>| -> Result<(f64, f64), Error> {
        let (train, test) = (ROWS / 2 * 2, ROWS / 2);
        let data = Dataset::from_rows(&rows[..train], 2)?.with_target(&targets[..test])?;
        let map = map(POINTS, Sigma::Value(0.5), selector).fit(&data)?;
        let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(&data)?;
        Ok((map.trace_error(&data)?, root_mean_square(&model.predict(&rows[train..])?, &targets[test..])))
    };
    let (uniform, refined) = (error(boxed(Uniform))?, error(boxed(Refined::default()))?);
    println!("\n40 inducing points      variance that is left  error on new rows");
    println!("  at random             {:21.4}  {:.3}", uniform.0, uniform.1);
    println!("  refined               {:21.4}  {:.3}", refined.0, refined.1);
    assert!(refined.0 < 0.5 * uniform.0 && refined.1 < uniform.1);
    Ok(())
}

/// A potential of three atoms from snapshots of their motion, which mostly repeat each other: few of them
/// stand for all.
fn sparse_points() -> Result<(), Error> {
    const SNAPSHOTS: usize = 3_000;
    const POINTS: usize = 40;
    let mut numbers = Numbers::new(4);
    let morse = |distance: f64| (1.0 - (-1.5 * (distance - 1.0)).exp()).powi(2);
    let mut snapshot = |heat: f64| -> Vec<f64> {
        let lengths = [1.0, 1.0].map(|length| length + 0.1 * heat * numbers.normal());
        let angle = 1.9 + 0.2 * heat * numbers.normal();
        let [one, other] = lengths;
        vec![one, other, (one * one + other * other - 2.0 * one * other * angle.cos()).max(0.1).sqrt()]
    };
    // The molecule is hot in one snapshot of fifty.
    let rows: Vec<f64> =
        (0..SNAPSHOTS).flat_map(|at| snapshot(if at % 50 == 0 { 3.0 } else { 0.6 })).collect();
    let new: Vec<f64> = (0..500).flat_map(|_| snapshot(2.5)).collect();
    let energies = |rows: &[f64]| -> Vec<f64> {
        rows.chunks_exact(3).map(|bonds| bonds.iter().map(|&bond| morse(bond)).sum()).collect()
    };
    let targets = energies(&rows);
    let error = |selector: Box<dyn Selector>| -> Result<f64, Error> {
        let data = Dataset::from_rows(&rows, 3)?.with_target(&targets)?;
        let map = map(POINTS, Sigma::Value(0.6), selector).scale(Scale::None).fit(&data)?;
        let model = KernelRidge::params(&map).ridge(Ridge::Value(1e-10)).fit(&data)?;
        Ok(root_mean_square(&model.predict(&new)?, &energies(&new)))
    };
    let (uniform, refined) = (error(boxed(Uniform))?, error(boxed(Refined::default()))?);
    println!("\n40 points of a potential  error on hot snapshots");
    println!("  at random               {uniform:.5}");
    println!("  refined                 {refined:.5}");
    assert!(refined < 0.6 * uniform);
    Ok(())
}

/// Select rows of a ground set, in the order of selection.
fn selected<G: GroundSet<f64> + Sync>(
    ground: &G,
    count: usize,
    selector: &dyn Selector,
) -> Result<Vec<usize>, Error> {
    let gram = Gram::over(ground, None);
    let selection = run(selector, &Task::new(&gram, count))?;
    Ok(selection.in_order(&gram)?.into_iter().map(|(row, _)| row).collect())
}

fn boxed(selector: impl Selector + 'static) -> Box<dyn Selector> {
    Box::new(selector)
}

fn map(count: usize, sigma: Sigma, selector: Box<dyn Selector>) -> dpp_nystrom::NystroemParams {
    Nystroem::params(count).kernel(Gaussian::new(sigma)).selector(selector)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn root_mean_square(predictions: &[f64], targets: &[f64]) -> f64 {
    mean(predictions.iter().zip(targets).map(|(x, y)| (x - y).powi(2))).sqrt()
}

/// The distance of a row from the nearest other row of a batch.
fn nearest(rows: &[f64], row: usize, batch: &[usize]) -> f64 {
    let at = |row: usize| (rows[2 * row], rows[2 * row + 1]);
    let distance = |&other: &usize| (at(row).0 - at(other).0).hypot(at(row).1 - at(other).1);
    batch.iter().filter(|&&other| other != row).map(distance).fold(f64::INFINITY, f64::min)
}

/// Made data.
struct Numbers(Random);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(Random::seeded(seed))
    }

    fn uniform(&mut self) -> f64 {
        use dpp_nystrom::core::Scalar;
        f64::from_draw(rand_core::Rng::next_u32(&mut self.0))
    }

    /// The sum of twelve uniform numbers, of variance one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
