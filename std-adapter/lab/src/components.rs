//! Rows and landmarks in the two directions in which the features vary most.

use crate::chart::{Axis, Layer, Picture, Scale};
use crate::error::Error;
use dpp_nystrom::approximation::Components;
use dpp_nystrom::{Nystroem, data::RowSource};

/// Rows and landmarks of the picture.
pub const COMPONENT_ROWS: usize = 1_000;

/// Numbers in the rows that are copied for a picture: 32 MiB.
const NUMBERS: usize = 1 << 22;

/// The picture, dots for rows below triangles for landmarks, and what it shows in words.
#[derive(Clone, Debug)]
pub struct ComponentPicture {
    /// The picture.
    pub picture: Picture,
    /// What it shows.
    pub label: String,
}

/// Copy at most [`COMPONENT_ROWS`] rows, as the kernel has them.
///
/// # Errors
/// Those of [`RowSource::gather`].
pub fn sampled(rows: &dyn RowSource) -> Result<Vec<f64>, Error> {
    Ok(rows.gather(&some_of(rows, COMPONENT_ROWS).collect::<Vec<_>>())?.rows().to_vec())
}

/// Project rows and at most [`COMPONENT_ROWS`] of these landmarks, which are scaled points.
///
/// # Errors
/// Those of [`Components`].
pub fn picture(map: &Nystroem, rows: &[f64], landmarks: &[f64]) -> Result<ComponentPicture, Error> {
    let features = map.transform_scaled(rows)?;
    let found = Components::of(&features, map.rank(), 2)?;
    let width = found.shares.len();
    let of = |features: &[f64]| -> Result<Vec<(f64, f64)>, Error> {
        let points = found.project(features)?;
        Ok(points.chunks_exact(width.max(1)).map(|at| (at[0], at.get(1).copied().unwrap_or(0.0))).collect())
    };
    let centres = map.transform_scaled(landmarks)?;
    let count = centres.len() / map.rank().max(1);
    let centres = of(&centres)?;
    let centres: Vec<(f64, f64)> =
        if width > 0 { spaced(count, COMPONENT_ROWS).map(|at| centres[at]).collect() } else { Vec::new() };
    let share = |at: usize| found.shares.get(at).map_or(0.0, |share| 100.0 * share);
    let axis = |at: usize| {
        Axis::new(&format!("component {} ({:.1} % of the variance)", at + 1, share(at)), Scale::Linear)
    };
    let label = format!(
        "Points: {} rows and {} landmarks in the first two kernel principal components, with {:.1} and {:.1} % of the variance.",
        features.len() / map.rank().max(1),
        centres.len(),
        share(0),
        share(1)
    );
    let layers = vec![Layer::Dots(of(&features)?), Layer::Triangles(centres)];
    Ok(ComponentPicture { picture: Picture { x: axis(0), y: axis(1), layers }, label })
}

/// Return at most `most` of `count` places, evenly spaced.
pub(crate) fn spaced(count: usize, most: usize) -> impl Iterator<Item = usize> + Clone {
    (0..count).step_by(count.div_ceil(most).max(1))
}

/// Return at most `most` of the rows, evenly spaced; of wide ones fewer.
pub(crate) fn some_of(rows: &dyn RowSource, most: usize) -> impl Iterator<Item = usize> + Clone {
    spaced(rows.len(), most.min(NUMBERS / rows.width().max(1)).max(1))
}
