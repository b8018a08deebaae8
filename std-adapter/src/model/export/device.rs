//! A model in bytes, read back to predict as the device will, before it is flashed.

use crate::data::table::input::Table;
use crate::error::{
    Cause, Error,
    export::ExportProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::begins_with;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Assessment, Assessor, BytesProblem, Error as CoreError, Limits, Outputs, QuantisedOutputs,
};
use std::fs;
use std::path::Path;

pub(crate) const MAGIC: &[u8; 8] = b"dppndevc";

/// The bytes of [`Form::Bytes`](crate::model::export::Form::Bytes), at a multiple of 4, validated by the core
/// as on the device.
///
/// ```
/// use dpp_nystrom::data::table::{self, Target};
/// use dpp_nystrom::model::export::{DeviceModel, Exported};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let folder = tempfile::tempdir()?;
/// # let [path, rows] = ["waves.bin", "waves.csv"].map(|name| folder.path().join(name));
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// std::fs::write(&path, Exported::of(&model, None)?.to_bytes()?)?;
/// std::fs::write(&rows, "time\n2\n5\n")?;
/// let device = DeviceModel::read(&path)?;
/// assert!(DeviceModel::is_one(&path) && device.features()? == 1 && device.limits()?.is_none());
/// let predicted = device.predict(&table::read(&rows, &Target::None)?)?; // bit for bit the device's
/// assert!((predicted[0] - model.predict(&[2.0])?[0]).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceModel {
    words: Vec<u32>,
}

impl DeviceModel {
    /// Whether a file begins like an exported model; false if it cannot be read.
    pub fn is_one(path: &Path) -> bool {
        begins_with(path, MAGIC)
    }

    /// Read a file.
    ///
    /// # Errors
    /// `ErrorKind::Table` if it cannot be read, `ErrorKind::Format` if it is invalid.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|source| TableError::new(path, TableProblem::Open(source)))?;
        // The length of a model is a multiple of 4; bytes after it are ignored, as on the device.
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        let model = Self { words };
        match model.lend() {
            Ok(_) => Ok(model),
            Err(problem) => Err(Error(Cause::DeviceModel { path: path.to_owned(), problem })),
        }
    }

    fn lend(&self) -> Result<Lent<'_>, CoreError> {
        let bytes = bytemuck::cast_slice(&self.words);
        let other_kind = CoreError::ModelBytes(BytesProblem::Kind);
        let kinds = [
            Outputs::from_bytes(bytes).map(Lent::Single),
            QuantisedOutputs::<i16>::from_bytes(bytes).map(Lent::Bits16),
            QuantisedOutputs::<i8>::from_bytes(bytes).map(Lent::Bits8),
        ];
        let mut found = kinds.into_iter().filter(|kind| kind.as_ref().err() != Some(&other_kind));
        found.next().unwrap_or(Err(other_kind))
    }

    /// Return the number of features of a row.
    ///
    /// # Errors
    /// None beyond those that reading already reported.
    pub fn features(&self) -> Result<usize, Error> {
        Ok(match self.lend()? {
            Lent::Single(model) => model.first().features(),
            Lent::Bits16(model) => model.first().features(),
            Lent::Bits8(model) => model.first().features(),
        })
    }

    /// Return the number of outputs.
    ///
    /// # Errors
    /// None beyond those that reading already reported.
    pub fn outputs(&self) -> Result<usize, Error> {
        Ok(self.lend()?.outputs())
    }

    /// Return the outputs for each raw row, row by row, rounded to single precision first: bit for bit the
    /// device's.
    ///
    /// # Errors
    /// `ErrorKind::Export` for a row out of the range of single precision, `ErrorKind::Data` for a prediction
    /// that is not finite.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, Error> {
        self.lend()?.predict(table)
    }

    /// Return the limits of what is usual; none where the model was exported without novelty.
    ///
    /// # Errors
    /// None beyond those that reading already reported.
    pub fn limits(&self) -> Result<Option<Limits<f32>>, Error> {
        Ok(Limits::from_bytes(bytemuck::cast_slice(&self.words))?)
    }

    /// Return what the device says of each raw row: [`predict`](Self::predict) with the distance to the
    /// nearest landmark, and with residual and variance where the model was exported with them.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict), and `ErrorKind::Unsupported` for several outputs.
    pub fn assess(&self, table: &Table) -> Result<Vec<Assessment<f32>>, Error> {
        let is_finite = |assessment: &Assessment<f32>| assessment.value.is_finite();
        let lent = self.lend()?;
        if lent.outputs() > 1 {
            return Err(Error(Cause::SeveralTargets { what: "an assessment of predictions" }));
        }
        match lent {
            Lent::Single(model) => {
                let assessor = Assessor::from_bytes(bytemuck::cast_slice(&self.words))?;
                let mut room = vec![0.0; model.first().width() + model.first().weights().len()];
                each_row(table, |raw| assessor.assess(raw, &mut room), is_finite)
            }
            Lent::Bits16(model) => {
                let mut room = vec![0; model.first().room()];
                each_row(table, |raw| model.first().assess(raw, &mut room), is_finite)
            }
            Lent::Bits8(model) => {
                let mut room = vec![0; model.first().room()];
                each_row(table, |raw| model.first().assess(raw, &mut room), is_finite)
            }
        }
    }
}

/// An exported model as the core uses it.
pub(crate) enum Lent<'a> {
    Single(Outputs<'a, f32, ChosenKernel<f32>>),
    Bits16(QuantisedOutputs<'a, i16>),
    Bits8(QuantisedOutputs<'a, i8>),
}

impl Lent<'_> {
    fn outputs(&self) -> usize {
        match self {
            Self::Single(model) => model.outputs(),
            Self::Bits16(model) => model.outputs(),
            Self::Bits8(model) => model.outputs(),
        }
    }

    /// Return the outputs for a raw row.
    pub(crate) fn predict_row(&self, raw: &[f32]) -> Result<Vec<f32>, CoreError> {
        let (mut out, sums) = (vec![0.0; self.outputs()], &mut vec![0; self.outputs()]);
        match self {
            Self::Single(model) => model.predict(raw, &mut vec![0.0; model.first().width()], &mut out),
            Self::Bits16(model) => model.predict(raw, &mut vec![0; model.first().room()], sums, &mut out),
            Self::Bits8(model) => model.predict(raw, &mut vec![0; model.first().room()], sums, &mut out),
        }?;
        Ok(out)
    }

    /// Predict each row of a table, rounded to single precision first.
    pub(crate) fn predict(&self, table: &Table) -> Result<Vec<f64>, Error> {
        let is_finite = |outputs: &Vec<f32>| outputs.iter().all(|output| output.is_finite());
        let predictions = each_row(table, |raw| self.predict_row(raw), is_finite)?;
        Ok(predictions.into_iter().flatten().map(f64::from).collect())
    }
}

/// Call with each row, rounded to single precision, and check what is returned.
fn each_row<A>(
    table: &Table,
    mut call: impl FnMut(&[f32]) -> Result<A, CoreError>,
    is_finite: impl Fn(&A) -> bool,
) -> Result<Vec<A>, Error> {
    let mut raw = vec![0.0_f32; table.dim];
    (0..table.rows())
        .map(|row| {
            for (column, (slot, &value)) in raw.iter_mut().zip(table.row(row)).enumerate() {
                *slot = value as f32;
                if !slot.is_finite() {
                    let feature = table.feature_names.get(column).cloned().unwrap_or_default();
                    return Err(ExportProblem::Row { row, feature, value }.into());
                }
            }
            let found = call(&raw)?;
            if is_finite(&found) { Ok(found) } else { Err(Error(Cause::Prediction { row })) }
        })
        .collect()
}
