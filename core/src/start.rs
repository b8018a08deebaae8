//! Initial sets of landmarks for the chains. Each function finds a non-singular set or returns an error:
//! duplicate rows are common in data, and a set with two of them has determinant 0.
//!
//! Each appends to the present landmarks until there are `c`. After an error the landmarks are unchanged.

use crate::error::{Error, Known};
use crate::ground_set::TryGroundSet;
use crate::landmarks::Landmarks;
use crate::memory::{check_capacity, take};
use crate::random::below;
use crate::scalar::{Scalar, Sum};
use rand_core::Rng;

/// Draws that may be dependent rows, for each landmark, before every row is tried in order.
const DRAWS: usize = 16;

/// Append these rows, in this order.
///
/// # Errors
/// Those of [`Landmarks::push`].
///
/// ```
/// use dpp_nystrom_core::{Error, Landmarks, Matrix, Workspace, start};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?; // rows 0 and 2 agree
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// assert_eq!(start::given(&mut landmarks, &[0, 2]), Err(Error::NotPositive { pivot: 1 }));
/// assert!(landmarks.is_empty());
/// start::given(&mut landmarks, &[1, 2])?;
/// assert_eq!(landmarks.members(), [1, 2]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn given<T, G>(landmarks: &mut Landmarks<'_, T, G>, rows: &[usize]) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
{
    let before = landmarks.len();
    let result = rows.iter().try_for_each(|&row| landmarks.push(row));
    if result.is_err() {
        landmarks.truncate(before);
    }
    result
}

/// Append rows drawn uniformly from those that are not landmarks. A row that depends on the landmarks before
/// it is drawn again. `c²/2` kernel entries and `c³/6` multiply-adds.
///
/// # Errors
/// [`Error::Empty`] for `c = 0`, [`Error::TooManyLandmarks`] for more landmarks than rows,
/// [`Error::Capacity`], [`Error::NotFinite`], [`Error::Read`], and [`Error::RankDeficient`] when no row is
/// independent of those found: every row was tried, at a cost of `n c²/2`.
///
/// ```
/// use dpp_nystrom_core::{Error, Landmarks, Points, Random, Workspace, kernel::Gaussian, start};
///
/// let rows = [0.0, 0.0, 1.0, 1.0, 2.0]; // three different ones
/// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
/// let (mut memory, mut random) = (Workspace::<f64, 4>::new(), Random::seeded(7));
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// let refused = start::uniform(&mut landmarks, 4, &mut random);
/// assert_eq!(refused, Err(Error::RankDeficient { rank: 3, landmarks: 4 }));
/// start::uniform(&mut landmarks, 3, &mut random)?;
/// assert!(landmarks.contains(4));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn uniform<T, G, R>(landmarks: &mut Landmarks<'_, T, G>, c: usize, random: &mut R) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    fill(landmarks, c, |landmarks| push_uniform(landmarks, c, random))
}

/// [`uniform`] that keeps what it finds: append up to `c` rows, fewer where no further row is independent or
/// where there are fewer rows. Return the number of landmarks. For a device, which has no other rows to try.
///
/// # Errors
/// [`Error::Empty`] where there is no landmark in the end: for `c = 0`, and where no row has a positive
/// diagonal. [`Error::Capacity`], [`Error::NotFinite`].
///
/// ```
/// use dpp_nystrom_core::{Landmarks, Points, Random, Workspace, kernel::Gaussian, start};
///
/// let rows = [0.0, 0.0, 1.0, 1.0, 2.0]; // three different ones
/// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
/// let mut memory = Workspace::<f64, 4>::new();
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// assert_eq!(start::uniform_up_to(&mut landmarks, 4, &mut Random::seeded(7))?, 3);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn uniform_up_to<T, G, R>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    random: &mut R,
) -> Result<usize, Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    check_capacity(c, landmarks.factor().capacity())?;
    let before = landmarks.len();
    while landmarks.len() < c.min(landmarks.ground().len()) {
        match push_uniform(landmarks, c, random) {
            Ok(()) => {}
            Err(Error::RankDeficient { .. }) => break,
            Err(error) => {
                landmarks.truncate(before);
                return Err(error);
            }
        }
    }
    if landmarks.is_empty() { Err(Error::Empty) } else { Ok(landmarks.len()) }
}

/// Append one row, drawn uniformly from those that are independent of the landmarks.
fn push_uniform<T, G, R>(landmarks: &mut Landmarks<'_, T, G>, c: usize, random: &mut R) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    for _ in 0..DRAWS {
        let outside = landmarks.ground().len() - landmarks.len();
        let row = landmarks.outside(below(random, outside));
        if try_push(landmarks, row)? {
            return Ok(());
        }
    }
    push_any(landmarks, c, random)
}

/// [`kmeans_plus_plus_while`] to the end.
///
/// # Errors
/// Those of [`kmeans_plus_plus_while`].
///
/// ```
/// use dpp_nystrom_core::{Landmarks, Points, Random, Workspace, kernel::Gaussian, start};
///
/// let rows = [0.0, 0.1, 0.2, 50.0, 50.1, 99.0]; // three clusters
/// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
/// let mut memory = Workspace::<f64, 3>::new();
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// start::kmeans_plus_plus(&mut landmarks, 3, &mut [0.0; 6], &mut Random::seeded(7))?;
/// assert!(landmarks.contains(5)); // one of each cluster, nearly always
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn kmeans_plus_plus<T, G, R>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    distances: &mut [T],
    random: &mut R,
) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    kmeans_plus_plus_while(landmarks, c, distances, random, || true).map(drop)
}

/// Append the seeds of k-means++ (Arthur and Vassilvitskii 2007), the paper's initial set: each row is drawn
/// with probability proportional to its squared distance from the nearest landmark
/// ([`crate::GroundSet::squared_distance`]). `n c` distances. `distances` is scratch: one number per row.
/// Before each seed `goes_on` is asked; where it returns false, the landmarks are as they were, and the
/// result is false.
///
/// # Errors
/// Those of [`uniform`]; [`Error::Capacity`] when `distances` is shorter than the ground set.
///
/// ```
/// use dpp_nystrom_core::{Landmarks, Points, Random, Workspace, kernel::Gaussian, start};
///
/// let rows = [0.0, 1.0, 50.0, 99.0];
/// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
/// let (mut memory, mut random) = (Workspace::<f64, 3>::new(), Random::seeded(7));
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// let mut left = 2; // a budget of seeds
/// let goes_on = || { left -= 1; left >= 0 };
/// assert!(!start::kmeans_plus_plus_while(&mut landmarks, 3, &mut [0.0; 4], &mut random, goes_on)?);
/// assert!(landmarks.is_empty()); // as before
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub fn kmeans_plus_plus_while<T, G, R>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    distances: &mut [T],
    random: &mut R,
    mut goes_on: impl FnMut() -> bool,
) -> Result<bool, Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    let ground = landmarks.ground();
    let distances = take(distances, ground.len())?;
    let approach = |distances: &mut [T], landmark: usize| -> Result<(), Error> {
        for (row, nearest) in distances.iter_mut().enumerate() {
            let distance = ground.try_squared_distance(row, landmark)?;
            // A NaN distance is stored and kept until it is reported.
            let known = *nearest >= T::ZERO || *nearest < T::ZERO;
            if known && !(distance >= *nearest) {
                *nearest = distance;
            }
        }
        Ok(())
    };
    distances.fill(T::ONE / T::ZERO);
    for &landmark in landmarks.members() {
        approach(distances, landmark)?;
    }
    let mut stopped = false;
    let filled = fill(landmarks, c, |landmarks| {
        if !goes_on() {
            stopped = true;
            return Err(Error::Empty);
        }
        let mut pushed = false;
        for _ in 0..DRAWS {
            let row = if landmarks.is_empty() {
                below(random, ground.len())
            } else {
                match in_proportion(distances, T::from_draw(random.next_u32()))? {
                    Some(row) => row,
                    None => break,
                }
            };
            pushed = !landmarks.contains(row) && try_push(landmarks, row)?;
            if pushed {
                break;
            }
            // Distant from every landmark but dependent on them: do not draw it again.
            if !landmarks.is_empty() {
                *distances.get_mut(row).known()? = T::ZERO;
            }
        }
        if !pushed {
            push_any(landmarks, c, random)?;
        }
        if landmarks.len() < c
            && let Some(&landmark) = landmarks.members().last()
        {
            approach(distances, landmark)?;
        }
        Ok(())
    });
    if stopped { Ok(false) } else { filled.map(|()| true) }
}

/// Call `push_one` until there are `c` landmarks. On an error, remove those that were added.
fn fill<'a, T, G>(
    landmarks: &mut Landmarks<'a, T, G>,
    c: usize,
    mut push_one: impl FnMut(&mut Landmarks<'a, T, G>) -> Result<(), Error>,
) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
{
    let rows = landmarks.ground().len();
    if c == 0 {
        return Err(Error::Empty);
    }
    if c > rows {
        return Err(Error::TooManyLandmarks { landmarks: c, rows });
    }
    check_capacity(c, landmarks.factor().capacity())?;
    let before = landmarks.len();
    while landmarks.len() < c {
        if let Err(error) = push_one(landmarks) {
            landmarks.truncate(before);
            return Err(error);
        }
    }
    Ok(())
}

/// Append a row if it is independent of the landmarks. Return whether it was.
fn try_push<T, G>(landmarks: &mut Landmarks<'_, T, G>, row: usize) -> Result<bool, Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
{
    match landmarks.push(row) {
        Ok(()) => Ok(true),
        Err(Error::NotPositive { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Append the first independent row, starting from a random one.
fn push_any<T, G, R>(landmarks: &mut Landmarks<'_, T, G>, c: usize, random: &mut R) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
    R: Rng + ?Sized,
{
    let rows = landmarks.ground().len();
    let first = below(random, rows);
    for row in (first..rows).chain(0..first) {
        if !landmarks.contains(row) && try_push(landmarks, row)? {
            return Ok(());
        }
    }
    Err(Error::RankDeficient { rank: landmarks.len(), landmarks: c })
}

/// Draw an index with probability proportional to the weights. None if they are all zero.
fn in_proportion<T: Scalar>(weights: &[T], uniform: T) -> Result<Option<usize>, Error> {
    let mut total = Sum::default();
    for (row, &weight) in weights.iter().enumerate() {
        if !weight.is_finite() {
            return Err(Error::NotFinite { row, column: row });
        }
        total.add(weight);
    }
    let bound = uniform * total.total();
    let mut below = Sum::default();
    let mut last = None;
    for (row, &weight) in weights.iter().enumerate() {
        if weight > T::ZERO {
            below.add(weight);
            last = Some(row);
            if below.total() > bound {
                break;
            }
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::in_proportion;
    use crate::error::Error;

    #[test]
    fn the_ends_of_the_unit_interval_meet_the_first_and_last_weight() {
        let weights = [0.0, 1.0, 0.0, 2.0, 1.0, 0.0];
        assert_eq!(in_proportion(&weights, 0.0), Ok(Some(1)));
        assert_eq!(in_proportion(&weights, 0.25), Ok(Some(3)));
        assert_eq!(in_proportion(&weights, 0.749_999), Ok(Some(3)));
        assert_eq!(in_proportion(&weights, 0.75), Ok(Some(4)));
        assert_eq!(in_proportion(&weights, 1.0 - f64::EPSILON), Ok(Some(4)));
    }

    #[test]
    fn zero_weights_draw_nothing_and_nan_is_an_error() {
        assert_eq!(in_proportion(&[0.0, 0.0], 0.5), Ok(None));
        assert_eq!(in_proportion(&[0.0, f32::NAN], 0.5), Err(Error::NotFinite { row: 1, column: 1 }));
    }
}
