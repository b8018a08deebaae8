//! Rows and landmarks in the two directions in which the features vary most.

use crate::error::Error;
use dpp_nystrom::approximation::Components;
use dpp_nystrom::{Nystroem, data::RowSource};
use dpp_nystrom_lab::chart::{Axis, Layer, Picture, Scale};

/// Rows and landmarks of the picture.
pub(crate) const COMPONENT_ROWS: usize = 1_000;

/// The picture, dots for rows below triangles for landmarks, and what it shows in words.
pub(crate) struct ComponentPicture {
    pub(crate) picture: Picture,
    pub(crate) label: String,
}

/// Project at most [`COMPONENT_ROWS`] rows and as many of these landmarks, which are scaled points.
pub(crate) fn picture(
    map: &Nystroem,
    rows: &dyn RowSource,
    landmarks: &[f64],
) -> Result<ComponentPicture, Error> {
    let sample: Vec<usize> = spaced(rows.len(), COMPONENT_ROWS).collect();
    let features = map.transform_scaled(&rows.gather(&sample)?.rows)?;
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
        sample.len(),
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
