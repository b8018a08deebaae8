//! A model as bytes, in the layout documented at [`dpp_nystrom_core::Model::from_bytes`].

use crate::error::{Error, export::ExportProblem};
use crate::model::export::quantised::{Quantised, Stored};
use crate::model::export::{device::MAGIC, exported::Exported, exported::Parts};

/// The tags of sections.
pub(crate) mod section {
    pub(crate) const FURTHER: u32 = 1;
    pub(crate) const LIMITS: u32 = 1 << 31;
    pub(crate) const UNCERTAINTY: u32 = LIMITS + 1;
}

/// A tag and words.
pub(crate) type Section = (u32, Vec<u32>);

/// Bytes before the arrays.
const HEADER: usize = 60;

impl Exported {
    /// Return the bytes, to be stored in flash at a multiple of 4.
    ///
    /// # Errors
    /// `ErrorKind::Export` for 4 GiB or more.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.to_bytes_with(&[])
    }

    /// [`to_bytes`](Self::to_bytes) with sections: version 2 of the format, where there are any, and 3 with a
    /// map, and 4 of
    /// clipped features.
    pub(crate) fn to_bytes_with(&self, sections: &[Section]) -> Result<Vec<u8>, Error> {
        match &self.0 {
            Parts::Single(model) => {
                let (about, number, degree) = model.kernel.stored();
                let arrays =
                    [&model.means[..], model.scaling.lend().numbers(), &model.landmarks, &model.weights];
                let arrays = arrays.into_iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
                let kernel = [about.id, number.to_bits(), degree, 0, 0];
                self.framed(0, kernel, [model.target_mean, model.target_scale], arrays, sections)
            }
            Parts::Bits16(model) => self.quantised(1, model, |value| value.to_le_bytes().to_vec(), sections),
            Parts::Bits8(model) => self.quantised(2, model, |value| value.to_le_bytes().to_vec(), sections),
        }
    }

    fn quantised<L: Stored>(
        &self,
        kind: u32,
        model: &Quantised<L>,
        bytes: fn(L) -> Vec<u8>,
        sections: &[Section],
    ) -> Result<Vec<u8>, Error> {
        let words = [&model.centres, &model.factors, &model.exponents, &model.weights];
        let mut arrays: Vec<u8> = model.map.iter().flat_map(|map| map.shift.to_le_bytes()).collect();
        arrays.extend(words.into_iter().flatten().flat_map(|value| value.to_le_bytes()));
        arrays.extend(model.map.iter().flat_map(|map| &map.rows).flat_map(|entry| entry.to_le_bytes()));
        arrays.resize(arrays.len().next_multiple_of(4), 0);
        arrays.extend(model.landmarks.iter().flat_map(|&value| bytes(value)));
        arrays.resize(arrays.len().next_multiple_of(4), 0);
        let kernel = [0, model.limit, model.multiplier, model.shift, model.step as u32];
        self.framed(kind, kernel, [model.target_mean, model.target_scale], arrays, sections)
    }

    /// Put the header before the arrays, and the sections after them.
    fn framed(
        &self,
        kind: u32,
        kernel: [u32; 5],
        target: [f32; 2],
        mut arrays: Vec<u8>,
        sections: &[Section],
    ) -> Result<Vec<u8>, Error> {
        let count = |value: usize| u32::try_from(value).map_err(|_| Error::from(ExportProblem::Size));
        let version = match self.rank() {
            rank if self.is_clipped() => {
                arrays.splice(..0, count(rank.unwrap_or(0))?.to_le_bytes());
                4
            }
            None if sections.is_empty() => 1,
            None => 2,
            Some(rank) => {
                arrays.splice(..0, count(rank)?.to_le_bytes());
                3
            }
        };
        if version > 1 {
            let mut words = vec![count(sections.len())?];
            for (tag, content) in sections {
                words.extend([*tag, count(4 * content.len())?]);
            }
            words.extend(sections.iter().flat_map(|(_, content)| content));
            arrays.extend(words.into_iter().flat_map(u32::to_le_bytes));
        }
        let length = count(HEADER + arrays.len())?;
        let mut words = vec![version, length, kind, count(self.features())?, count(self.landmarks())?];
        words.extend(kernel.into_iter().chain(target.map(f32::to_bits)));
        let mut content: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        content.extend(arrays);
        let checksum = crc32fast::hash(&content).to_le_bytes();
        Ok([MAGIC.as_slice(), &checksum, &content].concat())
    }
}
