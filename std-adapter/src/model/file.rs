//! Model files.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnymod` |
//! | 8 to 11 | version, little-endian: 1 or 2 |
//! | 12 to 19 | length of the content, little-endian |
//! | 20 to 23 | CRC-32 of the content, little-endian |
//! | 24 on | the content, in postcard's format: the model, and in version 2 a list of sections |
//!
//! A section has a tag, a flag that says whether it is mandatory, and bytes. A reader skips unknown optional sections and
//! refuses unknown mandatory ones, without which its predictions would differ. Section 1, optional, is the
//! [`Confidence`]; a model without it is written as version 1.
//!
//! The whole frame is checked before the content is parsed, so truncated, damaged, future and foreign files are refused.
//! A model is written under a temporary name in the same folder and renamed once it is complete.

use crate::atomic_file::write_whole;
use crate::error::{
    Error,
    model::ModelProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::{Frame, FrameProblem, Length};
use crate::model::trained::Model;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::Path;

const FRAME: Frame =
    Frame { magic: b"dppnymod", version: 1, latest: 2, length: Length::Eight, followed: false };

/// The tag of the section of a [`Confidence`](crate::model::Confidence).
const CONFIDENCE: u32 = 1;

/// An addition to the model that a later version may write.
#[derive(Serialize, Deserialize)]
struct Section {
    tag: u32,
    mandatory: bool,
    bytes: Vec<u8>,
}

impl Model {
    /// Write the model; an existing file is replaced once the new one is complete.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_whole(path.as_ref(), |file| {
            let mut content = postcard::to_allocvec(self).map_err(io::Error::other)?;
            let Some(confidence) = &self.confidence else { return FRAME.write(file, &content) };
            let bytes = postcard::to_allocvec(confidence).map_err(io::Error::other)?;
            let sections = vec![Section { tag: CONFIDENCE, mandatory: false, bytes }];
            content.extend(postcard::to_allocvec(&sections).map_err(io::Error::other)?);
            Frame { version: 2, ..FRAME }.write(file, &content)
        })
    }

    /// Read a model.
    ///
    /// # Errors
    /// [`Error::Table`] if the file cannot be read, [`Error::Model`] if it is invalid.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = |source| TableError::new(path, TableProblem::Open(source));
        let refuse = |problem| Error::Model { path: path.to_owned(), problem };
        let mut file = File::open(path).map_err(open)?;
        if file.metadata().map_err(open)?.is_dir() {
            return Err(TableError::new(path, TableProblem::Directory).into());
        }
        let framed =
            FRAME.read(&mut file).map_err(|source| TableError::new(path, TableProblem::Read(source)))?;
        let (version, content) = framed.map_err(|problem| {
            refuse(match problem {
                FrameProblem::Foreign => ModelProblem::Foreign,
                FrameProblem::Version(version) => ModelProblem::Version(version),
                FrameProblem::Truncated => ModelProblem::Truncated,
                FrameProblem::Longer => ModelProblem::Longer,
                FrameProblem::Corrupt => ModelProblem::Corrupt,
            })
        })?;
        let malformed = || refuse(ModelProblem::Malformed);
        let (mut model, rest) = postcard::take_from_bytes::<Model>(&content).map_err(|_| malformed())?;
        let sections: Vec<Section> = match version {
            1 if rest.is_empty() => Vec::new(),
            1 => return Err(malformed()),
            _ => match postcard::take_from_bytes(rest) {
                Ok((sections, [])) => sections,
                _ => return Err(malformed()),
            },
        };
        for section in sections {
            if section.tag == CONFIDENCE {
                model.confidence = Some(postcard::from_bytes(&section.bytes).map_err(|_| malformed())?);
            } else if section.mandatory {
                return Err(refuse(ModelProblem::Section(section.tag)));
            }
        }
        if model.is_well_formed() { Ok(model) } else { Err(malformed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{FRAME, Section};
    use crate::data::scaler::Scaler;
    use crate::error::{Error, model::ModelProblem};
    use crate::framed_file::Frame;
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::model::Confidence;
    use crate::model::trained::{AnyCoefficients, Coefficients, Model};

    #[test]
    fn unknown_sections_are_skipped_if_optional_and_refused_if_mandatory() {
        let model = Model {
            feature_names: vec!["x".into()],
            target_name: "y".into(),
            scaler: Scaler { means: vec![0.0], deviations: vec![1.0] },
            target_mean: 0.0,
            target_deviation: 1.0,
            kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 },
            ridge: 0.1,
            trained_on: "rows".into(),
            trained_rows: 3,
            landmark_rows: vec![1],
            train_nrmse: 0.5,
            coefficients: AnyCoefficients::F64(Coefficients { landmarks: vec![0.5], weights: vec![1.0] }),
            confidence: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let written = |mandatory| {
            let mut content = postcard::to_allocvec(&model).unwrap();
            let section = Section { tag: 7, mandatory, bytes: vec![1, 2, 3] };
            content.extend(postcard::to_allocvec(&vec![section]).unwrap());
            let mut bytes = Vec::new();
            Frame { version: 2, ..FRAME }.write(&mut bytes, &content).unwrap();
            std::fs::write(&path, bytes).unwrap();
            Model::load(&path)
        };
        assert_eq!(written(false).unwrap(), model);
        assert!(matches!(written(true), Err(Error::Model { problem: ModelProblem::Section(7), .. })));

        // What it knows of its predictions is a section, which must fit the model.
        let confidence = Confidence {
            range: [-1.0, 1.0],
            nearest: [0.5, 1.0, 2.0],
            residual: [0.1, 0.2, 0.3],
            penalty: 0.3,
            noise: 0.0,
            triangle: vec![2.0],
        };
        let kept = Model { confidence: Some(confidence.clone()), ..model.clone() };
        kept.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), kept);
        for wrong in [
            Confidence { triangle: vec![2.0, 1.0], ..confidence.clone() },
            Confidence { range: [1.0, -1.0], ..confidence.clone() },
            Confidence { nearest: [0.5, 2.0, 1.0], ..confidence.clone() },
            Confidence { noise: f64::NAN, ..confidence },
        ] {
            Model { confidence: Some(wrong), ..model.clone() }.save(&path).unwrap();
            assert!(matches!(Model::load(&path), Err(Error::Model { problem: ModelProblem::Malformed, .. })));
        }
    }
}
