//! A model for a device with what goes beside it: further outputs on the same landmarks, the limits of what
//! is usual, and what variances need.

use crate::data::table::input::Table;
use crate::error::{Error, export::ExportProblem};
use crate::model::assess::factor;
use crate::model::bits::Bits;
use crate::model::confidence::Confidence;
use crate::model::export::{
    bytes::section, exported::Cost, exported::Exported, exported::Parts, single::single,
};
use crate::model::trained::Model;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Limits, Solved};

/// What an export holds besides predictions.
///
/// ```
/// use dpp_nystrom::core::Limits;
/// use dpp_nystrom::model::export::{Bundle, With};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let models = [KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?];
///
/// let with = With { novelty: true, variance: false };
/// let bundle = Bundle::of(&models, None, with)?;
/// let plain = Bundle::of(&models, None, With::default())?;
/// assert_eq!(bundle.flash_bytes() - plain.flash_bytes(), 32); // eight numbers
/// assert!(Limits::from_bytes(&bundle.to_bytes()?)?.is_some());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct With {
    /// The [`Limits`], by which a device flags novel rows and clamps predictions: eight numbers.
    pub novelty: bool,
    /// The two triangles from which a device computes residuals and variances: `c(c + 1)` numbers. In single
    /// precision only, as Rust or bytes.
    pub variance: bool,
}

/// A model, or several on the same landmarks, in the form of a device.
///
/// Several are the outputs of one model ([`Model::each_output`]), such as the indicators of classes (1 for
/// the rows of the class, 0 for others), or models that were fitted one by one on the same landmarks.
///
/// ```
/// use dpp_nystrom::core::Outputs;
/// use dpp_nystrom::model::export::{Bundle, With};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
/// # let data = Dataset::from_rows(&x, 1)?.with_targets(&y, &["sine", "cosine"])?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// let models = model.each_output();
/// let bundle = Bundle::of(&models, None, With::default())?;
/// assert_eq!((bundle.outputs(), bundle.ram_bytes()), (2, 4)); // a row of one feature
/// let bytes = bundle.to_bytes()?;
/// let mut predicted = [0.0; 2];
/// Outputs::from_bytes(&bytes)?.predict(&[2.0], &mut [0.0], &mut predicted)?; // on the device
/// assert!((f64::from(predicted[1]) - model.predict(&[2.0])?[1]).abs() < 1e-4);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bundle<'m> {
    pub(crate) model: &'m Model,
    /// What each output predicts.
    pub(crate) targets: Vec<&'m str>,
    /// The first output.
    pub first: Exported,
    pub(crate) further: Vec<Exported>,
    pub(crate) limits: Option<Limits<f32>>,
    pub(crate) uncertainty: Option<Triangles>,
    /// [`Bundle::digest`].
    digest: Option<u32>,
}

/// The numbers of a [`dpp_nystrom_core::Uncertainty`].
#[derive(Clone, Debug)]
pub(crate) struct Triangles {
    pub(crate) factor: Vec<f32>,
    pub(crate) triangle: Vec<f32>,
    pub(crate) solved: Solved<f32>,
}

/// What is left of the sum over landmarks that are the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A weight for each coordinate and output.
    Weights,
    /// Each output is a coordinate.
    Coordinates,
}

/// Whether these are the rows of an identity matrix.
fn is_identity(values: impl Iterator<Item = f32>, order: usize) -> bool {
    values.enumerate().all(|(at, value)| value == f32::from(u8::from(at / order == at % order)))
}

impl<'m> Bundle<'m> {
    /// Convert the models to single precision, or quantise them to the given width. Limits and variances are
    /// those of the first.
    ///
    /// # Errors
    /// `ErrorKind::Export` for no model, for models with other features, landmarks or kernels than the first,
    /// for a model that does not hold what is asked for, and those of [`Exported::of`].
    pub fn of(models: &'m [Model], quantise: Option<Bits>, with: With) -> Result<Self, Error> {
        let (model, others) = models.split_first().ok_or(ExportProblem::Outputs { output: 0 })?;
        let first = Exported::of(model, quantise)?;
        let further = others.iter().enumerate().map(|(at, other)| {
            let other = Exported::of(other, quantise)?;
            if first.shares_landmarks(&other) {
                Ok(other)
            } else {
                Err(ExportProblem::Outputs { output: at + 1 }.into())
            }
        });
        let further = further.collect::<Result<Vec<_>, Error>>()?;
        let missing = |what, instead| Error::from(ExportProblem::Confidence { what, instead });
        let measured = model.confidence.as_ref();
        let (mut limits, mut uncertainty) = (None, None);
        if with.novelty {
            limits = Some(rounded_limits(
                measured.ok_or(missing("limits, which this model does not hold", "fit it to rows again"))?,
                first.levels_of(model),
            )?);
        }
        if with.variance {
            if quantise.is_some() {
                let instead = "export in single precision";
                return Err(missing("variances in integers", instead));
            }
            let confidence = measured.filter(|confidence| !confidence.triangle.is_empty());
            uncertainty = Some(triangles(
                model,
                confidence.ok_or(missing(
                    "variances, which this model does not hold",
                    "fit it again with variances",
                ))?,
            )?);
        }
        let targets = models.iter().map(|model| model.target_name.as_str()).collect();
        let mut bundle = Self { model, targets, first, further, limits, uncertainty, digest: None };
        bundle.digest = if quantise.is_none() && with == With::default() {
            Some(crc32fast::hash(&bundle.to_bytes()?))
        } else {
            // Of numbers that single precision cannot hold there are integers all the same.
            Self::of(models, None, With::default()).ok().and_then(|plain| plain.digest)
        };
        Ok(bundle)
    }

    /// Compare each output's predictions with those of the model that it was made of. `table` has the first
    /// target, and `further` has those of the other outputs; indicators of classes have none.
    ///
    /// # Errors
    /// Those of the predictions.
    pub fn costs(
        &self,
        models: &[Model],
        mut table: Table,
        further: Vec<Vec<f64>>,
    ) -> Result<Vec<Cost>, Error> {
        let mut further = further.into_iter();
        let outputs = std::iter::once(&self.first).chain(&self.further).zip(models);
        let cost = |(at, (output, model)): (usize, (&Exported, &Model))| {
            if at > 0 || (models.len() > 1 && further.len() == 0) {
                table.target = further.next();
            }
            output.cost(model, &table)
        };
        outputs.enumerate().map(cost).collect()
    }

    /// Return a CRC-32 by which a device can tell which model it has: of the models in single precision,
    /// whatever they are stored in here. `None` where single precision cannot hold them.
    ///
    /// ```
    /// use dpp_nystrom::model::export::{Bits, Bundle, With};
    /// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    /// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// # let models = [KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?];
    ///
    /// let of = |numbers| Bundle::of(&models, numbers, With::default());
    /// assert!(of(None)?.digest().is_some());
    /// assert_eq!(of(None)?.digest(), of(Some(Bits::Eight))?.digest());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn digest(&self) -> Option<u32> {
        self.digest
    }

    /// Return the number of outputs.
    pub fn outputs(&self) -> usize {
        1 + self.further.len()
    }

    /// Return the bytes of constant data, without code: those of [`Exported::flash_bytes`], and what goes
    /// beside them.
    pub fn flash_bytes(&self) -> usize {
        let triangles = self.uncertainty.as_ref().map_or(0, |triangles| 2 + 2 * triangles.factor.len());
        let limits = if self.limits.is_some() { 8 } else { 0 };
        self.first.flash_bytes()
            + 4 * (self.further.len() * (self.first.landmarks() + 2) + limits + triangles)
    }

    /// Return the bytes of constant data in C, which leaves out landmarks that are the axes and weights that
    /// are 1: otherwise [`flash_bytes`](Self::flash_bytes).
    pub fn c_bytes(&self) -> usize {
        let numbers = self.first.landmarks() * self.first.width();
        self.flash_bytes()
            - match self.line() {
                None => 0,
                Some(Line::Weights) => 4 * numbers,
                Some(Line::Coordinates) => 4 * (numbers + self.outputs() * self.first.landmarks()),
            }
    }

    /// Return what is left of a linear model whose landmarks are the axes, in their order, and not limited.
    pub(crate) fn line(&self) -> Option<Line> {
        let Parts::Single(single) = &self.first.0 else { return None };
        let is_linear = matches!(single.kernel, ChosenKernel::Linear(_)) && self.limits.is_none();
        let (count, width) = (self.first.landmarks(), self.first.width());
        if !is_linear || count != width || !is_identity(single.landmarks.iter().copied(), width) {
            return None;
        }
        let weights = std::iter::once(&self.first).chain(&self.further).flat_map(|output| output.output().0);
        let is_same = self.outputs() == count && is_identity(weights.map(f32::from_bits), count);
        Some(if is_same { Line::Coordinates } else { Line::Weights })
    }

    /// Return the bytes of RAM of a call: those of [`Exported::ram_bytes`], and with variances a number for
    /// each landmark.
    pub fn ram_bytes(&self) -> usize {
        self.first.ram_bytes() + self.uncertainty.as_ref().map_or(0, |_| 4 * self.first.landmarks())
    }

    /// Return the bytes, to be stored in flash at a multiple of 4.
    ///
    /// # Errors
    /// `ErrorKind::Export` for 4 GiB or more.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut sections = Vec::new();
        if !self.further.is_empty() {
            let parts: Vec<_> = self.further.iter().map(Exported::output).collect();
            let weights = parts.iter().flat_map(|(weights, ..)| weights.iter().copied());
            let means = parts.iter().map(|(_, mean, _)| mean.to_bits());
            let scales = parts.iter().map(|(.., scale)| scale.to_bits());
            sections.push((section::FURTHER, weights.chain(means).chain(scales).collect()));
        }
        if let Some(Limits { range, nearest, residual }) = self.limits {
            let numbers = range.into_iter().chain(nearest).chain(residual);
            sections.push((section::LIMITS, numbers.map(f32::to_bits).collect()));
        }
        if let Some(Triangles { factor, triangle, solved }) = &self.uncertainty {
            let numbers =
                [solved.penalty, solved.noise].into_iter().chain(factor.iter().chain(triangle).copied());
            sections.push((section::UNCERTAINTY, numbers.map(f32::to_bits).collect()));
        }
        self.first.to_bytes_with(&sections)
    }
}

impl Exported {
    /// Whether both differ in their weights and targets alone.
    fn shares_landmarks(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Parts::Single(one), Parts::Single(other)) => {
                one.means == other.means
                    && one.scaling == other.scaling
                    && one.landmarks == other.landmarks
                    && format!("{:?}", one.kernel) == format!("{:?}", other.kernel)
            }
            (Parts::Bits16(one), Parts::Bits16(other)) => one.shares_landmarks(other),
            (Parts::Bits8(one), Parts::Bits8(other)) => one.shares_landmarks(other),
            _ => false,
        }
    }

    /// Return the weights as words, and the target's mean and scale.
    pub(crate) fn output(&self) -> (Vec<u32>, f32, f32) {
        let words = |weights: &[i32]| weights.iter().map(|&weight| weight as u32).collect();
        match &self.0 {
            Parts::Single(one) => (
                one.weights.iter().map(|weight| weight.to_bits()).collect(),
                one.target_mean,
                one.target_scale,
            ),
            Parts::Bits16(one) => (words(&one.weights), one.target_mean, one.target_scale),
            Parts::Bits8(one) => (words(&one.weights), one.target_mean, one.target_scale),
        }
    }

    /// Return the levels of a standard deviation; 1 in single precision, which has none.
    fn levels_of(&self, model: &Model) -> f64 {
        let levels = |limit: u32| {
            // At the limit the kernel is 2^-31.
            let bandwidths = (2.0 * 31.0 * std::f64::consts::LN_2).sqrt();
            f64::from(limit).sqrt() / (bandwidths * model.kernel.sigma)
        };
        match &self.0 {
            Parts::Single(_) => 1.0,
            Parts::Bits16(one) => levels(one.limit),
            Parts::Bits8(one) => levels(one.limit),
        }
    }
}

/// Round the limits to single precision; distances are in levels, of which a standard deviation has `levels`.
fn rounded_limits(confidence: &Confidence, levels: f64) -> Result<Limits<f32>, Error> {
    let round = |value: f64| single(|| "a limit".to_owned(), value);
    let [least, greatest] = confidence.range.map(round);
    let [a, b, c] = confidence.nearest.map(|limit| round(levels * limit));
    // A residual may be below the smallest number in single precision.
    Ok(Limits {
        range: [least?, greatest?],
        nearest: [a?, b?, c?],
        residual: confidence.residual.map(|limit| limit as f32),
    })
}

fn triangles(model: &Model, confidence: &Confidence) -> Result<Triangles, Error> {
    let round = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let factor = factor(&model.coefficients.to_f64(), model.scaler.width(), model.kernel.build()?)?;
    let number = |what: &str, value| single(|| what.to_owned(), value);
    let solved = Solved {
        penalty: number("the penalty", confidence.penalty)?,
        noise: number("the noise", confidence.noise)?,
    };
    Ok(Triangles { factor: round(&factor), triangle: round(&confidence.triangle), solved })
}
