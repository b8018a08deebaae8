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
//! A section has a tag, a flag that says whether it is mandatory, and bytes. A reader skips unknown optional
//! sections and refuses unknown mandatory ones, without which its predictions would differ. Section 1,
//! optional, is the [`Confidence`]; section 2, mandatory, is the [`Map`](crate::data::Map) of the scaler;
//! section 3, optional, is the [`Recipe`](crate::data::table::Recipe) of the features, without which gaps and
//! other columns are refused; section 4, optional, are the shares of the features in the metric, the squares
//! of the inverse length-scales over their sum, which earlier versions wrote; section 5, mandatory, are the
//! outputs after the first with the [`Classifier`](crate::model::Classifier), if there are any; section 6,
//! optional, is the name of the column that weighted the training rows; section 7, optional, is the integers
//! in which the model is exported; section 8, optional, are the inverse length-scales; section 9, optional,
//! are the [`Importances`](crate::model::Importances); section 10, optional, is the
//! [`TestError`](crate::model::TestError); section 11, mandatory, are the markers of missing values of the
//! recipe, if they are not the usual ones; section 12, mandatory, is how columns are written, if not as plain
//! numbers and words: the decimal comma, the separator of fields, and the forms of features and of targets;
//! section 13, optional, says that the table was taken as it is, and what became of its columns; section 14,
//! mandatory, are the bounds of clipped features. A model without sections is written as version 1.
//!
//! The whole frame is checked before the content is parsed, so truncated, damaged, future and foreign files
//! are refused. A model is written under a temporary name in the same folder and renamed once it is complete.

use crate::data::table::{form::Form, recipe::Recipe};
use crate::error::{
    Cause, Error,
    model::ModelProblem,
    table::{TableError, TableProblem},
};
use crate::framed_file::{Frame, FrameProblem, Length};
use crate::model::trained::Model;
use dpp_nystrom_host::atomic_file::write_whole;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

const FRAME: Frame =
    Frame { magic: b"dppnymod", version: 1, latest: 2, length: Length::Eight, followed: false };

/// The tag of the section of a [`Confidence`](crate::model::Confidence).
const CONFIDENCE: u32 = 1;

/// The tag of the section of a [`Map`](crate::data::Map).
const MAP: u32 = 2;

/// The tag of the section of a [`Recipe`](crate::data::table::Recipe).
const RECIPE: u32 = 3;

/// The tag of the section of the features' shares in the metric, in files of earlier versions.
const SHARES: u32 = 4;

/// The tag of the section of the outputs after the first, and of the classes.
const OUTPUTS: u32 = 5;

/// The tag of the section of the column of weights.
const WEIGHT: u32 = 6;

/// The tag of the section of the integers in which a model is to be exported.
const QUANTISE: u32 = 7;

/// The tag of the section of the inverse length-scales.
const SCALES: u32 = 8;

/// The tag of the section of the importances of columns.
const IMPORTANCES: u32 = 9;

/// The tag of the section of the error on rows that no choice has seen.
const TEST_ERROR: u32 = 10;

/// The tag of the section of the markers of missing values.
const MARKERS: u32 = 11;

/// The tag of the section of how columns are written.
const FORMS: u32 = 12;

/// The tag of the section of what became of the columns of a table that was taken as it is.
const TAKEN: u32 = 13;

/// The tag of the section of the bounds of clipped features.
const BOUNDS: u32 = 14;

/// How the columns of a recipe are written.
#[derive(Serialize, Deserialize)]
struct Forms {
    decimal_comma: bool,
    separator: Option<u8>,
    /// The place of each column that is not plain.
    columns: Vec<(u64, Form)>,
    targets: Vec<Form>,
}

impl Forms {
    fn of(recipe: &Recipe) -> Option<Self> {
        let columns = recipe.columns.iter().enumerate();
        let columns = columns.filter(|(_, column)| column.form != Form::Plain);
        let forms = Self {
            decimal_comma: recipe.decimal_comma,
            separator: recipe.separator,
            columns: columns.map(|(at, column)| (at as u64, column.form.clone())).collect(),
            targets: recipe.target_forms.clone(),
        };
        let is_plain = forms.columns.is_empty() && forms.targets.is_empty();
        (!is_plain || forms.decimal_comma || forms.separator.is_some()).then_some(forms)
    }

    fn put(self, recipe: &mut Recipe) -> Result<(), ModelProblem> {
        recipe.decimal_comma = self.decimal_comma;
        recipe.separator = self.separator;
        recipe.target_forms = self.targets;
        for (at, form) in self.columns {
            let column = usize::try_from(at).ok().and_then(|at| recipe.columns.get_mut(at));
            column.ok_or(ModelProblem::Malformed)?.form = form;
        }
        Ok(())
    }
}

/// An addition to the model that a later version may write.
#[derive(Serialize, Deserialize)]
struct Section {
    tag: u32,
    mandatory: bool,
    bytes: Vec<u8>,
}

impl Section {
    /// Return the section of this content, if there is any.
    fn of(tag: u32, mandatory: bool, content: Option<&impl Serialize>) -> io::Result<Option<Self>> {
        let Some(content) = content else { return Ok(None) };
        let bytes = postcard::to_allocvec(content).map_err(io::Error::other)?;
        Ok(Some(Self { tag, mandatory, bytes }))
    }

    fn content<T: DeserializeOwned>(&self) -> Result<T, ModelProblem> {
        postcard::from_bytes(&self.bytes).map_err(|_| ModelProblem::Malformed)
    }
}

impl Model {
    /// Write the model; an existing file is replaced once the new one is complete.
    ///
    /// # Errors
    /// `ErrorKind::File`.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind, KernelRidge, Model, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let folder = tempfile::tempdir()?;
    /// model.save(folder.path().join("waves.dpp"))?;
    /// assert_eq!(Model::load(folder.path().join("waves.dpp"))?, model);
    /// assert_eq!(model.save(folder.path().join("no/waves.dpp")).unwrap_err().kind(), ErrorKind::File);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(write_whole(path.as_ref(), |file| self.write(file))?)
    }

    /// Read a model.
    ///
    /// # Errors
    /// `ErrorKind::File` if the file cannot be read, `ErrorKind::Format` if it is invalid.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = |source| TableError::new(path, TableProblem::Open(source));
        let mut file = File::open(path).map_err(open)?;
        if file.metadata().map_err(open)?.is_dir() {
            return Err(TableError::new(path, TableProblem::Directory).into());
        }
        let read =
            Self::read(&mut file).map_err(|source| TableError::new(path, TableProblem::Read(source)))?;
        read.map_err(|problem| Error(Cause::Model { path: path.to_owned(), problem }))
    }

    /// Return the content of a model file.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).map_err(|_| Error(Cause::Memory { bytes: bytes.len() }))?;
        Ok(bytes)
    }

    /// Read what [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    /// `ErrorKind::Format`.
    ///
    /// ```
    /// use dpp_nystrom::{ErrorKind, Model};
    ///
    /// assert_eq!(Model::from_bytes(b"no model").unwrap_err().kind(), ErrorKind::Format);
    /// ```
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, Error> {
        let read = Self::read(&mut bytes).unwrap_or(Err(ModelProblem::Truncated));
        read.map_err(|problem| Error(Cause::ModelBytes(problem)))
    }

    fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut content = postcard::to_allocvec(self).map_err(io::Error::other)?;
        let outputs = (!self.further.is_empty()).then_some((&self.further, &self.classifier));
        let recipe = self.recipe.as_ref().filter(|recipe| !recipe.is_plain());
        let taken = recipe.filter(|recipe| recipe.as_it_is).map(|recipe| &recipe.taken);
        let sections = [
            Section::of(CONFIDENCE, false, self.confidence.as_ref()),
            Section::of(MAP, true, self.scaler.map.as_ref()),
            Section::of(BOUNDS, true, self.scaler.bounds.as_ref()),
            Section::of(SCALES, false, self.scales.as_ref()),
            Section::of(IMPORTANCES, false, self.importances.as_ref()),
            Section::of(TEST_ERROR, false, self.test_error.as_ref()),
            Section::of(QUANTISE, false, self.quantise.as_ref()),
            Section::of(OUTPUTS, true, outputs.as_ref()),
            Section::of(RECIPE, false, recipe),
            Section::of(WEIGHT, false, recipe.and_then(|recipe| recipe.weight.as_ref())),
            Section::of(MARKERS, true, recipe.and_then(|recipe| recipe.missing_values.as_ref())),
            Section::of(FORMS, true, recipe.and_then(Forms::of).as_ref()),
            Section::of(TAKEN, false, taken),
        ];
        let sections: Vec<Section> =
            sections.into_iter().filter_map(Result::transpose).collect::<io::Result<_>>()?;
        if sections.is_empty() {
            return FRAME.write(out, &content);
        }
        content.extend(postcard::to_allocvec(&sections).map_err(io::Error::other)?);
        Frame { version: 2, ..FRAME }.write(out, &content)
    }

    fn read(input: &mut impl Read) -> io::Result<Result<Self, ModelProblem>> {
        let framed = FRAME.read(input, u64::MAX)?.map_err(|problem| match problem {
            FrameProblem::Foreign => ModelProblem::Foreign,
            FrameProblem::Version(version) => ModelProblem::Version(version),
            FrameProblem::Truncated => ModelProblem::Truncated,
            FrameProblem::Longer => ModelProblem::Longer,
            FrameProblem::Corrupt => ModelProblem::Corrupt,
        });
        Ok(framed.and_then(|(version, content)| Self::parse(version, &content)))
    }

    fn parse(version: u32, content: &[u8]) -> Result<Self, ModelProblem> {
        let model = postcard::take_from_bytes::<Model>(content);
        let (mut model, rest) = model.map_err(|_| ModelProblem::Malformed)?;
        let sections: Vec<Section> = match version {
            1 if rest.is_empty() => Vec::new(),
            1 => return Err(ModelProblem::Malformed),
            _ => match postcard::take_from_bytes(rest) {
                Ok((sections, [])) => sections,
                _ => return Err(ModelProblem::Malformed),
            },
        };
        for section in sections {
            match section.tag {
                CONFIDENCE => model.confidence = Some(section.content()?),
                MAP => model.scaler.map = Some(section.content()?),
                BOUNDS => model.scaler.bounds = Some(section.content()?),
                RECIPE => model.recipe = Some(section.content()?),
                SHARES => {
                    let shares: Vec<f64> = section.content()?;
                    model.scales = Some(shares.into_iter().map(f64::sqrt).collect());
                }
                SCALES => model.scales = Some(section.content()?),
                TEST_ERROR => model.test_error = Some(section.content()?),
                IMPORTANCES => model.importances = Some(section.content()?),
                QUANTISE => model.quantise = Some(section.content()?),
                OUTPUTS => (model.further, model.classifier) = section.content()?,
                WEIGHT => model.recipe.get_or_insert_default().weight = Some(section.content()?),
                MARKERS => model.recipe.get_or_insert_default().missing_values = Some(section.content()?),
                // After the recipe.
                FORMS => section.content::<Forms>()?.put(model.recipe.get_or_insert_default())?,
                TAKEN => {
                    let recipe = model.recipe.get_or_insert_default();
                    (recipe.as_it_is, recipe.taken) = (true, section.content()?);
                }
                tag if section.mandatory => return Err(ModelProblem::Section(tag)),
                _ => {}
            }
        }
        if model.is_well_formed() { Ok(model) } else { Err(ModelProblem::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::{FRAME, Forms, Section};
    use crate::data::table::{Form, How, Part, Taken};
    use crate::data::table::{options::Missing, recipe::Column, recipe::Recipe};
    use crate::data::{columns::Classes, columns::TargetColumn, map::Map, scaler::Scaler};
    use crate::error::{Cause, Error, model::ModelProblem};
    use crate::framed_file::Frame;
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::model::trained::{AnyCoefficients, Coefficients, Model, Output};
    use crate::model::{Classifier, Confidence, Estimate, Importance, Importances, TestError, bits::Bits};

    fn model() -> Model {
        Model {
            feature_names: vec!["x".into()],
            target_name: "y".into(),
            scaler: Scaler { means: vec![0.0], deviations: vec![1.0], map: None, bounds: None },
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
            recipe: None,
            scales: None,
            importances: None,
            test_error: None,
            quantise: None,
            further: Vec::new(),
            classifier: None,
        }
    }

    #[test]
    fn how_columns_are_written_is_kept_and_checked() {
        let with = |forms: Forms| {
            let columns = vec![Column::number("x"), Column::number("d")];
            let mut recipe = Recipe { named: true, columns, as_it_is: true, ..Recipe::default() };
            recipe.taken = vec![Taken { column: "id".into(), how: How::Steps }];
            let names = vec!["x".into(), "d year".into(), "d days".into()];
            let scaler = Scaler { means: vec![0.0; 3], deviations: vec![1.0; 3], map: None, bounds: None };
            let landmarks = vec![0.5, 2014.0, 16_000.0];
            let coefficients = AnyCoefficients::F64(Coefficients { landmarks, weights: vec![1.0] });
            forms.put(&mut recipe).map(|()| Model {
                feature_names: names,
                scaler,
                coefficients,
                recipe: Some(recipe),
                ..model()
            })
        };
        let date = |parts| Form::Date { day_first: Some(true), parts };
        let dates = |parts| vec![(1, date(parts))];
        let forms = |columns, targets| Forms { decimal_comma: true, separator: Some(b';'), columns, targets };
        let amount = Form::Amount { unit: Some('$'), thousands: true };
        let both = vec![Part::Year, Part::Days];
        let kept = with(forms(dates(both.clone()), vec![amount.clone()])).unwrap();
        let bytes = kept.to_bytes().unwrap();
        assert_eq!(Model::from_bytes(&bytes).unwrap(), kept);
        let recipe = kept.recipe();
        assert_eq!((recipe.decimal_comma, recipe.separator, recipe.as_it_is), (true, Some(b';'), true));
        assert_eq!(recipe.columns[1].form, date(both.clone()));
        assert_eq!((recipe.target_forms.len(), recipe.taken.len()), (1, 1));
        // The form of a column that is not there, twice a part or none, and a target that is a date.
        assert!(with(forms(vec![(2, amount.clone())], Vec::new())).is_err());
        assert!(with(forms(vec![(u64::MAX, amount)], Vec::new())).is_err());
        for wrong in [
            forms(dates(vec![Part::Days, Part::Days]), Vec::new()),
            forms(dates(Vec::new()), Vec::new()),
            forms(dates(both.clone()), vec![date(both)]),
        ] {
            let bytes = with(wrong).unwrap().to_bytes().unwrap();
            assert_eq!(Model::from_bytes(&bytes).unwrap_err().name(), "ModelMalformed");
        }
        // Whatever is changed, a model is refused or is one.
        let (mut loaded, header) = (0, 24);
        let framed = |content: &[u8]| {
            let mut bytes = Vec::new();
            Frame { version: 2, ..FRAME }.write(&mut bytes, content).unwrap();
            Model::from_bytes(&bytes)
        };
        for at in header..bytes.len() {
            let mut content = bytes[header..].to_vec();
            content[at - header] ^= 0x55;
            match framed(&content) {
                Ok(_) => loaded += 1,
                Err(error) => assert!(error.name().starts_with("Model"), "{}", error.name()),
            }
        }
        assert!(loaded > 0);
    }

    /// Each by itself, and plain columns have none.
    #[test]
    fn every_way_of_writing_is_kept() {
        let amount = Form::Amount { unit: None, thousands: true };
        let recipe = |decimal_comma, separator, form, target_forms| Recipe {
            columns: vec![Column::number("x"), Column { form, ..Column::number("z") }],
            decimal_comma,
            separator,
            target_forms,
            ..Recipe::default()
        };
        let plain = || recipe(false, None, Form::Plain, Vec::new());
        assert!(Forms::of(&plain()).is_none());
        for written in [
            recipe(true, None, Form::Plain, Vec::new()),
            recipe(false, Some(b';'), Form::Plain, Vec::new()),
            recipe(false, None, amount.clone(), Vec::new()),
            recipe(false, None, Form::Plain, vec![amount]),
        ] {
            let mut read = plain();
            Forms::of(&written).unwrap().put(&mut read).unwrap();
            assert_eq!(read, written);
        }
    }

    #[test]
    fn unknown_sections_are_skipped_if_optional_and_refused_if_mandatory() {
        let model = model();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let written = |mandatory| {
            let mut content = postcard::to_allocvec(&model).unwrap();
            let section = Section { tag: 99, mandatory, bytes: vec![1, 2, 3] };
            content.extend(postcard::to_allocvec(&vec![section]).unwrap());
            let mut bytes = Vec::new();
            Frame { version: 2, ..FRAME }.write(&mut bytes, &content).unwrap();
            std::fs::write(&path, bytes).unwrap();
            Model::load(&path)
        };
        assert_eq!(written(false).unwrap(), model);
        assert!(matches!(written(true), Err(Error(Cause::Model { problem: ModelProblem::Section(99), .. }))));

        // The first version ends with the model.
        let first = |more: &[u8]| {
            let mut bytes = Vec::new();
            let content = [&postcard::to_allocvec(&model).unwrap(), more].concat();
            Frame { version: 1, ..FRAME }.write(&mut bytes, &content).unwrap();
            std::fs::write(&path, bytes).unwrap();
            Model::load(&path)
        };
        assert_eq!(first(&[]).unwrap(), model);
        assert!(matches!(first(&[0]), Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))));

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
        // So is the map, without which a reader must not predict.
        let map = Map { rank: 1, values: vec![2.0] };
        let mapped =
            |map| Model { scaler: Scaler { map: Some(map), ..model.scaler.clone() }, ..model.clone() };
        mapped(map.clone()).save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), mapped(map.clone()));
        assert_eq!(Model::from_bytes(&mapped(map.clone()).to_bytes().unwrap()).unwrap(), mapped(map));
        for (rank, values) in [(1, vec![2.0, 1.0]), (0, vec![]), (2, vec![1.0, 1.0]), (1, vec![f64::NAN])] {
            mapped(Map { rank, values }).save(&path).unwrap();
            assert!(matches!(
                Model::load(&path),
                Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))
            ));
        }
        let clipped = |bounds| Model {
            scaler: Scaler { bounds: Some(bounds), ..model.scaler.clone() },
            ..model.clone()
        };
        clipped(vec![3.0]).save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), clipped(vec![3.0]));
        for bounds in [vec![], vec![3.0, 3.0], vec![0.0], vec![-3.0], vec![f64::INFINITY]] {
            clipped(bounds).save(&path).unwrap();
            assert!(Model::load(&path).is_err());
        }
        let with = |scales: Vec<f64>| Model { scales: Some(scales), ..model.clone() };
        with(vec![1.5]).save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), with(vec![1.5]));
        let refused = |wrong: Model| {
            wrong.save(&path).unwrap();
            assert!(matches!(
                Model::load(&path),
                Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))
            ));
        };
        for wrong in [vec![], vec![0.5, 0.5], vec![f64::NAN], vec![-0.1], vec![f64::INFINITY]] {
            refused(with(wrong));
        }
        // The shares of earlier versions.
        let shares = |shares: Vec<f64>| {
            let mut content = postcard::to_allocvec(&model).unwrap();
            content.extend(
                postcard::to_allocvec(&vec![Section::of(4, false, Some(&shares)).unwrap().unwrap()]).unwrap(),
            );
            let mut bytes = Vec::new();
            Frame { version: 2, ..FRAME }.write(&mut bytes, &content).unwrap();
            Model::from_bytes(&bytes)
        };
        assert_eq!(shares(vec![0.25]).unwrap(), with(vec![0.5]));
        assert_eq!(shares(vec![-1.0]).unwrap_err().name(), "ModelMalformed");
        // What was measured on rows left out.
        let estimate = Estimate { value: 0.5, standard_error: 0.1 };
        let test_error = TestError { rows: 30, error: estimate, log_loss: None };
        let importance = Importance { column: "x".into(), rise: -0.1, deviation: 0.2 };
        let importances = Importances { columns: vec![importance.clone()], rows: 30 };
        let kept = Model {
            importances: Some(importances.clone()),
            test_error: Some(test_error.clone()),
            ..model.clone()
        };
        kept.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), kept);
        for error in [f64::NAN, -0.1] {
            let wrong = Estimate { standard_error: error, ..estimate };
            refused(Model {
                test_error: Some(TestError { error: wrong, ..test_error.clone() }),
                ..model.clone()
            });
            let columns = vec![Importance { deviation: error, ..importance.clone() }];
            refused(Model { importances: Some(Importances { columns, rows: 30 }), ..model.clone() });
        }
        let columns = vec![importance.clone(), importance];
        refused(Model { importances: Some(Importances { columns, rows: 30 }), ..model.clone() });
        for bits in [Bits::Sixteen, Bits::Eight] {
            let kept = Model { quantise: Some(bits), ..model.clone() };
            kept.save(&path).unwrap();
            assert_eq!(Model::load(&path).unwrap(), kept);
        }
        // Further outputs, without which a reader must not predict.
        let target = TargetColumn { name: "z".into(), mean: 1.0, deviation: 2.0 };
        let output = |weights: Vec<f64>| Output { target: target.clone(), weights };
        let several = Model { further: vec![output(vec![3.0])], ..model.clone() };
        let labels = |count: usize| (0..count).map(|label| label.to_string()).collect();
        let classifier = |count, temperature| {
            let classes = Classes { column: "z".into(), labels: labels(count) };
            Some(Classifier { classes, temperature })
        };
        let classes = Model { classifier: classifier(2, 0.5), ..several.clone() };
        for kept in [&several, &classes] {
            kept.save(&path).unwrap();
            assert_eq!(&Model::load(&path).unwrap(), kept);
        }
        for wrong in [
            Model { further: vec![output(vec![])], ..model.clone() },
            Model { further: vec![output(vec![f64::NAN])], ..model.clone() },
            Model { classifier: classifier(3, 0.5), ..several.clone() },
            Model { classifier: classifier(2, 0.0), ..several.clone() },
        ] {
            wrong.save(&path).unwrap();
            assert!(matches!(
                Model::load(&path),
                Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))
            ));
        }
        // The recipe is kept if it tells more than the names.
        let cooked = |fill: Vec<f64>, missing| {
            let columns = vec![Column { name: "x".into(), fill, ..Column::default() }];
            let missing_values = Some(vec!["-999".to_owned(), "none".to_owned()]);
            let weight = Some("w".to_owned());
            let recipe =
                Recipe { named: true, columns, missing, missing_values, weight, ..Recipe::default() };
            Model { recipe: Some(recipe), ..model.clone() }
        };
        let filled = cooked(vec![0.5], Missing::Mean);
        filled.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), filled);
        for (fill, missing) in
            [(vec![], Missing::Mean), (vec![f64::NAN], Missing::Mean), (vec![0.5], Missing::Drop)]
        {
            cooked(fill, missing).save(&path).unwrap();
            assert!(matches!(
                Model::load(&path),
                Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))
            ));
        }
        for wrong in [
            Confidence { triangle: vec![2.0, 1.0], ..confidence.clone() },
            Confidence { range: [1.0, -1.0], ..confidence.clone() },
            Confidence { nearest: [0.5, 2.0, 1.0], ..confidence.clone() },
            Confidence { noise: f64::NAN, ..confidence },
        ] {
            Model { confidence: Some(wrong), ..model.clone() }.save(&path).unwrap();
            assert!(matches!(
                Model::load(&path),
                Err(Error(Cause::Model { problem: ModelProblem::Malformed, .. }))
            ));
        }
    }
}
