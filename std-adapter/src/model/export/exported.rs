//! A trained model in the form of a device: as Rust, as C, or as bytes.
//!
//! Whatever the precision of training, a device computes in single precision, or in integers if it has no
//! floating-point hardware. Both standardise raw rows themselves. The loss of accuracy relative to the
//! model is measured on rows: [`Exported::cost`].

use crate::data::{scaler::Scaler, table::input::Table};
use crate::error::{Cause, Error, export::ExportProblem};
use crate::linalg::eigen::{Eigen, eigen, product, rank};
use crate::model::{
    bits::Bits, export::device::Lent, export::quantised::Quantised, export::single::Single, trained::Model,
};
use dpp_nystrom_core::{Further, Outputs, POWERS, QuantisedOutputs};
use faer::{Mat, MatRef};

/// The constants stored on a device, in single precision or in integers.
///
/// ```
/// use dpp_nystrom::model::export::{Bits, Exported};
/// # use dpp_nystrom::data::Scaler;
/// # use dpp_nystrom::kernel::{KernelKind, KernelSpec};
/// # use dpp_nystrom::{model::{AnyCoefficients, Coefficients}, Model};
/// # let model = Model {
/// #     feature_names: vec!["x".into()], target_name: "y".into(),
/// #     scaler: Scaler { means: vec![2.0], deviations: vec![0.5], map: None, bounds: None },
/// #     target_mean: 1.0, target_deviation: 3.0, ridge: 0.1,
/// #     kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 },
/// #     trained_on: "rows".into(), trained_rows: 9, landmark_rows: vec![4], train_nrmse: 0.0,
/// #     coefficients: AnyCoefficients::F64(Coefficients { landmarks: vec![0.5], weights: vec![1.0] }),
/// #     confidence: None, scales: None, importances: None, test_error: None, quantise: None, recipe: None, further: vec![], classifier: None,
/// # };
/// let single = Exported::of(&model, None)?;
/// assert_eq!(single.predict_row(&[2.25])?, 4.0);
/// let bytes = single.to_bytes()?;
/// assert!(dpp_nystrom::core::Model::from_bytes(&bytes).is_ok());
///
/// let quantised = Exported::of(&model, Some(Bits::Sixteen))?;
/// assert!((quantised.predict_row(&[2.25])? - 4.0).abs() < 1e-3);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exported(pub(crate) Parts);

/// The constants by their arithmetic.
#[derive(Clone, Debug)]
pub(crate) enum Parts {
    /// In single precision.
    Single(Single),
    /// In integers, 16-bit landmarks.
    Bits16(Quantised<i16>),
    /// In integers, 8-bit landmarks.
    Bits8(Quantised<i8>),
}

/// The accuracy of a device's arithmetic relative to the model's own, measured on some rows.
///
/// ```
/// use dpp_nystrom::data::table::{self, Target};
/// use dpp_nystrom::model::export::{Bits, Exported};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("waves.csv");
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// std::fs::write(&path, "time,level\n2,0.9\n5,-1.0\n")?;
/// let table = table::read(&path, &Target::Last)?;
/// let cost = Exported::of(&model, Some(Bits::Sixteen))?.cost(&model, &table)?;
/// assert!(cost.rows == 2 && cost.rms <= cost.largest && cost.largest < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Number of rows.
    pub rows: usize,
    /// The largest difference between two predictions, in the target's units.
    pub largest: f64,
    /// The root mean square difference, in the target's units.
    pub rms: f64,
    /// The root mean square errors of the model and of the exported one, if the rows have targets.
    pub errors: Option<[f64; 2]>,
}

impl Exported {
    /// Convert a model to single precision, or quantise it to the given width.
    ///
    /// # Errors
    /// `ErrorKind::Export` if a value is out of range or the model cannot be quantised, and for a model of
    /// several outputs, which a [`Bundle`](crate::model::export::Bundle) takes.
    ///
    /// ```
    /// use dpp_nystrom::model::export::Exported;
    /// use dpp_nystrom::{Dataset, ErrorKind, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_targets(&y, &["sine", "cosine"])?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// assert_eq!(Exported::of(&model, None).unwrap_err().kind(), ErrorKind::Export); // two outputs
    /// let cosine = Exported::of(&model.each_output()[1], None)?;
    /// assert_eq!((cosine.landmarks(), cosine.features()), (model.landmarks(), 1));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn of(model: &Model, quantise: Option<Bits>) -> Result<Self, Error> {
        let exported = Self(match quantise {
            _ if model.outputs() > 1 => return Err(ExportProblem::Several.into()),
            None => Parts::Single(Single::of(model)?),
            Some(Bits::Sixteen) => Parts::Bits16(Quantised::of(model)?),
            Some(Bits::Eight) => Parts::Bits8(Quantised::of(model)?),
        });
        match exported.lend() {
            Err(Error(Cause::Core(reason))) => Err(ExportProblem::Device(reason).into()),
            Err(error) => Err(error),
            Ok(_) => Ok(exported),
        }
    }

    /// Predict for a raw row exactly as a device with the core's arithmetic does.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a row of another length, `ErrorKind::Data` for values that are not finite.
    pub fn predict_row(&self, raw: &[f32]) -> Result<f32, Error> {
        let outputs = self.lend()?.predict_row(raw)?;
        outputs.first().copied().ok_or(dpp_nystrom_core::Error::Internal.into())
    }

    fn lend(&self) -> Result<Lent<'_>, Error> {
        match &self.0 {
            Parts::Single(model) => Ok(Lent::Single(Outputs::new(model.lend()?, alone())?)),
            Parts::Bits16(model) => Ok(Lent::Bits16(QuantisedOutputs::new(model.lend()?, alone())?)),
            Parts::Bits8(model) => Ok(Lent::Bits8(QuantisedOutputs::new(model.lend()?, alone())?)),
        }
    }

    /// Apply [`Exported::predict_row`] to each row of a table, rounded to single precision first.
    ///
    /// # Errors
    /// `ErrorKind::Export` for a row out of the range of single precision, and those of one row.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, Error> {
        self.lend()?.predict(table)
    }

    /// Compare the exported model's predictions with the model's own.
    ///
    /// # Errors
    /// Those of either model's predictions.
    pub fn cost(&self, model: &Model, table: &Table) -> Result<Cost, Error> {
        let (own, exported) = (model.predict_table(table)?, self.predict(table)?);
        let differences = own.iter().zip(&exported).map(|(own, exported)| (own - exported).abs());
        let squares: f64 = differences.clone().map(|difference| difference * difference).sum();
        Ok(Cost {
            rows: table.rows(),
            largest: differences.fold(0.0, f64::max),
            rms: (squares / table.rows().max(1) as f64).sqrt(),
            errors: table.target.is_some().then(|| [&own, &exported].map(|y| table.root_mean_square(y))),
        })
    }

    /// Return the width of quantised landmarks, or `None` in single precision.
    pub fn bits(&self) -> Option<Bits> {
        match &self.0 {
            Parts::Single(_) => None,
            Parts::Bits16(_) => Some(Bits::Sixteen),
            Parts::Bits8(_) => Some(Bits::Eight),
        }
    }

    /// Return the number of landmarks: fewer than the model's if quantised landmarks coincide.
    pub fn landmarks(&self) -> usize {
        self.shape()[0]
    }

    /// Return the number of features.
    pub fn features(&self) -> usize {
        self.shape()[1]
    }

    /// Return the rank of the map, if there is one.
    pub fn rank(&self) -> Option<usize> {
        match &self.0 {
            Parts::Single(model) => model.scaling.rank(),
            Parts::Bits16(model) => model.map.as_ref().map(|map| map.rank),
            Parts::Bits8(model) => model.map.as_ref().map(|map| map.rank),
        }
    }

    /// Whether features are clipped.
    pub(crate) fn is_clipped(&self) -> bool {
        matches!(&self.0, Parts::Single(model) if model.scaling.is_clipped())
    }

    /// Return the number of coordinates of a standardised row and of a landmark: that of features, or the
    /// rank of the map.
    pub fn width(&self) -> usize {
        self.rank().unwrap_or(self.features())
    }

    /// Return the number of levels of room that a quantised model needs.
    pub(crate) fn room(&self) -> usize {
        self.features() + self.rank().unwrap_or(0)
    }

    fn shape(&self) -> [usize; 2] {
        match &self.0 {
            Parts::Single(model) => [model.weights.len(), model.means.len()],
            Parts::Bits16(model) => [model.weights.len(), model.centres.len()],
            Parts::Bits8(model) => [model.weights.len(), model.centres.len()],
        }
    }

    /// Return the bytes of constant data, without code: the arrays, and for integers the table of powers,
    /// which is in the header in C and in the core in Rust.
    pub fn flash_bytes(&self) -> usize {
        let of_clip = match self.rank() {
            _ if !self.is_clipped() => 0,
            None => 4 * self.features(),
            Some(_) => 8 * self.features(),
        };
        constants(self.bits(), self.shape(), self.rank()) + of_clip
    }

    /// Return the bytes of RAM for the standardised or quantised row of a prediction: room that the caller
    /// lends in Rust, part of the stack in C.
    pub fn ram_bytes(&self) -> usize {
        match &self.0 {
            Parts::Single(_) => 4 * self.width(),
            Parts::Bits16(_) | Parts::Bits8(_) => 2 * self.room(),
        }
    }
}

/// Return the outputs after the first of one that is alone.
fn alone<W, T: Copy>() -> Further<'static, W, T> {
    Further { weights: &[], means: &[], scales: &[] }
}

/// Return the bytes of constant data of c landmarks and d features, with a map of this rank if there is one.
pub(crate) fn constants(quantise: Option<Bits>, [c, d]: [usize; 2], rank: Option<usize>) -> usize {
    let (width, map) = (rank.unwrap_or(d), d * rank.unwrap_or(0));
    match quantise {
        None => 4 * (d + d * rank.unwrap_or(1) + c * width + c),
        Some(Bits::Sixteen) => 4 * (3 * d + c) + 2 * (map + c * width) + size_of_val(&POWERS),
        Some(Bits::Eight) => 4 * (3 * d + c) + 2 * map + c * width + size_of_val(&POWERS),
    }
}

/// Return the landmarks of a model as raw rows, on which to measure the cost when no data are given. With a
/// map these are the rows nearest to the mean that it maps to the landmarks.
///
/// # Errors
/// `ErrorKind::Landmarks` if the decomposition of the map does not converge.
pub fn landmark_rows(model: &Model) -> Result<Table, Error> {
    let features = unscaled(&model.scaler, model.coefficients.to_f64().landmarks)?;
    let dim = model.feature_names.len();
    Ok(Table {
        name: model.trained_on.clone(),
        feature_names: model.feature_names.clone(),
        dim,
        features,
        target: None,
        target_name: None,
        weights: None,
    })
}

/// Return scaled points in the units of the rows; of mapped ones those of least norm that are mapped to them.
///
/// # Errors
/// `ErrorKind::Landmarks`.
pub(crate) fn unscaled(scaler: &Scaler, mut points: Vec<f64>) -> Result<Vec<f64>, Error> {
    if let Some(map) = &scaler.map {
        let dim = scaler.deviations.len();
        // A constant feature is 0 after standardisation, whatever its column.
        let varies = |feature: usize| scaler.deviations[feature] > 0.0;
        let entry = |k: usize, feature| if varies(feature) { map.values[k * dim + feature] } else { 0.0 };
        points = least_norm(&Mat::from_fn(map.rank, dim, entry), &points)?;
    }
    scaler.undo(&mut points);
    Ok(points)
}

/// Return the rows `u` of least norm with `Au = z`, `u = Aᵀ (AAᵀ)⁺ z`, for rows `z`, one after the other.
fn least_norm(a: &Mat<f64>, rows: &[f64]) -> Result<Vec<f64>, Error> {
    let rows = MatRef::from_row_major_slice(rows, rows.len() / a.nrows(), a.nrows());
    let Eigen { values, vectors } = eigen(&product(a.as_ref(), a.transpose()))?;
    let vectors = vectors.subcols(0, rank(&values));
    let mut inner = product(vectors.transpose(), rows.transpose());
    for column in inner.col_iter_mut() {
        column.iter_mut().zip(&values).for_each(|(entry, value)| *entry /= value);
    }
    let found = product(a.transpose(), product(vectors, inner.as_ref()).as_ref());
    Ok(found.col_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect())
}
