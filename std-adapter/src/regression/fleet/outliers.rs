//! The states of a fleet, compared with each other before they are merged.
//!
//! A state has sums and no rows, and whoever forges one can compute its checksum. What
//! [`RidgeRegression::read_state`] and [`Fleet::read`](crate::regression::Fleet::read) refuse are sums that
//! no rows have. What is left is compared over devices:
//!
//! 1. the mean square of the features, which is the kernel's diagonal less the residual of the landmarks: far
//!    too low for rows unlike those of all others, and for a count of rows that is too high;
//! 2. the mean square of the target;
//! 3. the error of the fleet's present model, which no device has a part in;
//! 4. the error of the model that all other devices give;
//! 5. how far the merged model moves with the device ([`crate::regression::fleet::influence`]).
//!
//! A figure of 1 to 4 far from the median, in logarithms, is an outlier: by a factor of four and six times
//! the normalised median absolute deviation (Leys et al. 2013); a hundred for fewer than eight devices, whose
//! spread is unknown. Rows vary too: three times `√(8/N)` is added for `N` rows. Outliers by 1 to 3 have no
//! part in 4 and 5, so that several do not hide each other. A state of the server's own is never one.

use crate::error::Error;
use crate::observer::Observer;
use crate::regression::choose::cross_validation::each_left_out;
use crate::regression::fleet::influence::{Influence, MergeLimits, Merged, limited_rows};
use crate::regression::fleet::received::Received;
use crate::regression::rows::accumulator::Accumulator;
use crate::regression::rows::triangle::Triangle;
use dpp_nystrom_core::{RidgeRegression, Scalar};
use faer::MatRef;
use std::fmt::{self, Display, Formatter};

/// What is known of a device's rows from its state, and what they count for.
///
/// ```
/// use dpp_nystrom::regression::{Fleet, MergeLimits, Received};
/// use dpp_nystrom::{Ridge, observer::NoObserver};
/// # use dpp_nystrom::data::table::{self, Target};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("device.csv");
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let rows: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("{x},{y}\n")).collect();
/// # std::fs::write(&path, format!("x,y\n{}", rows.concat()))?;
/// # let table = table::read(&path, &Target::Last)?;
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// let fleet = Fleet::of(&model)?;
/// let sums = fleet.accumulate(&table)?;
/// let states = ["a", "b", "c"].map(|name| Received::of(name, sums.clone()));
/// let examined = fleet.examine(&states, MergeLimits::default(), Ridge::Value(1e-6), &NoObserver)?;
/// assert_eq!((examined[0].rows, examined[0].counted, examined[0].outlier), (100, 100, None));
/// assert!(examined[0].nrmse < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Examined {
    /// The number of rows that the state claims.
    pub rows: u64,
    /// The number of rows that the device counts for in the merged model.
    pub counted: u64,
    /// Mean of `‖φ‖²` over the rows.
    pub features: f64,
    /// Root mean square of the target, in standard deviations from the mean of the fleet's model.
    pub target: f64,
    /// Root mean squared error of the fleet's model on the rows, in standard deviations of the target.
    pub nrmse: f64,
    /// That of the model of all other devices that are not outliers; `None` for an outlier by another figure,
    /// and if there is no other device.
    pub others_nrmse: Option<f64>,
    /// How far the device moves the predictions of the merged model on the others' rows, in standard
    /// deviations of the target.
    pub influence: Option<f64>,
    /// By how much it raises the error of the others on their own rows, relative to it.
    pub raises: Option<f64>,
    /// The figure that is far from those of the others.
    pub outlier: Option<Outlier>,
    trusted: bool,
}

/// A figure that is far from those of the other devices.
///
/// ```
/// use dpp_nystrom::regression::{Outlier, Refusal};
///
/// let refused = Refusal::Outlier(Outlier::Target);
/// assert_eq!(refused.to_string(), Outlier::Target.to_string());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outlier {
    /// The features are too small: rows far from all landmarks, or too many of them claimed.
    Features,
    /// The target is too large.
    Target,
    /// The error of the fleet's model is too large.
    Error,
    /// The error of the model of the other devices is too large.
    OthersError,
    /// The merged model would follow it too far, even if it counted for an eighth of its rows. Of two devices
    /// both are named.
    Influence,
}

impl Display for Outlier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Features => "its rows are far from the landmarks, or fewer than it says",
            Self::Target => "its targets are far larger than those of other devices",
            Self::Error => {
                "the model predicts its rows far worse than its training rows and those of other devices"
            }
            Self::OthersError => "the other devices predict its rows far worse than each other's",
            Self::Influence => "it moves the merged model much further than one device may",
        })
    }
}

/// Devices from which on their spread is measured, and the factors that are far for them and for fewer.
const MEASURED: usize = 8;
const FAR: f64 = 4.0;
const FAR_OF_FEW: f64 = 100.0;
/// Median absolute deviations that are far, and what makes a standard deviation of one.
const DEVIATIONS: f64 = 6.0;
const NORMAL: f64 = 1.4826;

/// Examine the states of devices. `weights` are those of the fleet's model on the features, and `error` its
/// mean squared error in training.
///
/// # Errors
/// `ErrorKind::Cancelled`, `ErrorKind::Memory`.
pub(crate) fn examine(
    states: &[Received],
    weights: &[f64],
    error: f64,
    ridge: f64,
    limits: MergeLimits,
    observer: &dyn Observer,
) -> Result<Vec<Examined>, Error> {
    let claimed: Vec<u64> = states.iter().map(|state| state.accumulated.rows()).collect();
    let trusted: Vec<bool> = states.iter().map(|state| state.trusted).collect();
    let most = limited_rows(&claimed, &trusted, limits.rows);
    let weights = MatRef::from_column_major_slice(weights, weights.len(), 1);
    let mut examined = Vec::with_capacity(states.len());
    for (state, &counted) in states.iter().zip(&most) {
        examined.push(state.accumulated.on(|device| alone(device, state.trusted, counted, weights))?);
    }
    by_themselves(&mut examined, error);
    // Without a device, or with less of it, others may stand out.
    while let Some(compared) = compare(states, &mut examined, ridge, limits.influence, observer)? {
        let errors: Vec<f64> =
            examined.iter().map(|one| one.others_nrmse.map_or(f64::NAN, |error| error * error)).collect();
        if mark(&mut examined, Outlier::OthersError, &errors, None) {
            continue;
        }
        let may_be_cut = |&&(at, _): &&(usize, Influence)| !trusted[at];
        let excess = |&(_, influence): &(usize, Influence)| influence.excess();
        let furthest =
            compared.iter().filter(may_be_cut).max_by(|one, other| excess(one).total_cmp(&excess(other)));
        let Some(&(at, influence)) = furthest.filter(|one| excess(one) > 1.0) else { break };
        if compared.len() == 2 && compared.iter().all(|&(at, _)| !trusted[at]) {
            // Nobody says which of the two is right.
            compared.iter().for_each(|&(at, _)| examined[at].outlier = Some(Outlier::Influence));
            break;
        }
        match influence.rows_within(most[at]).filter(|&rows| rows < examined[at].counted) {
            Some(rows) => examined[at].counted = rows,
            None => examined[at].outlier = Some(Outlier::Influence),
        }
    }
    Ok(examined)
}

/// Mark the devices whose own figures are far from those of the others.
fn by_themselves(examined: &mut [Examined], error: f64) {
    let figures = |of: fn(&Examined) -> f64| examined.iter().map(of).collect::<Vec<_>>();
    let (features, targets) = (figures(|one| one.features), figures(|one| one.target * one.target));
    let errors = figures(|one| one.nrmse * one.nrmse);
    let inverse: Vec<f64> = features.iter().map(|&features| 1.0 / features).collect();
    for (what, figures, more) in [
        (Outlier::Features, inverse, None),
        (Outlier::Target, targets, None),
        (Outlier::Error, errors, Some(error)),
    ] {
        mark(examined, what, &figures, more);
    }
}

/// Compare each device that is not an outlier with the model of the others, and return its influence; `None`
/// if there are no others.
fn compare(
    states: &[Received],
    examined: &mut [Examined],
    ridge: f64,
    limit: f64,
    observer: &dyn Observer,
) -> Result<Option<Vec<(usize, Influence)>>, Error> {
    let kept: Vec<usize> = (0..states.len()).filter(|&at| counts(&examined[at])).collect();
    examined.iter_mut().for_each(|one| (one.others_nrmse, one.influence, one.raises) = (None, None, None));
    if kept.len() < 2 {
        return Ok(None);
    }
    let parts: Vec<Accumulator<f32>> =
        kept.iter().map(|&at| states[at].accumulated.counting_as(examined[at].counted)).collect();
    Accumulator::on_all(&parts, |parts| {
        let visit = |others: &Triangle, part: &Triangle| {
            let (weights, error) = others.solve(ridge)?;
            Some((part.squared_errors(weights.as_ref())[0], error, weights))
        };
        let (left_out, whole) = each_left_out(parts, &[ridge], &visit, observer)?;
        let Some(merged) = Merged::of(&whole, ridge) else { return Ok(None) };
        let mut compared = Vec::with_capacity(kept.len());
        for ((&at, part), without) in kept.iter().zip(parts).zip(left_out) {
            let Some((own, error, weights)) = without else { continue };
            let part = Triangle::of(part)?;
            let influence = merged.influence(&part, weights.as_ref(), error, limit);
            let one = &mut examined[at];
            one.others_nrmse = Some((own / part.rows()).sqrt());
            (one.influence, one.raises) = (Some(influence.moves), Some(influence.raises));
            compared.push((at, influence));
        }
        Ok(Some(compared))
    })
}

/// Whether a device has rows, and none of its figures is an outlier.
fn counts(one: &Examined) -> bool {
    one.rows > 0 && one.outlier.is_none()
}

/// Return what the state of a device says by itself.
fn alone<T: Scalar>(
    device: &RidgeRegression<'_, T>,
    trusted: bool,
    counted: u64,
    weights: MatRef<'_, f64>,
) -> Result<Examined, Error> {
    let triangle = Triangle::of(device)?;
    let (features, target) = triangle.squares();
    let error = triangle.squared_errors(weights)[0];
    let mean = |sum: f64| sum / triangle.rows();
    Ok(Examined {
        rows: device.rows(),
        counted,
        features: mean(features),
        target: mean(target).sqrt(),
        nrmse: mean(error).sqrt(),
        others_nrmse: None,
        influence: None,
        raises: None,
        outlier: None,
        trusted,
    })
}

/// Mark the devices whose figure is far above the median of those that count, and of `more`. Return whether
/// there are any.
fn mark(examined: &mut [Examined], what: Outlier, figures: &[f64], more: Option<f64>) -> bool {
    let with = examined.iter().zip(figures).filter(|(one, figure)| counts(one) && !figure.is_nan());
    let logarithms: Vec<f64> = with.map(|(_, &figure)| logarithm(figure)).collect();
    let all = || logarithms.iter().copied().chain(more.map(logarithm));
    let Some(middle) = median(all().collect()) else { return false };
    let spread = median(all().map(|one| (one - middle).abs()).collect()).unwrap_or(0.0);
    let far = match logarithms.len() {
        MEASURED.. => FAR.ln().max(DEVIATIONS * NORMAL * spread),
        _ => FAR_OF_FEW.ln(),
    };
    let mut found = false;
    for (one, &figure) in examined.iter_mut().zip(figures) {
        let noise = 3.0 * (8.0 / one.rows as f64).sqrt();
        if counts(one) && !one.trusted && logarithm(figure) > middle + far + noise {
            (one.outlier, found) = (Some(what), true);
        }
    }
    found
}

/// Return the logarithm of a mean square, of which rounding is the least. NaN stays.
fn logarithm(square: f64) -> f64 {
    if square.is_nan() { square } else { square.max(1e-12).ln() }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        even if even % 2 == 0 => Some(f64::midpoint(values[half - 1], values[half])),
        _ => Some(values[half]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Examined, Outlier, by_themselves, examine, mark, median};
    use crate::observer::NoObserver;
    use crate::regression::fleet::influence::{MergeLimits, tests as influence};
    use crate::regression::fleet::received::Received;
    use crate::regression::rows::accumulator::Accumulator;

    /// A device of 800 rows, whose noise is .3: the factor that is far is e^.3 times as large.
    fn device() -> Examined {
        Examined {
            rows: 800,
            counted: 800,
            features: 0.9,
            target: 0.5,
            nrmse: 0.1,
            others_nrmse: None,
            influence: None,
            raises: None,
            outlier: None,
            trusted: false,
        }
    }

    /// Which of some devices are marked.
    fn marked(examined: &[Examined]) -> Vec<Option<Outlier>> {
        examined.iter().map(|one| one.outlier).collect()
    }

    #[test]
    fn medians() {
        let of = |values: &[f64]| median(values.to_vec());
        assert_eq!(
            (of(&[]), of(&[3.0]), of(&[3.0, 1.0]), of(&[3.0, 1.0, 2.0])),
            (None, Some(3.0), Some(2.0), Some(2.0))
        );
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    /// Of few devices a hundredfold is far, of eight fourfold or six deviations.
    #[test]
    fn what_is_far() {
        let far = |logarithms: &[f64]| {
            let figures: Vec<f64> = logarithms.iter().map(|one| (one + 2.0).exp()).collect();
            let mut examined = vec![device(); figures.len()];
            let found = mark(&mut examined, Outlier::Target, &figures, None);
            let last = examined.pop().unwrap().outlier.is_some();
            assert_eq!(found, last);
            assert_eq!(marked(&examined), vec![None; examined.len()]);
            last
        };
        let few = 100.0_f64.ln() + 0.3;
        assert!(far(&[0.0, 0.0, 0.0, few + 0.01]) && !far(&[0.0, 0.0, 0.0, few - 0.01]));
        let equal = 4.0_f64.ln() + 0.3;
        let with = |last: f64| far(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, last]);
        assert!(with(equal + 0.01) && !with(equal - 0.01));
        // The median is 0, and that of the differences .4.
        let spread = 6.0 * 1.4826 * 0.4 + 0.3;
        let with = |last: f64| far(&[-0.5, -0.4, -0.4, -0.2, 0.0, 0.1, 0.3, 0.4, last]);
        assert!(with(spread + 0.01) && !with(spread - 0.01));
    }

    /// Devices without rows, outliers, and figures that are no numbers have no part in the median; a device
    /// of the server's own is not marked.
    #[test]
    fn who_counts() {
        let outlier = Some(Outlier::Features);
        let more = [
            Examined { rows: 0, ..device() },
            Examined { outlier, ..device() },
            device(),
            Examined { trusted: true, ..device() },
        ];
        for (other, figure) in more.iter().zip([1e6, 1e6, f64::NAN, 1e6]) {
            let mut examined = vec![device(), device(), device(), other.clone()];
            let far = if other.trusted { 1.0 } else { 136.0 };
            assert_eq!(mark(&mut examined, Outlier::Target, &[1.0, 1.0, far, figure], None), far > 1.0);
            let third = if other.trusted { None } else { Some(Outlier::Target) };
            assert_eq!(marked(&examined), [None, None, third, other.outlier], "{other:?}");
        }
    }

    /// The figures are mean squares: for few devices, 135 times the median is far.
    #[test]
    fn figures_of_each_device() {
        let of = |last: Examined| {
            let mut examined = vec![device(), device(), last];
            by_themselves(&mut examined, 0.01);
            examined[2].outlier
        };
        let root = |times: f64| f64::sqrt(times);
        assert_eq!(of(Examined { features: 0.9 / 136.0, ..device() }), Some(Outlier::Features));
        assert_eq!(of(Examined { features: 0.9 / 134.0, ..device() }), None);
        assert_eq!(of(Examined { target: 0.5 * root(136.0), ..device() }), Some(Outlier::Target));
        assert_eq!(of(Examined { target: 0.5 * root(134.0), ..device() }), None);
        assert_eq!(of(Examined { nrmse: 0.1 * root(136.0), ..device() }), Some(Outlier::Error));
        assert_eq!(of(Examined { nrmse: 0.1 * root(134.0), ..device() }), None);
        for (what, word) in [(Outlier::Features, "landmarks"), (Outlier::Influence, "moves")] {
            assert!(what.to_string().contains(word));
        }
    }

    /// The state of a device with one feature: `y` is this slope times `φ`, with noise.
    fn state(rows: usize, slope: f64, trusted: bool) -> Received {
        let mut sums = Accumulator::<f32>::empty(1).unwrap();
        for (feature, target) in influence::rows(rows, slope) {
            sums.add(&[feature as f32], target as f32).unwrap();
        }
        Received { trusted, ..Received::of("device", sums) }
    }

    /// Examine them beside a model of this slope.
    fn examined(states: &[Received], slope: f64, influence: f64) -> Vec<Examined> {
        let limits = MergeLimits { rows: f64::INFINITY, influence };
        examine(states, &[slope], 0.004, 1e-6, limits, &NoObserver).unwrap()
    }

    #[test]
    fn devices_are_compared_with_the_model_of_the_others() {
        let states = [state(110, 1.0, false), state(110, 1.0, false), state(110, 1.1, false)];
        let found = examined(&states, 1.0, f64::INFINITY);
        assert_eq!(marked(&found), [None, None, None]);
        let (others, own) = (influence::rows(110, 1.0).repeat(2), influence::rows(110, 1.1));
        let square = own.iter().map(|(feature, _)| feature * feature).sum::<f64>() / 110.0;
        let error = influence::error(&own, influence::solution(&others, 1e-6)) / 110.0;
        // In f32.
        let close =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        close(found[2].features, square);
        close(found[2].others_nrmse.unwrap(), error.sqrt());
        assert!(found.iter().all(|one| one.influence.is_some_and(|moves| moves > 0.0)));
        assert!(found.iter().all(|one| one.counted == one.rows));
        // One alone has nothing to be compared with.
        assert_eq!(examined(&states[..1], 1.0, 0.08)[0].others_nrmse, None);
    }

    /// Of ten devices, four times the mean squared error is far, and with the noise of 110 rows nine times.
    #[test]
    fn a_device_that_the_others_do_not_predict() {
        let with = |slope: f64| {
            let mut states = vec![state(110, 1.0, false); 9];
            states.push(state(110, slope, false));
            marked(&examined(&states, 1.2, f64::INFINITY)).pop().unwrap()
        };
        assert_eq!((with(1.1), with(1.25)), (None, Some(Outlier::OthersError)));
    }

    #[test]
    fn devices_beyond_their_influence_are_cut_or_named() {
        let named = Some(Outlier::Influence);
        // Cut.
        let found =
            examined(&[state(300, 1.0, false), state(300, 1.0, false), state(300, 1.3, false)], 1.0, 0.08);
        assert_eq!(marked(&found), [None, None, None]);
        assert!((40..300).contains(&found[2].counted) && found[0].counted == 300, "{found:?}");
        // Too far to be cut.
        let found =
            examined(&[state(300, 1.0, false), state(300, 1.0, false), state(300, 9.0, false)], 5.0, 0.08);
        assert_eq!(marked(&found), [None, None, named]);
        // Two, of which nobody says which is right; the server's own is.
        let two =
            |trusted: bool| marked(&examined(&[state(300, 1.0, trusted), state(300, 9.0, false)], 5.0, 0.08));
        assert_eq!((two(false), two(true)), (vec![named, named], vec![None, named]));
        // Which may move the model.
        let found =
            examined(&[state(300, 1.0, false), state(300, 1.0, false), state(300, 1.3, true)], 1.0, 0.08);
        assert!(found[2].counted == 300 && found[2].outlier.is_none(), "{found:?}");
        // Two that agree.
        let found = examined(&[state(300, 1.0, false), state(300, 1.0, false)], 1.0, 0.08);
        assert_eq!(marked(&found), [None, None]);
    }
}
