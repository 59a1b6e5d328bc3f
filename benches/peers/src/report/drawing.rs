//! Drawings, as SVG on a white ground, so that they can be read on a dark page as well.

use std::error::Error;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::figures::{Plot, Series, count};

/// Without the legend.
const SIZE: (u32, u32) = (740, 540);
/// What the legend takes at the right, at least.
const LEGEND: u32 = 220;
/// Where a name begins in the legend, and what each of its letters takes at most.
const NAME: (u32, u32) = (42, 9);

/// Colours that people with any colour vision can tell apart (Okabe and Ito 2008), with a brown instead of the yellow that is
/// hard to see on white.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(128, 88, 56),
];

/// The drawing's file.
pub(super) fn svg(plot: &Plot) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (SIZE.0 + legend_width(plot), SIZE.1)).into_drawing_area();
        root.fill(&WHITE)?;
        let (main, legend) = root.split_horizontally(SIZE.0);
        let (x, y) = (Axis::of(plot, 0), Axis::of(plot, 1));
        match (plot.log_x, plot.log_y) {
            (false, false) => {
                draw(plot, &main, RangedCoordf64::from(x.low..x.high), RangedCoordf64::from(y.low..y.high))
            }
            (true, false) => draw(plot, &main, (x.low..x.high).log_scale(), RangedCoordf64::from(y.low..y.high)),
            (false, true) => draw(plot, &main, RangedCoordf64::from(x.low..x.high), (y.low..y.high).log_scale()),
            (true, true) => draw(plot, &main, (x.low..x.high).log_scale(), (y.low..y.high).log_scale()),
        }?;
        for (index, series) in plot.series.iter().enumerate() {
            name(index, series, &legend)?;
        }
        root.present()?;
    }
    Ok(text)
}

/// So much that the longest name is read whole.
fn legend_width(plot: &Plot) -> u32 {
    let longest = plot.series.iter().map(|series| series.name.chars().count()).max().unwrap_or_default();
    u32::try_from(longest).map_or(LEGEND, |letters| NAME.0.saturating_add(NAME.1.saturating_mul(letters))).max(LEGEND)
}

/// From where to where an axis goes.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of(plot: &Plot, place: usize) -> Self {
        let logarithmic = if place == 0 { plot.log_x } else { plot.log_y };
        let values =
            plot.series.iter().flat_map(|series| &series.points).map(|(x, y)| if place == 0 { *x } else { *y });
        let values = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let (mut low, mut high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (1.0, 2.0);
        }
        if logarithmic {
            return Self { low: low / 1.3, high: high * 1.3 };
        }
        // Lengths are compared from nothing on.
        let low = if place == 1 { low.min(0.0) } else { low };
        Self { low, high: if high > low { low + (high - low) * 1.05 } else { low + 1.0 } }
    }
}

fn draw<X, Y>(
    plot: &Plot,
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    x: X,
    y: Y,
) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(&plot.title, ("sans-serif", 24))
        .margin(14)
        .x_label_area_size(52)
        .y_label_area_size(78)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(&plot.x)
        .y_desc(&plot.y)
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;
    for (index, series) in plot.series.iter().enumerate() {
        let usable = |(x, y): &&(f64, f64)| (!plot.log_x || *x > 0.0) && (!plot.log_y || *y > 0.0);
        let points: Vec<(f64, f64)> = series.points.iter().filter(usable).copied().collect();
        let (colour, second) = look(index);
        let style = ShapeStyle::from(&colour).stroke_width(2);
        if second {
            chart.draw_series(DashedLineSeries::new(points.iter().copied(), 7, 5, style))?;
        } else {
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
        }
        // With many points, the line is enough.
        if points.len() <= 20 {
            chart.draw_series(points.iter().map(|point| marker(*point, index)))?;
        }
    }
    Ok(())
}

/// A line of the legend.
fn name(
    index: usize,
    series: &Series,
    legend: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
) -> Result<(), Box<dyn Error>> {
    let y = 52 + 24 * i32::try_from(index)?;
    let (colour, second) = look(index);
    let style = ShapeStyle::from(&colour).stroke_width(2);
    let pieces: &[(i32, i32)] = if second { &[(2, 10), (15, 23), (28, 34)] } else { &[(2, 34)] };
    for (from, to) in pieces.iter().copied() {
        legend.draw(&PathElement::new([(from, y), (to, y)], style))?;
    }
    legend.draw(&marker((18, y), index))?;
    let text = TextStyle::from(("sans-serif", 16)).color(&BLACK);
    legend.draw(&Text::new(series.name.clone(), (i32::try_from(NAME.0)?, y - 7), text))?;
    Ok(())
}

/// After the last colour they begin anew, with broken lines.
const fn look(index: usize) -> (RGBColor, bool) {
    (COLOURS[index % COLOURS.len()], (index / COLOURS.len()) % 2 == 1)
}

fn marker<C>(at: C, index: usize) -> Circle<C, i32> {
    let (colour, second) = look(index);
    let style = if second { ShapeStyle::from(&colour).stroke_width(2) } else { ShapeStyle::from(&colour).filled() };
    Circle::new(at, 4, style)
}

/// `10 k`; small numbers as they are.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => format!("{} G", value / 1e9),
        size if size >= 1e6 => format!("{} M", value / 1e6),
        size if size >= 1e3 => format!("{} k", value / 1e3),
        size if size >= 10.0 || value == value.trunc() => count(value),
        _ => format!("{}", (value * 100.0).round() / 100.0),
    }
}
