//! SVG charts: curves in panels side by side with a shared legend, bars, and pictures of points, lines and
//! bars for a page.

use crate::error::Error;
use crate::statistics::distinct;
use crate::text::{plain, plain_line, tick};
use dpp_nystrom_host::atomic_file::write_whole;
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::{
    ChartBuilder, Circle, Color, Cross, DashedLineSeries, DrawingArea, ErrorBar, IntoDrawingArea, LineSeries,
    PathElement, RGBColor, Rectangle, SVGBackend, ShapeStyle, Text, TriangleMarker, WHITE,
};
use std::{ops::Range, path::Path};

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// In proportion to the value.
    Linear,
    /// Logarithmic; values that are not positive are omitted.
    Logarithmic,
}

/// An axis: its title, with the unit, and its scale.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The title.
    pub title: String,
    /// The scale.
    pub scale: Scale,
}

impl Axis {
    /// Return an axis.
    pub fn new(title: &str, scale: Scale) -> Self {
        Self { title: title.to_owned(), scale }
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Return the tick positions of an axis that extends from one place to another.
    fn ticks(&self, from: f64, to: f64) -> Vec<f64> {
        if self.scale == Scale::Linear {
            return even(from, to);
        }
        let within: &[f64] = match to - from {
            0.0..1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            1.2..2.5 => &[1.0, 2.0, 5.0],
            2.5..4.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        // At most eight powers of ten.
        let step = ((to - from) / 8.0).ceil().max(1.0) as i32;
        let powers = ((from.floor() as i32)..=(to.ceil() as i32)).filter(|power| power.rem_euclid(step) == 0);
        let places =
            powers.flat_map(|power| within.iter().map(move |digit| f64::from(power) + digit.log10()));
        let ticks: Vec<f64> = places.filter(|at| (from..=to).contains(at)).collect();
        if ticks.len() > 2 {
            return ticks;
        }
        // The range is so narrow that the scale is nearly linear.
        even(10_f64.powf(from), 10_f64.powf(to)).into_iter().map(f64::log10).collect()
    }

    /// Return the tick positions of a horizontal axis whose labels are apart and within the picture.
    fn ticks_below(&self, from: f64, to: f64) -> Vec<f64> {
        let mut ticks = self.ticks(from, to);
        let pixels = |distance: f64| distance / (to - from) * f64::from(PLOT_WIDTH);
        let width = |&at: &f64| LABEL_CHARACTER * self.label(at).chars().count() as f64;
        if let (Scale::Linear, [first, second, ..]) = (self.scale, ticks.as_slice()) {
            let widest = ticks.iter().map(width).fold(0.0, f64::max) + LABEL_CHARACTER;
            let step = (widest / pixels(second - first)).ceil() as usize;
            ticks = ticks.into_iter().step_by(step.max(1)).collect();
        }
        ticks.retain(|at| width(at) / 2.0 <= pixels(to - at) + f64::from(MARGIN));
        ticks
    }

    fn label(&self, place: f64) -> String {
        tick(match self.scale {
            Scale::Linear => place,
            Scale::Logarithmic => 10_f64.powf(place),
        })
    }
}

/// Return about four round values at even steps.
fn even(from: f64, to: f64) -> Vec<f64> {
    let step = pleasant((to - from) / 5.0);
    let first = (from / step).ceil() * step;
    (0..).map(|k| first + f64::from(k) * step).take_while(|&at| at <= to).collect()
}

/// Return the smallest of 1, 2, 5, 10, ... that is at least `step`.
fn pleasant(step: f64) -> f64 {
    if !(step > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|&pleasant| pleasant >= step)
        .unwrap_or(10.0 * power)
}

/// An axis range with given ticks.
struct Divided {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for Divided {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, &value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// Index of the colour, line and marker; the same in every chart.
    pub look: usize,
    /// x, and the minimum, mean and maximum of y.
    pub points: Vec<(f64, [f64; 3])>,
}

/// Curves over the same axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
}

/// Okabe and Ito's colours, distinguishable by colour-blind readers; without yellow, too light for lines on
/// white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

const PANEL_WIDTH: u32 = 420;
const PANEL_HEIGHT: u32 = 380;
const LEGEND_WIDTH: u32 = 210;
const BAR_HEIGHT: u32 = 22;
/// Characters of the name beside a bar.
const NAME_LENGTH: usize = 26;
/// A picture of a page: as wide as a telephone shows without shrinking it.
const PICTURE_WIDTH: u32 = 340;
const PICTURE_HEIGHT: u32 = 280;
const MARGIN: u32 = 10;
const LEFT_AREA: u32 = 66;
/// Between the axes of a picture; panels are wider.
const PLOT_WIDTH: u32 = PICTURE_WIDTH - LEFT_AREA - 2 * MARGIN;
/// The width of a digit of a tick's label.
const LABEL_CHARACTER: f64 = 8.0;
/// Panels side by side.
const COLUMNS: usize = 3;

/// Draw the panels, up to three per row: means, with bars from minimum to maximum.
///
/// # Errors
/// [`Error::Picture`], and [`Error::Library`] if the file cannot be written.
pub fn draw(path: &Path, title: &str, panels: &[Panel]) -> Result<(), Error> {
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (PANEL_WIDTH * columns as u32 + LEGEND_WIDTH, PANEL_HEIGHT * rows as u32 + 36);
    write_svg(path, size, (title, 22), |root| {
        let (left, right) = root.split_horizontally(PANEL_WIDTH * columns as u32);
        for (area, panel) in left.split_evenly((rows, columns)).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        draw_legend(&right, panels)
    })
}

/// Draw a horizontal bar for each value, in the order given, with its name and the axis' title.
///
/// # Errors
/// [`Error::Picture`], and [`Error::Library`] if the file cannot be written.
pub fn draw_bars(path: &Path, title: &str, axis: &str, bars: &[(&str, f64)]) -> Result<(), Error> {
    let size = (PANEL_WIDTH + LEGEND_WIDTH, 90 + BAR_HEIGHT * bars.len() as u32);
    write_svg(path, size, (title, 16), |root| bars_on(root, axis, bars))
}

/// Draw bars beside their names.
fn bars_on(root: &Area<'_>, axis: &str, bars: &[(&str, f64)]) -> Outcome {
    let most = bars.iter().fold(0.0_f64, |most, (_, value)| most.max(*value));
    let axis = Axis::new(axis, Scale::Linear);
    let right = if most > 0.0 { 1.04 * most } else { 1.0 };
    let name = |at: &f64| bars.get((bars.len() as f64 - at).floor() as usize).map_or("", |bar| bar.0);
    let mut chart = ChartBuilder::on(root)
        .margin(10)
        .x_label_area_size(44)
        .y_label_area_size(LEGEND_WIDTH)
        .build_cartesian_2d(
        Divided { range: 0.0..right, ticks: axis.ticks(0.0, right) },
        Divided { range: 0.0..bars.len() as f64, ticks: (0..bars.len()).map(|at| at as f64 + 0.5).collect() },
    )?;
    chart
        .configure_mesh()
        .x_desc(&axis.title)
        .x_label_formatter(&|&place| axis.label(place))
        .y_label_formatter(&|at| shortened(name(at), NAME_LENGTH))
        // Otherwise so large as the height of the picture has it: few bars would have no readable names.
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 12))
        .disable_y_mesh()
        .light_line_style(WHITE)
        .draw()?;
    let bar = |(at, (_, value)): (usize, &(&str, f64))| {
        let top = (bars.len() - at) as f64;
        Rectangle::new([(0.0, top - 0.15), (*value, top - 0.85)], COLOURS[0].filled())
    };
    chart.draw_series(bars.iter().enumerate().map(bar))?;
    Ok(())
}

/// Return a name of at most so many characters.
pub fn shortened(name: &str, length: usize) -> String {
    let name = plain_line(name);
    match name.chars().count() > length {
        true => name.chars().take(length - 1).chain(['…']).collect(),
        false => name,
    }
}

/// Return a title of at most so many ems, by widths of letters that no common font exceeds by much.
fn fitting(title: &str, most: f64) -> String {
    let ems = |letter: char| match letter {
        ' ' | '(' | ')' | '.' | ',' | 'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        letter if letter.is_ascii_uppercase() => 0.75,
        letter if letter.is_ascii() => 0.64,
        _ => 1.0,
    };
    let mut width = 0.0;
    let within = title.chars().take_while(|&letter| {
        width += ems(letter);
        width <= most
    });
    shortened(title, within.count().max(1))
}

/// What a picture shows between its axes.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A dot at each point.
    Dots(Vec<(f64, f64)>),
    /// A triangle at each point.
    Triangles(Vec<(f64, f64)>),
    /// A line through the points.
    Line(Vec<(f64, f64)>),
    /// From the first number to the second, as high as the third.
    Bars(Vec<(f64, f64, f64)>),
}

/// Layers over the same axes, each in the colour of its place.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The layers, the first at the bottom.
    pub layers: Vec<Layer>,
}

impl Picture {
    /// Draw it for a page.
    ///
    /// # Errors
    /// [`Error::Picture`].
    pub fn svg(&self) -> Result<String, Error> {
        svg_of((PICTURE_WIDTH, PICTURE_HEIGHT), |root| self.on(&mut ChartBuilder::on(root), 13))
    }

    fn on(&self, on: &mut ChartBuilder<'_, '_, SVGBackend<'_>>, title_size: u32) -> Outcome {
        let Self { x, y, layers } = self;
        let ends = |layer: &Layer| match layer {
            Layer::Dots(points) | Layer::Triangles(points) | Layer::Line(points) => points.clone(),
            Layer::Bars(bars) => {
                bars.iter().flat_map(|&(from, to, height)| [(from, 0.0), (to, height)]).collect()
            }
        };
        let shown = |&(at, value): &(f64, f64)| x.shows(at) && y.shows(value);
        let place = |(at, value): (f64, f64)| (x.place(at), y.place(value));
        let placed = |points: &[(f64, f64)]| {
            points.iter().copied().filter(shown).map(place).collect::<Vec<(f64, f64)>>()
        };
        let all = placed(&layers.iter().flat_map(ends).collect::<Vec<_>>());
        let ranges = (span(all.iter().map(|end| end.0), 0.04), span(all.iter().map(|end| end.1), 0.06));
        let stands = layers.iter().any(|layer| matches!(layer, Layer::Bars(_)));
        let ranges = if stands { (ranges.0, (0.0, ranges.1.1)) } else { ranges };
        let mut chart = axes(on, (x, y), ranges, title_size)?;
        for (layer, colour) in layers.iter().zip(COLOURS) {
            let line = ShapeStyle::from(&colour).stroke_width(2);
            match layer {
                Layer::Dots(points) => {
                    let dot = |at| Circle::new(at, 2, colour.mix(0.55).filled());
                    chart.draw_series(placed(points).into_iter().map(dot))?;
                }
                Layer::Triangles(points) => {
                    let mark = |at| TriangleMarker::new(at, 5, colour.filled());
                    chart.draw_series(placed(points).into_iter().map(mark))?;
                }
                Layer::Line(points) => {
                    chart.draw_series(LineSeries::new(placed(points), line))?;
                }
                Layer::Bars(bars) => {
                    let bar = |&(from, to, height): &(f64, f64, f64)| {
                        Rectangle::new([place((from, 0.0)), place((to, height))], colour.filled())
                    };
                    chart.draw_series(bars.iter().map(bar))?;
                }
            }
        }
        Ok(())
    }
}

/// Draw pictures side by side, each with its title.
///
/// # Errors
/// [`Error::Picture`], and [`Error::Library`] if the file cannot be written.
pub fn draw_pictures(path: &Path, title: &str, pictures: &[(&str, Picture)]) -> Result<(), Error> {
    let size = (PANEL_WIDTH * pictures.len() as u32, PANEL_HEIGHT + 36);
    write_svg(path, size, (title, 18), |root| {
        for (area, (title, picture)) in root.split_evenly((1, pictures.len())).iter().zip(pictures) {
            let mut on = ChartBuilder::on(area);
            on.caption(title, ("sans-serif", 14));
            picture.on(&mut on, 14)?;
        }
        Ok(())
    })
}

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Write an SVG picture of this width and height to a file: a title and its size, and below it what `draw`
/// draws.
pub(crate) fn write_svg(
    path: &Path,
    size: (u32, u32),
    (title, title_size): (&str, u32),
    draw: impl FnOnce(&Area<'_>) -> Outcome,
) -> Result<(), Error> {
    let title = plain_line(title);
    let svg = svg_of(size, |root| draw(&root.titled(&title, ("sans-serif", title_size))?))?;
    Ok(write_whole(path, |file| file.write_all(svg.as_bytes()))?)
}

/// Return an SVG picture of this width and height.
fn svg_of(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Outcome) -> Result<String, Error> {
    let mut svg = String::new();
    let render = || {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        Ok(root.present()?)
    };
    render().map_err(|error: Box<dyn std::error::Error>| Error::Picture(error.to_string()))?;
    // The backend escapes markup, but not characters that XML does not allow.
    Ok(plain(&svg))
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Divided, Divided>>;

/// Draw axes with their titles over these ranges of places.
fn axes<'a, 'b>(
    on: &mut ChartBuilder<'a, '_, SVGBackend<'b>>,
    (x, y): (&Axis, &Axis),
    ((left, right), (bottom, top)): ((f64, f64), (f64, f64)),
    title_size: u32,
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
    let mut chart = on.margin(MARGIN).x_label_area_size(44).y_label_area_size(LEFT_AREA).build_cartesian_2d(
        Divided { range: left..right, ticks: x.ticks_below(left, right) },
        Divided { range: bottom..top, ticks: y.ticks(bottom, top) },
    )?;
    chart
        .configure_mesh()
        .x_desc(fitting(&x.title, f64::from(PLOT_WIDTH + 2 * MARGIN) / f64::from(title_size)))
        .y_desc(&y.title)
        .x_label_formatter(&|&place| x.label(place))
        .y_label_formatter(&|&place| y.label(place))
        .axis_desc_style(("sans-serif", title_size))
        .light_line_style(WHITE)
        .draw()?;
    Ok(chart)
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Outcome {
    let Panel { title, x, y, series } = panel;
    let shown = |&&(at, [least, mean, most]): &&(f64, [f64; 3])| {
        x.shows(at) && [least, mean, most].iter().all(|&v| y.shows(v))
    };
    let all = || series.iter().flat_map(|series| series.points.iter()).filter(shown);
    let (left, right) = span(all().map(|point| x.place(point.0)), 0.04);
    let (bottom, top) = span(all().flat_map(|point| point.1).map(|value| y.place(value)), 0.06);
    let mut on = ChartBuilder::on(area);
    on.caption(title, ("sans-serif", 16));
    let mut chart = axes(&mut on, (x, y), ((left, right), (bottom, top)), 15)?;
    for (at, curve) in series.iter().enumerate() {
        // Shift each curve a little, so that bars do not cover each other.
        let shift = (at as f64 - series.len() as f64 / 2.0) * 0.003 * (right - left);
        let points: Vec<(f64, [f64; 3])> = curve
            .points
            .iter()
            .filter(shown)
            .map(|&(at, values)| (x.place(at) + shift, values.map(|value| y.place(value))))
            .collect();
        let (colour, dashes) = look(curve.look);
        let line = ShapeStyle::from(&colour).stroke_width(2);
        let means: Vec<(f64, f64)> = points.iter().map(|&(at, [_, mean, _])| (at, mean)).collect();
        match dashes {
            Some((dash, gap)) => {
                chart.draw_series(DashedLineSeries::new(means.iter().copied(), dash, gap, line))?;
            }
            None => {
                chart.draw_series(LineSeries::new(means.iter().copied(), line))?;
            }
        }
        let bars = points.iter().filter(|(_, [least, _, most])| most > least);
        chart.draw_series(bars.map(|&(at, [least, mean, most])| {
            ErrorBar::new_vertical(at, least, mean, most, colour.stroke_width(1), 5)
        }))?;
        match curve.look % 3 {
            0 => chart.draw_series(means.iter().map(|&at| Circle::new(at, 3, colour.filled())))?,
            1 => chart.draw_series(means.iter().map(|&at| TriangleMarker::new(at, 4, colour.filled())))?,
            _ => chart.draw_series(means.iter().map(|&at| Cross::new(at, 3, line)))?,
        };
    }
    Ok(())
}

/// Return the smallest and the largest position, with a margin on both sides.
fn span(places: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let (least, most) = places
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), place| (least.min(place), most.max(place)));
    if !(least <= most) {
        return (0.0, 1.0);
    }
    let dim = if most > least { most - least } else { 0.5_f64.max(most.abs() * 0.1) };
    (least - room * dim, most + room * dim)
}

/// Return the colour and the dash pattern of the line; none for a solid line.
fn look(number: usize) -> (RGBColor, Option<(u32, u32)>) {
    const DASHES: [Option<(u32, u32)>; 3] = [None, Some((7, 4)), Some((2, 3))];
    (COLOURS[number % COLOURS.len()], DASHES[number / COLOURS.len() % DASHES.len()])
}

/// Return every name once, ordered by style.
fn draw_legend(area: &Area<'_>, panels: &[Panel]) -> Outcome {
    let all = panels.iter().flat_map(|panel| &panel.series);
    let mut names = distinct(all.map(|series| (series.look, series.name.as_str())));
    names.sort_by_key(|&(look, _)| look);
    // Closer together where there are many.
    let spacing = (area.dim_in_pixel().1 as i32 - 60).max(0) / names.len().max(1) as i32;
    for (at, (number, name)) in names.into_iter().enumerate() {
        let y = 40 + spacing.min(24) * at as i32;
        let (colour, dashes) = look(number);
        let line = ShapeStyle::from(&colour).stroke_width(2);
        let (dash, gap) = dashes.unwrap_or((22, 0));
        for from in (6..28).step_by((dash + gap) as usize) {
            let to = (from + dash as i32).min(28);
            area.draw(&PathElement::new([(from, y), (to, y)], line))?;
        }
        match number % 3 {
            0 => area.draw(&Circle::new((16, y), 3, colour.filled()))?,
            1 => area.draw(&TriangleMarker::new((16, y), 4, colour.filled()))?,
            _ => area.draw(&Cross::new((16, y), 3, line))?,
        }
        area.draw(&Text::new(name.to_owned(), (34, y - 8), ("sans-serif", 15)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Axis, Layer, Panel, Picture, Scale, Series, draw, draw_bars, fitting, pleasant};

    #[test]
    fn a_picture_names_its_axes_and_curves_and_leaves_out_what_is_no_number() {
        let panel = |scale| Panel {
            title: "a panel".to_owned(),
            x: Axis::new("landmarks c", Scale::Logarithmic),
            y: Axis::new("trace error / trace", scale),
            series: vec![
                Series {
                    name: "kdpp".to_owned(),
                    look: 0,
                    points: vec![(2.0, [0.4, 0.5, 0.6]), (4.0, [0.1; 3]), (0.0, [f64::NAN; 3])],
                },
                Series { name: "uniform".to_owned(), look: 8, points: vec![(2.0, [0.6; 3])] },
            ],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.svg");
        draw(&path, "A title", &[panel(Scale::Linear), panel(Scale::Logarithmic)]).unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for text in ["A title", "a panel", "kdpp", "uniform", "landmarks c", "trace error / trace"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_picture_of_nothing_can_be_drawn() {
        let axis = || Axis::new("x", Scale::Linear);
        let panel = Panel { title: String::new(), x: axis(), y: axis(), series: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        draw(&folder.path().join("picture.svg"), "Nothing", &[panel]).unwrap();
    }

    #[test]
    fn bars_have_their_names_and_are_as_long_as_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bars.svg");
        let long = "a_name_that_is_far_too_long_for_the_picture";
        draw_bars(&path, "Title", "share", &[("<first>", 0.8), (long, 0.4), ("third", 0.0)]).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        for text in ["Title", "share", "&lt;first&gt;", "a_name_that_is_far_too_lo…", "third"] {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        let width = |rect: &str| -> f64 {
            rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let widths: Vec<f64> = svg.split("<rect").skip(2).map(width).collect();
        assert_eq!(widths.len(), 3, "{svg}");
        assert!((widths[0] / widths[1] - 2.0).abs() < 0.05 && widths[2] <= 1.0, "{widths:?}");
        draw_bars(&path, "Nothing", "share", &[]).unwrap();
    }

    #[test]
    fn long_titles_are_cut_and_labels_stay_within_the_picture() {
        let names = ["n", "W", "長", "component 1 (33.3 % of the variance)"];
        let kept = names
            .map(|name| fitting(&name.repeat(if name.len() > 4 { 1 } else { 300 }), 21.0).chars().count());
        assert_eq!(kept, [32, 21, 21, 36]);
        let axis = || Axis::new(&"n".repeat(300), Scale::Linear);
        let picture =
            Picture { x: axis(), y: axis(), layers: vec![Layer::Line(vec![(0.0, 0.0), (48_150.0, 1.0)])] };
        let svg = picture.svg().unwrap();
        assert!(svg.contains(&("n".repeat(31) + "…")), "{svg}");
        assert_eq!(axis().ticks(0.0, 50_000.0).last(), Some(&50_000.0));
        assert_eq!(axis().ticks_below(0.0, 50_000.0).last(), Some(&40_000.0));
        assert_eq!(axis().ticks_below(-3e7, 3e7), [-2e7, 2e7]);
    }

    #[test]
    fn ticks_are_pleasant_and_lie_within() {
        assert_eq!([0.012, 0.3, 4.0, 7.0].map(pleasant), [0.02, 0.5, 5.0, 10.0]);
        let linear = Axis::new("", Scale::Linear);
        assert_eq!(linear.ticks(-0.3, 10.1), [0.0, 5.0, 10.0]);
        let logarithmic = Axis::new("", Scale::Logarithmic);
        let labels: Vec<String> =
            logarithmic.ticks(-2.1, -0.9).iter().map(|&at| logarithmic.label(at)).collect();
        assert_eq!(labels, ["0.01", "0.02", "0.05", "0.1"]);
        assert_eq!([logarithmic.label(-7.0), logarithmic.label(5.477)], ["10⁻⁷", "300,000"]);
        let narrow: Vec<String> =
            logarithmic.ticks(-1.61, -1.55).iter().map(|&at| logarithmic.label(at)).collect();
        assert_eq!(narrow, ["0.025", "0.026", "0.027", "0.028"]);
    }
}
