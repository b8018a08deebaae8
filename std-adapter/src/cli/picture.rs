//! Error against the number of landmarks, as an SVG picture.

use super::evaluate::mean;
use dpp_nystrom::{Error, Trial, write_whole};
use plotters::prelude::{
    ChartBuilder, Circle, Color, ErrorBar, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, PathElement,
    RGBColor, SVGBackend, SeriesLabelPosition, ShapeStyle, TextStyle, WHITE,
};
use std::path::Path;

/// Trials at one setting.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) trials: Vec<Trial>,
}

/// Okabe and Ito's colours, which colour-blind readers tell apart.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

const WIDTH: u32 = 960;
const HEIGHT: u32 = 420;

/// A method's curve: c, and the least, mean and greatest error over the seeds.
type Curve = Vec<(f64, [f64; 3])>;

/// Draws a panel for each setting, side by side: mean over the seeds, bars from the least to the
/// greatest.
pub(crate) fn draw(path: &Path, title: &str, panels: &[&Panel]) -> Result<(), Error> {
    let mut svg = String::new();
    render(&mut svg, title, panels).map_err(|error| Error::Picture { reason: error.to_string() })?;
    write_whole(path, |file| file.write_all(svg.as_bytes()))
}

fn render(svg: &mut String, title: &str, panels: &[&Panel]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled(title, ("sans-serif", 22))?;
    for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
        let curves = curves(&panel.trials);
        let points = || curves.iter().flat_map(|(_, curve)| curve);
        let least = points().map(|(_, [least, ..])| *least).fold(f64::INFINITY, f64::min);
        let most = points().map(|(_, [.., most])| *most).fold(0.0, f64::max);
        let first = points().map(|(c, _)| *c).fold(f64::INFINITY, f64::min);
        let last = points().map(|(c, _)| *c).fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .caption(&panel.title, ("sans-serif", 16))
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(
                (first / 1.15..last * 1.15).log_scale(),
                (least / 1.5..most * 1.5).log_scale(),
            )?;
        chart
            .configure_mesh()
            .x_desc("landmarks c")
            .y_desc("trace error / trace")
            .x_label_formatter(&|c| format!("{c:.0}"))
            .y_label_formatter(&|error| format!("{error:.0e}"))
            .axis_desc_style(("sans-serif", 15))
            .light_line_style(WHITE)
            .draw()?;
        for (at, ((name, curve), &colour)) in curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let line = ShapeStyle::from(&colour).stroke_width(2);
            chart
                .draw_series(LineSeries::new(curve.iter().map(|&(c, [_, mean, _])| (c, mean)), line))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], line));
            // Shifted a little, so that bars do not hide each other.
            let shift = 1.0 + 0.012 * at as f64;
            chart.draw_series(curve.iter().map(|&(c, [least, mean, most])| {
                ErrorBar::new_vertical(c * shift, least, mean, most, line, 7)
            }))?;
            chart.draw_series(
                curve.iter().map(|&(c, [_, mean, _])| Circle::new((c * shift, mean), 4, colour.filled())),
            )?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE)
            .border_style(RGBColor(160, 160, 160))
            .label_font(TextStyle::from(("sans-serif", 15).into_font()))
            .draw()?;
    }
    root.present()?;
    Ok(())
}

/// A curve for each method, in the order in which they come.
fn curves(trials: &[Trial]) -> Vec<(String, Curve)> {
    let mut curves: Vec<(String, Curve)> = Vec::new();
    let mut numbers: Vec<usize> = trials.iter().map(|trial| trial.landmarks).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for trial in trials {
        if curves.iter().all(|(name, _)| *name != trial.method) {
            curves.push((trial.method.clone(), Vec::new()));
        }
    }
    for (name, curve) in &mut curves {
        for &c in &numbers {
            let errors = || {
                trials
                    .iter()
                    .filter(|trial| trial.method == *name && trial.landmarks == c)
                    .map(|trial| trial.trace_fraction)
            };
            if let Some(mean) = mean(errors()) {
                let least = errors().fold(f64::INFINITY, f64::min);
                curve.push((c as f64, [least, mean, errors().fold(0.0, f64::max)]));
            }
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::{Panel, draw};
    use dpp_nystrom::Trial;

    #[test]
    fn a_picture_names_its_axes_and_methods() {
        let trial = |method: &str, landmarks, trace_fraction| Trial {
            dataset: String::new(),
            rows: 10,
            train: 10,
            test: 0,
            method: method.to_owned(),
            landmarks,
            seed: 0,
            fro_rel: None,
            spec_rel: None,
            trace_fraction,
            train_nrmse: None,
            test_nrmse: None,
            seconds: 0.0,
            sigma: 1.0,
            ridge: None,
        };
        let trials = vec![trial("kdpp", 2, 0.5), trial("kdpp", 4, 0.1), trial("uniform", 2, 0.6)];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.svg");
        draw(&path, "A title", &[&Panel { title: "a panel".to_owned(), trials }]).unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for text in ["A title", "a panel", "kdpp", "uniform", "landmarks c", "trace error / trace"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
