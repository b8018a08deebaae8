//! As few landmarks as an error allows, and the curve of errors that was seen on the way.

use crate::arguments::positive;
use crate::error::Error;
use crate::output::{aligned, short};
use clap::{Args, ValueEnum};
use dpp_nystrom::landmarks::{Criterion, Tolerance};
use dpp_nystrom::pipeline::{Landmarks, Selected};
use dpp_nystrom::{Ridge, approximation::CurvePoint};
use dpp_nystrom_lab::chart::{Axis, Panel, Scale, Series, draw};
use dpp_nystrom_lab::curves::look;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Lines of the curve in text; a picture and JSON have all of it.
const LINES: usize = 16;

/// A look of its own for the line of what was asked for: the chart's last colour, dashed.
const ASKED: usize = 13;

#[derive(Debug, Args)]
pub(crate) struct ToleranceArguments {
    /// In place of --landmarks: as few of them as have an error of at most E
    #[arg(long, value_name = "E", value_parser = positive, conflicts_with = "landmarks")]
    tolerance: Option<f64>,
    /// Which error
    #[arg(long, value_enum, default_value_t = CriterionName::Trace, requires = "tolerance", conflicts_with = "landmarks")]
    tolerance_on: CriterionName,
    /// Landmarks that --tolerance may come to [default: half of the rows, and no more than 1000]
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..), requires = "tolerance", conflicts_with = "landmarks")]
    max_landmarks: Option<u32>,
    /// Draw the error over the number of landmarks
    #[arg(long, value_name = "FILE.svg", requires = "tolerance", conflicts_with = "landmarks")]
    pub(crate) curve: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CriterionName {
    /// The trace error over the trace
    Trace,
    /// The error of ridge regression in 10-fold cross-validation, in standard deviations of the target
    Prediction,
}

/// The errors that were measured, as JSON has them.
#[derive(Debug, Serialize)]
pub(crate) struct Curve {
    tolerance: f64,
    tolerance_on: &'static str,
    curve: Vec<Point>,
    #[serde(skip)]
    criterion: Criterion,
}

#[derive(Debug, Serialize)]
struct Point {
    landmarks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cv_nrmse: Option<f64>,
}

impl ToleranceArguments {
    /// Whether a tolerance is given.
    pub(crate) fn is_given(&self) -> bool {
        self.tolerance.is_some()
    }

    /// Which landmarks are wanted: this many or the usual number, or as few as the tolerance allows among
    /// `rows` rows.
    pub(crate) fn wanted(&self, landmarks: Option<usize>, rows: usize, ridge: Ridge) -> Landmarks {
        match self.tolerance {
            None => landmarks.map_or(Landmarks::Usual, Landmarks::Count),
            Some(error) => {
                let usual = Tolerance::among(rows, error, self.criterion(ridge));
                let most = self.max_landmarks.map_or(usual.most, |most| most as usize);
                Landmarks::Within(Tolerance { most, ..usual })
            }
        }
    }

    fn criterion(&self, ridge: Ridge) -> Criterion {
        match self.tolerance_on {
            CriterionName::Trace => Criterion::Trace,
            CriterionName::Prediction => Criterion::Prediction(ridge),
        }
    }

    /// The curve of errors, where there is a tolerance; drawn, if that is asked for.
    pub(crate) fn curve(&self, selected: &Selected<'_>, method: &str) -> Result<Option<Curve>, Error> {
        let (Some(tolerance), Some(points)) = (self.tolerance, &selected.curve) else { return Ok(None) };
        let curve = Curve::new(tolerance, self.criterion(Ridge::CrossValidated), points);
        if let Some(path) = &self.curve {
            curve.draw(path, method, &selected.source().columns().name)?;
        }
        Ok(Some(curve))
    }
}

impl Curve {
    fn new(tolerance: f64, criterion: Criterion, points: &[CurvePoint]) -> Self {
        let is_trace = criterion == Criterion::Trace;
        let curve = points.iter().map(|&CurvePoint { landmarks, error }| Point {
            landmarks,
            trace_fraction: is_trace.then_some(error),
            cv_nrmse: (!is_trace).then_some(error),
        });
        let tolerance_on = if is_trace { "trace" } else { "prediction" };
        Self { tolerance, tolerance_on, curve: curve.collect(), criterion }
    }

    fn points(&self) -> impl Iterator<Item = (usize, f64)> {
        self.curve
            .iter()
            .filter_map(|point| Some((point.landmarks, point.trace_fraction.or(point.cv_nrmse)?)))
    }

    fn draw(&self, path: &Path, method: &str, dataset: &str) -> Result<(), Error> {
        let points: Vec<(f64, [f64; 3])> = self.points().map(|(c, error)| (c as f64, [error; 3])).collect();
        let ends = [points.first(), points.last()].into_iter().flatten();
        let asked = ends.map(|&(c, _)| (c, [self.tolerance; 3])).collect();
        let unit = match self.criterion {
            Criterion::Trace => "trace error / trace",
            Criterion::Prediction(_) => "10-fold error / deviation of the target",
        };
        let panel = Panel {
            title: String::new(),
            x: Axis::new("landmarks c", Scale::Logarithmic),
            y: Axis::new(unit, Scale::Logarithmic),
            series: vec![
                Series { name: method.to_owned(), look: look(method), points },
                Series { name: "tolerance".to_owned(), look: ASKED, points: asked },
            ],
        };
        Ok(draw(path, &format!("{dataset}: landmarks for an error"), &[panel])?)
    }

    /// Some of the points, those on both sides of the tolerance among them.
    pub(crate) fn text(&self) -> String {
        let all: Vec<(usize, f64)> = self.points().collect();
        let crossed = all.iter().position(|point| point.1 <= self.tolerance).unwrap_or(0);
        let mut next = 0.0;
        let mut rows = Vec::new();
        for (at, &(c, error)) in all.iter().enumerate() {
            let is_due = all.len() <= LINES || c as f64 >= next;
            if !is_due && at != crossed && at + 1 != crossed && at + 1 != all.len() {
                continue;
            }
            if is_due {
                next = c as f64 * 1.5;
            }
            let mark = if error <= self.tolerance { "within" } else { "" };
            rows.push(vec![c.to_string(), short(error), mark.to_owned()]);
        }
        let header = ["landmarks", &self.criterion.to_string(), ""];
        format!("\n{}", aligned(&header, &rows))
    }
}
