//! The loss curve as numbers and as a picture.

use plotters::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ModelError;

/// One validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Optimizer steps done.
    pub step: u64,
    /// Characters of asked-for lines learnt from.
    pub characters: u64,
    /// Learning rate of the last step.
    pub rate: f64,
    /// Mean loss per character since the point before, smoothing left out, in nats.
    pub train_loss: f64,
    /// Loss per character of each validation set with averaged weights: name, forward, reverse.
    pub validation: Vec<(String, f64, f64)>,
}

/// All validations of a run, oldest first.
///
/// ```
/// use duilian_model::{CurvePoint, TrainingCurve};
///
/// let mut curve = TrainingCurve::default();
/// for i in 1..4 {
///     curve.points.push(CurvePoint {
///         step: i * 100,
///         characters: i * 100_000,
///         rate: 1e-3,
///         train_loss: 6.0 / i as f64,
///         validation: vec![("poems".into(), 6.5 / i as f64, 6.6 / i as f64)],
///     });
/// }
/// assert!(curve.to_csv().starts_with("step,characters,rate,train_loss,poems_forward,poems_reverse\n100,"));
/// assert!(curve.to_svg()?.contains("<svg"));
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrainingCurve {
    /// The points.
    pub points: Vec<CurvePoint>,
}

impl TrainingCurve {
    /// A table with a header, comma separated.
    pub fn to_csv(&self) -> String {
        let mut header = vec!["step,characters,rate,train_loss".to_owned()];
        for (name, ..) in self.points.first().map_or(&[][..], |p| &p.validation) {
            header.push(format!("{name}_forward,{name}_reverse"));
        }
        let row = |p: &CurvePoint| {
            let mut cells = vec![format!("{},{},{:.3e},{:.4}", p.step, p.characters, p.rate, p.train_loss)];
            cells.extend(
                p.validation.iter().map(|(_, forward, reverse)| format!("{forward:.4},{reverse:.4}")),
            );
            cells.join(",") + "\n"
        };
        header.join(",") + "\n" + &self.points.iter().map(row).collect::<String>()
    }

    /// A picture: loss in nats per character over characters learnt from.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if there is no point or the picture cannot be drawn.
    pub fn to_svg(&self) -> Result<String, ModelError> {
        let mut series = vec![("train".to_owned(), Vec::new())];
        for p in &self.points {
            let x = p.characters as f64 / 1e6;
            series[0].1.push((x, p.train_loss));
            for (i, (name, forward, reverse)) in p.validation.iter().enumerate() {
                for (j, (label, y)) in [("forward", forward), ("reverse", reverse)].into_iter().enumerate() {
                    let at = 1 + 2 * i + j;
                    if series.len() <= at {
                        series.push((format!("{name}, {label}"), Vec::new()));
                    }
                    series[at].1.push((x, *y));
                }
            }
        }
        let malformed = |e: String| ModelError::Malformed { reason: format!("the curve: {e}") };
        let all = || series.iter().flat_map(|s| &s.1).filter(|p| p.1.is_finite());
        let (low, high) = all().fold((f64::INFINITY, 0.0_f64), |(l, h), p| (l.min(p.1), h.max(p.1)));
        let width = all().fold(0.0_f64, |w, p| w.max(p.0));
        if width <= 0.0 || low > high {
            return Err(malformed("there is no point".to_owned()));
        }
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (900, 500)).into_drawing_area();
            area.fill(&WHITE).map_err(|e| malformed(e.to_string()))?;
            let mut chart = ChartBuilder::on(&area)
                .margin(20)
                .x_label_area_size(45)
                .y_label_area_size(55)
                .build_cartesian_2d(0.0..width, (low - 0.1)..(high + 0.1))
                .map_err(|e| malformed(e.to_string()))?;
            chart
                .configure_mesh()
                .x_desc("million characters of answers")
                .y_desc("loss, nats per character")
                .draw()
                .map_err(|e| malformed(e.to_string()))?;
            for (i, (label, points)) in series.iter().enumerate() {
                let colour = Palette99::pick(i).stroke_width(2);
                chart
                    .draw_series(LineSeries::new(points.iter().copied(), colour))
                    .map_err(|e| malformed(e.to_string()))?
                    .label(label)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
            }
            chart
                .configure_series_labels()
                .background_style(WHITE)
                .border_style(BLACK)
                .draw()
                .map_err(|e| malformed(e.to_string()))?;
            area.present().map_err(|e| malformed(e.to_string()))?;
        }
        Ok(svg)
    }
}
