//! Predictions of numbers beside the targets.

use super::page::{figure, section, table, tiles};
use super::{POINTS, Subject, TARGETS, histogram, linear, quantile, shown};
use crate::chart::{Layer, Picture};
use crate::components::spaced;
use crate::error::Error;
use crate::text::number;
use dpp_nystrom::Model;
use dpp_nystrom::data::{RowSource, TargetColumn};
use dpp_nystrom::regression::HeldOut;
use maud::{Markup, html};

/// Rows with the largest errors that are named.
const WORST: usize = 10;

/// One target: what is true, and what was predicted.
struct Predicted<'a> {
    name: String,
    deviation: f64,
    /// The numbers of the rows in the file.
    numbers: &'a [usize],
    both: Vec<(f64, f64)>,
}

/// The errors of a target.
struct Errors {
    root_mean_square: f64,
    explained: f64,
    mean: f64,
    /// The mean, the median, the 90 % quantile and the largest of absolute errors.
    absolute: [f64; 4],
}

impl<'a> Predicted<'a> {
    /// Return each target of rows with these numbers.
    fn of(model: &Model, held_out: &HeldOut, numbers: &'a [usize]) -> Vec<Self> {
        let outputs = model.outputs();
        let of_target = |(at, target): (usize, TargetColumn)| {
            let of = |values: &[f64]| values.iter().skip(at).step_by(outputs).copied().collect::<Vec<_>>();
            let both = of(&held_out.targets).into_iter().zip(of(&held_out.outputs)).collect();
            Self { name: target.name, deviation: target.deviation, numbers, both }
        };
        model.targets().enumerate().map(of_target).collect()
    }

    /// Return the places of the rows with the largest errors.
    fn worst(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.both.len()).collect();
        let error = |place: &usize| (self.both[*place].0 - self.both[*place].1).abs();
        places.sort_by(|one, other| error(other).total_cmp(&error(one)));
        places.truncate(WORST);
        places
    }

    /// Return true value minus prediction.
    fn residuals(&self) -> impl Iterator<Item = f64> + Clone {
        self.both.iter().map(|(target, output)| target - output)
    }

    fn errors(&self) -> Errors {
        let count = self.both.len() as f64;
        let mean_of = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count;
        let squares = mean_of(&mut self.residuals().map(|residual| residual * residual));
        let mean = mean_of(&mut self.both.iter().map(|both| both.0));
        let variance = mean_of(&mut self.both.iter().map(|both| (both.0 - mean).powi(2)));
        let mut absolute: Vec<f64> = self.residuals().map(f64::abs).collect();
        absolute.sort_unstable_by(f64::total_cmp);
        Errors {
            root_mean_square: squares.sqrt(),
            explained: 1.0 - squares / variance,
            mean: mean_of(&mut self.residuals()),
            absolute: [
                mean_of(&mut absolute.iter().copied()),
                quantile(&absolute, 0.5),
                quantile(&absolute, 0.9),
                quantile(&absolute, 1.0),
            ],
        }
    }

    /// Draw predictions and residuals.
    fn pictures(&self, nearest: &[(u64, f64)]) -> Result<Markup, Error> {
        let points = || spaced(self.both.len(), POINTS).map(|place| self.both[place]);
        let ends = self.both.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], both| {
            [least.min(both.0), most.max(both.0)]
        });
        let errors = self.errors();
        let predicted = Picture {
            x: linear("predicted"),
            y: linear("true"),
            layers: vec![
                Layer::Dots(points().map(|(target, output)| (output, target)).collect()),
                Layer::Line(ends.map(|end| (end, end)).to_vec()),
            ],
        };
        let shift = points().map(|both| both.1);
        let range = shift.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], output| {
            [least.min(output), most.max(output)]
        });
        let residuals = Picture {
            x: linear("predicted"),
            y: linear("true - predicted"),
            layers: vec![
                Layer::Dots(points().map(|(target, output)| (output, target - output)).collect()),
                Layer::Line(range.map(|end| (end, 0.0)).to_vec()),
            ],
        };
        let (bars, left_out) = histogram(&self.residuals().collect::<Vec<f64>>(), 30);
        let spread =
            Picture { x: linear("true - predicted"), y: linear("rows"), layers: vec![Layer::Bars(bars)] };
        let (count, name) = (points().count(), shown(&self.name));
        let own = format!("the root mean squared error is {}", number(errors.root_mean_square));
        let first = [
            ("error in standard deviations", number(errors.root_mean_square / self.deviation)),
            ("root mean squared error", number(errors.root_mean_square)),
            ("R²", number(errors.explained)),
        ];
        Ok(html! {
            (tiles(&first))
            div.figures {
                (figure(&predicted.svg()?, "True against predicted",
                    &format!("Points: {count} true values of {name} over their predictions; {own}."),
                    &html! { span.line.k1 {} " equal" }))
                (figure(&residuals.svg()?, "Residuals over predictions",
                    &format!("Points: {count} residuals of {name} over the predictions; their mean is {}.", number(errors.mean)),
                    &html! { span.line.k1 {} " no error" }))
                (figure(&spread.svg()?, "Distribution of residuals",
                    &format!("Histogram of {} residuals of {name}; half of them are within {} of 0.", self.both.len(), number(errors.absolute[1])),
                    &html! { @if left_out > 0 { (left_out) " residuals at both ends are not shown" } }))
                (self.table(&errors))
            }
            (self.worst_rows(nearest))
        })
    }

    fn table(&self, errors: &Errors) -> Markup {
        let [mean, median, most, largest] = errors.absolute;
        let rows = [
            ("mean absolute error", number(mean)),
            ("median absolute error", number(median)),
            ("absolute error of nine rows in ten at most", number(most)),
            ("largest absolute error", number(largest)),
            ("mean of true - predicted", number(errors.mean)),
        ];
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        table(&format!("Errors of {}", shown(&self.name)), &["", ""], &rows)
    }

    /// The rows with the largest errors, each beside the landmark that is nearest.
    fn worst_rows(&self, landmarks: &[(u64, f64)]) -> Markup {
        let mut header = vec!["row", "true", "predicted", "difference"];
        header.extend(landmarks.iter().flat_map(|_| ["nearest landmark, a row", "distance to it"]).take(2));
        let line = |(at, place): (usize, usize)| {
            let (target, output) = self.both[place];
            let mut line = vec![self.numbers[place].to_string()];
            line.extend([target, output, target - output].map(number));
            if let Some((row, distance)) = landmarks.get(at) {
                line.extend([row.to_string(), number(*distance)]);
            }
            line
        };
        let rows: Vec<Vec<String>> = self.worst().into_iter().enumerate().map(line).collect();
        table("Rows with the largest errors, counted from 0", &header, &rows)
    }
}

/// Return, for each of the first targets, the number of the landmark nearest to each of the rows with the
/// largest errors, and its distance; nothing if landmarks are points.
pub(super) fn nearest(
    model: &Model,
    source: &dyn RowSource,
    held_out: &HeldOut,
) -> Result<Vec<Vec<(u64, f64)>>, Error> {
    let landmarks = model.coefficients.to_f64().landmarks;
    let of_target = |target: Predicted<'_>| {
        let rows: Vec<usize> = target.worst().into_iter().map(|place| held_out.rows[place]).collect();
        let data = source.gather(&rows)?;
        let of_row = |row: &[f64]| {
            let square =
                |landmark: &[f64]| row.iter().zip(landmark).map(|(x, z)| (x - z) * (x - z)).sum::<f64>();
            let squares = landmarks.chunks_exact(data.dim().max(1)).map(square);
            let numbered = model.landmark_rows.iter().copied().zip(squares);
            numbered
                .min_by(|one, other| one.1.total_cmp(&other.1))
                .map(|(number, square)| (number, square.sqrt()))
        };
        Ok(data.rows().chunks_exact(data.dim().max(1)).filter_map(of_row).collect())
    };
    Predicted::of(model, held_out, &[]).into_iter().take(TARGETS).map(of_target).collect()
}

/// The sections of all targets; of those after the first few the errors alone.
pub(super) fn sections(
    subject: &Subject,
    model: &Model,
    held_out: &HeldOut,
    of_what: &str,
) -> Result<Markup, Error> {
    let all = Predicted::of(model, held_out, &subject.numbers);
    let row = |target: &Predicted<'_>| {
        let Errors { root_mean_square, explained, absolute, .. } = target.errors();
        let relative = root_mean_square / target.deviation;
        let numbers = [root_mean_square, relative, explained, absolute[0]].map(number);
        std::iter::once(shown(&target.name)).chain(numbers).collect()
    };
    let header = ["target", "root mean squared error", "in standard deviations", "R²", "mean absolute error"];
    let overview = all.iter().map(row).collect::<Vec<Vec<String>>>();
    Ok(html! {
        @if all.len() > 1 {
            (section("targets", "Targets", &html! { p { (of_what) } (table("Errors of each target", &header, &overview)) }))
        }
        @for (at, (target, nearest)) in all.iter().zip(&subject.nearest).enumerate() {
            (section(&format!("target{at}"), &format!("Predictions of {}", shown(&target.name)), &html! {
                @if all.len() == 1 { p { (of_what) } }
                (target.pictures(nearest)?)
            }))
        }
        @if all.len() > TARGETS {
            p { "The other " (all.len() - TARGETS) " targets have no pictures here." }
        }
    })
}
