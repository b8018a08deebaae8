//! The cross-validation error over bandwidth and ridge, as an SVG heat map.

use crate::chart::{Area, Outcome, write_svg};
use crate::error::Error;
use crate::text::short;
use crate::tune::Surface;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color, IntoLogRange, RGBColor, Rectangle, ShapeStyle, WHITE,
};
use std::path::Path;

const WIDTH: u32 = 860;
const HEIGHT: u32 = 520;
/// Width of the colour scale beside the map.
const SCALE: u32 = 150;
const STEPS: usize = 64;

/// Errors above this share one colour; 1 is the error of predicting the target's mean.
const MOST: f64 = 1.0;

/// From the smallest error to the largest: dark blue through grey to yellow, in even steps of lightness, so
/// that the order is preserved for colour-blind readers and in greyscale.
const RAMP: [RGBColor; 5] = [
    RGBColor(0, 32, 81),
    RGBColor(60, 77, 110),
    RGBColor(127, 124, 117),
    RGBColor(187, 175, 113),
    RGBColor(253, 234, 69),
];

/// Colour of points at which the equations could not be solved.
const NOTHING: RGBColor = RGBColor(255, 255, 255);

impl Surface {
    /// Draw the errors to an SVG file.
    ///
    /// # Errors
    /// [`Error::Picture`], and [`Error::Library`] if the file cannot be written.
    pub fn draw(&self, path: &Path, title: &str) -> Result<(), Error> {
        write_svg(path, (WIDTH, HEIGHT), (title, 20), |root| {
            let (map, scale) = root.split_horizontally(WIDTH - SCALE);
            let range = Range::of(self);
            heat(&map, self, &range)?;
            legend(&scale, &range)
        })
    }
}

/// The range of errors of the colour scale.
struct Range {
    least: f64,
    most: f64,
    /// Whether some errors exceed the maximum.
    clipped: bool,
}

impl Range {
    fn of(surface: &Surface) -> Self {
        let least = surface.least();
        let greatest = surface.errors.iter().flatten().flatten().copied().fold(least, f64::max);
        let most = greatest.min(MOST.max(1.2 * least));
        // A grid of one point has no range.
        let room = if most > least { most } else { 1.01 * least + f64::MIN_POSITIVE };
        Self { least, most: room, clipped: greatest > most }
    }

    /// Return the colour of an error, on a logarithmic scale.
    fn colour(&self, error: f64) -> RGBColor {
        let place = ((error / self.least).ln() / (self.most / self.least).ln()).clamp(0.0, 1.0);
        let place = if place.is_finite() { place } else { 0.0 };
        let at = (place * (RAMP.len() - 1) as f64).floor().min((RAMP.len() - 2) as f64);
        let share = place * (RAMP.len() - 1) as f64 - at;
        let (RGBColor(r, g, b), RGBColor(red, green, blue)) = (RAMP[at as usize], RAMP[at as usize + 1]);
        let mix =
            |one: u8, other: u8| (f64::from(one) * (1.0 - share) + f64::from(other) * share).round() as u8;
        RGBColor(mix(r, red), mix(g, green), mix(b, blue))
    }
}

/// Return the borders of the cells of a grid: midpoints on the logarithmic scale, extended by as much at the
/// ends.
fn borders(grid: &[f64]) -> Vec<f64> {
    let ratio = |at: usize| grid.get(at + 1).map_or(2.0, |next| next / grid[at]).sqrt();
    let inner = (0..grid.len()).map(|at| grid[at] * ratio(at.min(grid.len().saturating_sub(2))));
    std::iter::once(grid[0] / ratio(0)).chain(inner).collect()
}

fn heat(area: &Area<'_>, surface: &Surface, range: &Range) -> Outcome {
    let (sigmas, ridges) = (borders(&surface.sigmas), borders(&surface.ridges));
    let least = format!(
        "minimum (ring): {} at bandwidth {} and ridge {:.1e}",
        short(surface.least()),
        short(surface.sigmas[surface.best_sigma]),
        surface.ridges[surface.best_ridge]
    );
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(&least, ("sans-serif", 15))
        .x_label_area_size(46)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (sigmas[0]..sigmas[sigmas.len() - 1]).log_scale(),
            (ridges[0]..ridges[ridges.len() - 1]).log_scale(),
        )?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("bandwidth (in standard deviations of the features)")
        .y_desc("ridge (times the number of rows)")
        .x_label_formatter(&|sigma| short(*sigma))
        .label_style(("sans-serif", 12))
        .y_label_formatter(&|ridge| format!("{ridge:.0e}"))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    let cells =
        surface.errors.iter().enumerate().flat_map(|(sigma, row)| {
            row.iter().enumerate().map(move |(ridge, error)| (sigma, ridge, *error))
        });
    chart.draw_series(cells.map(|(sigma, ridge, error)| {
        let colour = error.map_or(NOTHING, |error| range.colour(error));
        let corners = [(sigmas[sigma], ridges[ridge]), (sigmas[sigma + 1], ridges[ridge + 1])];
        Rectangle::new(corners, colour.filled())
    }))?;
    let (sigma, ridge) = (surface.sigmas[surface.best_sigma], surface.ridges[surface.best_ridge]);
    let ring =
        |colour: &RGBColor, dim| Circle::new((sigma, ridge), 8, ShapeStyle::from(colour).stroke_width(dim));
    chart.draw_series([ring(&BLACK, 6), ring(&WHITE, 2)])?;
    Ok(())
}

fn legend(area: &Area<'_>, range: &Range) -> Outcome {
    let level = |place: f64| range.least * (range.most / range.least).powf(place);
    let mut chart = ChartBuilder::on(area)
        .margin_top(34)
        .margin_bottom(56)
        .margin_right(16)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    let label = |place: &f64| match *place < 1.0 {
        true => short(level(*place)),
        false if range.clipped => format!("over {}", short(range.most)),
        false => short(range.most),
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_x_axis()
        .y_labels(6)
        .y_desc("10-fold error (standard deviations of the target)")
        .y_label_formatter(&label)
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    let step = |step: usize| step as f64 / STEPS as f64;
    chart.draw_series((0..STEPS).map(|at| {
        let colour = range.colour(level((step(at) + step(at + 1)) / 2.0));
        Rectangle::new([(0.0, step(at)), (1.0, step(at + 1))], colour.filled())
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Range, borders};
    use crate::tune::Surface;

    fn surface() -> Surface {
        Surface {
            sigmas: vec![1.0, 2.0, 4.0],
            median: Some(1.0),
            ridges: vec![1e-4, 1e-2],
            errors: vec![vec![Some(0.9), Some(30.0)], vec![Some(0.25), Some(0.5)], vec![None, Some(0.7)]],
            best_sigma: 1,
            best_ridge: 0,
        }
    }

    #[test]
    fn a_map_names_its_axes_and_its_minimum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("surface.svg");
        surface().draw(&path, "rows & columns").unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for text in [
            "rows &amp; columns",
            "bandwidth",
            "ridge",
            "10-fold error",
            "standard deviations of the target",
            "over 1.000",
            "minimum (ring): 0.2500 at bandwidth 2.000 and ridge 1.0e-4",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        // Six cells and the scale, on the background.
        assert!(svg.matches("<rect").count() >= 6 + super::STEPS, "{svg}");
    }

    #[test]
    fn colours_keep_the_order_of_errors() {
        let range = Range::of(&surface());
        assert_eq!((range.least, range.most), (0.25, 1.0));
        let lightness = |error| {
            let colour = range.colour(error);
            0.2126 * f64::from(colour.0) + 0.7152 * f64::from(colour.1) + 0.0722 * f64::from(colour.2)
        };
        let shown: Vec<f64> =
            (0..=30).map(|step| lightness(0.25 * 4.0_f64.powf(f64::from(step) / 30.0))).collect();
        assert!(shown.is_sorted_by(|one, next| one < next), "{shown:?}");
        assert_eq!(range.colour(30.0), range.colour(1.0));
    }

    #[test]
    fn cells_meet_half_way() {
        assert_eq!(borders(&[1.0, 4.0]), [0.5, 2.0, 8.0]);
        assert_eq!(borders(&[1.0]), [1.0 / 2.0_f64.sqrt(), 2.0_f64.sqrt()]);
    }
}
