//! A model in bytes, read back to predict as the device will, before it is flashed.

use crate::data::table::input::Table;
use crate::error::Error;
use crate::error::export::ExportProblem;
use crate::error::table::TableError;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{BytesProblem, Error as CoreError, Model, QuantisedModel};
use std::fs;
use std::path::Path;

pub(crate) const MAGIC: &[u8; 8] = b"dppndevc";

/// The bytes that `export --to bytes` wrote, at a multiple of 4, validated by the core as on the device.
#[derive(Clone, Debug)]
pub struct DeviceModel {
    words: Vec<u32>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Single,
    Bits16,
    Bits8,
}

impl DeviceModel {
    /// Whether a file begins like an exported model; false if it cannot be read.
    pub fn is_one(path: &Path) -> bool {
        use std::io::Read;
        let mut magic = [0; 8];
        let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && &magic == MAGIC
    }

    /// Read a file.
    ///
    /// # Errors
    /// [`Error::Table`] if it cannot be read, [`Error::DeviceModel`] if it is invalid.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let open = |source| TableError::Open { path: path.to_owned(), source };
        let bytes = fs::read(path).map_err(open)?;
        let mut words = vec![0_u32; bytes.len().div_ceil(4)];
        let (whole, rest) = bytes.as_chunks::<4>();
        for (slot, word) in words.iter_mut().zip(whole) {
            *slot = u32::from_le_bytes(*word);
        }
        let refuse = |problem| Error::DeviceModel { path: path.to_owned(), problem };
        if !rest.is_empty() {
            // The length is a multiple of 4, so a file of another length is truncated or has extra bytes.
            words.truncate(whole.len());
        }
        let other_kind = CoreError::ModelBytes(BytesProblem::Kind);
        let lent: &[u8] = bytemuck::cast_slice(&words);
        let found = [
            (Kind::Single, Model::from_bytes(lent).err()),
            (Kind::Bits16, QuantisedModel::<i16>::from_bytes(lent).err()),
            (Kind::Bits8, QuantisedModel::<i8>::from_bytes(lent).err()),
        ];
        let mut problem = other_kind;
        for (kind, error) in found {
            match error {
                None => return Ok(Self { words, kind }),
                Some(error) if error != other_kind => problem = error,
                Some(_) => {}
            }
        }
        Err(refuse(problem))
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    fn single(&self) -> Result<Model<'_, f32, ChosenKernel<f32>>, CoreError> {
        Model::from_bytes(self.bytes())
    }

    /// Return the number of features of a row.
    ///
    /// # Errors
    /// None beyond those that reading already reported.
    pub fn features(&self) -> Result<usize, Error> {
        Ok(match self.kind {
            Kind::Single => self.single()?.features(),
            Kind::Bits16 => QuantisedModel::<i16>::from_bytes(self.bytes())?.features(),
            Kind::Bits8 => QuantisedModel::<i8>::from_bytes(self.bytes())?.features(),
        })
    }

    /// Return the prediction for each raw row, rounded to single precision first: bit for bit the device's.
    ///
    /// # Errors
    /// [`Error::Export`] for a row out of the range of single precision, [`Error::Prediction`].
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, Error> {
        let bytes = self.bytes();
        match self.kind {
            Kind::Single => {
                let model = self.single()?;
                let mut room = vec![0.0; table.dim];
                predict_rows(table, |raw| model.predict(raw, &mut room))
            }
            Kind::Bits16 => {
                let model = QuantisedModel::<i16>::from_bytes(bytes)?;
                let mut room = vec![0; table.dim];
                predict_rows(table, |raw| model.predict(raw, &mut room))
            }
            Kind::Bits8 => {
                let model = QuantisedModel::<i8>::from_bytes(bytes)?;
                let mut room = vec![0; table.dim];
                predict_rows(table, |raw| model.predict(raw, &mut room))
            }
        }
    }
}

/// Predict each row of a table in single precision.
pub(crate) fn predict_rows(
    table: &Table,
    mut predict: impl FnMut(&[f32]) -> Result<f32, CoreError>,
) -> Result<Vec<f64>, Error> {
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
            let prediction = f64::from(predict(&raw)?);
            if prediction.is_finite() { Ok(prediction) } else { Err(Error::Prediction { row }) }
        })
        .collect()
}
