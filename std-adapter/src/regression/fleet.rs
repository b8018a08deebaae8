//! Many devices that learn on one model, and one model from what they have learned.
//!
//! Each device holds the exported model, adds its own rows to an accumulator over that model's landmarks, and sends the
//! accumulator's state ([`dpp_nystrom_core::RidgeRegression::write_state`]): `c(c + 3)/2 + 2` numbers however many rows there were, and no
//! row. States over the same landmarks add up: the merged regression is that of all rows in one place, up to
//! rounding in `f32`, which is what devices compute in. A state of other landmarks is refused by its digest.

use crate::data::table::reader::Table;
use crate::error::Error;
use crate::heap::{Heap, RidgeHeap, zeros};
use crate::model::export::exported::Exported;
use crate::model::export::single::Single;
use crate::model::trained::{AnyCoefficients, Coefficients, Model};
use crate::observer::Observer;
use crate::regression::fit::{least, validate};
use crate::regression::ridge::{Ridge, ridge_grid};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Error as CoreError, Landmarks, Nystrom, Points, RidgeRegression, StateProblem, state_bytes,
};

/// A model that devices learn on, with this side's arithmetic the same as theirs.
#[derive(Debug)]
pub struct Fleet<'m> {
    model: &'m Model,
    single: Single,
}

/// What devices have learned.
#[derive(Clone, Debug)]
pub struct DeviceState {
    rows: u64,
    numbers: Vec<f32>,
}

impl DeviceState {
    /// Rows that it was learned from.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// A model from what was learned.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The model.
    pub model: Model,
    /// Root mean squared error over the devices, each predicted from the others, in standard deviations of the
    /// target, where the ridge was cross-validated.
    pub validation_nrmse: Option<f64>,
}

impl<'m> Fleet<'m> {
    /// Of devices that hold this model in single precision.
    ///
    /// # Errors
    /// Those of [`Exported::of`].
    pub fn of(model: &'m Model) -> Result<Self, Error> {
        match Exported::of(model, None)? {
            Exported::Single(single) => Ok(Self { model, single }),
            // Not asked for.
            Exported::Bits16(_) | Exported::Bits8(_) => Err(CoreError::ForeignState.into()),
        }
    }

    /// Runs `work` on the landmarks as a device has them, with their digest.
    fn on_landmarks<A>(&self, work: impl FnOnce(&Device<'_, '_>) -> Result<A, Error>) -> Result<A, Error> {
        let model = self.single.lend()?;
        let ground = Points::new(model.landmarks(), model.features(), model.kernel())?;
        let mut memory = Heap::new(self.single.weights.len())?;
        let all: Vec<usize> = (0..self.single.weights.len()).collect();
        let landmarks = crate::approximation::features::independent(&ground, &all, &mut memory)?;
        let digest = model.digest(landmarks.factor());
        work(&Device { model, ground: &ground, landmarks: &landmarks, digest })
    }

    /// Learns rows as a device does: for tests of what devices will do, and for rows that the server has of its own.
    ///
    /// # Errors
    /// [`Error::NoTarget`], [`Error::Core`] with the row.
    pub fn learn(&self, table: &Table) -> Result<DeviceState, Error> {
        let targets = table.target.as_ref().ok_or(Error::NoTarget)?;
        self.on_landmarks(|device| {
            let rank = device.landmarks.len();
            let mut heap = RidgeHeap::new(rank)?;
            let mut ridge = RidgeRegression::new(rank, heap.lend())?;
            let mut room = zeros(device.model.features(), 0.0_f32)?;
            let mut raw = room.clone();
            let mut phi = zeros(rank, 0.0_f32)?;
            let nystrom = Nystrom::new(device.landmarks);
            for (at, &target) in targets.iter().enumerate() {
                let located = |error| match error {
                    CoreError::NotFinite { column, .. } => CoreError::NotFinite { row: at, column },
                    other => other,
                };
                for (slot, &value) in raw.iter_mut().zip(table.row(at)) {
                    *slot = value as f32;
                }
                let row = device.model.standardise(&raw, &mut room).map_err(located)?;
                device.ground.column_at(row, device.landmarks.members(), &mut phi);
                nystrom.features_at(at, &mut phi)?;
                ridge.add(&phi, device.model.standard_target(target as f32)).map_err(located)?;
            }
            let (rows, numbers) = (ridge.rows(), ridge.numbers().collect());
            Ok(DeviceState { rows, numbers })
        })
    }

    /// The bytes that a device would send.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn state(&self, learned: &DeviceState) -> Result<Vec<u8>, Error> {
        self.on_landmarks(|device| {
            let rank = device.landmarks.len();
            let mut heap = RidgeHeap::new(rank)?;
            let mut ridge = RidgeRegression::new(rank, heap.lend())?;
            ridge.restore(learned.rows, &learned.numbers)?;
            let mut bytes = zeros(state_bytes::<f32>(rank), 0)?;
            ridge.write_state(device.digest, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// What a device sent.
    ///
    /// # Errors
    /// [`Error::Core`] with what is wrong with the bytes; bytes after the state's end are refused too.
    pub fn read(&self, bytes: &[u8]) -> Result<DeviceState, Error> {
        self.on_landmarks(|device| {
            let rank = device.landmarks.len();
            let mut heap = RidgeHeap::new(rank)?;
            let mut ridge = RidgeRegression::new(rank, heap.lend())?;
            ridge.read_state(device.digest, bytes)?;
            if bytes.len() > state_bytes::<f32>(rank) {
                return Err(CoreError::StateBytes(StateProblem::Malformed).into());
            }
            let (rows, numbers) = (ridge.rows(), ridge.numbers().collect());
            Ok(DeviceState { rows, numbers })
        })
    }

    /// The model of all rows that were learned, on the same landmarks. Where the ridge is cross-validated, each device in
    /// turn is predicted from the others.
    ///
    /// # Errors
    /// [`Error::Regression`]; [`Error::Folds`] where fewer than two devices are to be cross-validated.
    pub fn merge(
        &self,
        learned: &[DeviceState],
        ridge: Ridge,
        observer: &dyn Observer,
    ) -> Result<Merged, Error> {
        let regression = |reason| Error::Regression { reason };
        self.on_landmarks(|device| {
            let rank = device.landmarks.len();
            let mut heaps =
                learned.iter().map(|_| RidgeHeap::new(rank)).collect::<Result<Vec<_>, Error>>()?;
            let mut parts = Vec::with_capacity(learned.len());
            for (heap, learned) in heaps.iter_mut().zip(learned) {
                let mut part = RidgeRegression::new(rank, heap.lend()).map_err(regression)?;
                part.restore(learned.rows, &learned.numbers).map_err(regression)?;
                parts.push(part);
            }
            let total: u64 = parts.iter().map(RidgeRegression::rows).sum();
            let (gamma, validation_nrmse) = match ridge {
                Ridge::Value(value) => (value, None),
                Ridge::CrossValidated => {
                    let grid: Vec<f64> = ridge_grid().collect();
                    let rows = usize::try_from(total).unwrap_or(usize::MAX);
                    let scores = validate(&parts, &grid, observer)?;
                    let (best, error) = least(&scores).ok_or(Error::Folds { rows })?;
                    (best, Some((error / total as f64).sqrt()))
                }
            };
            let mut heap = RidgeHeap::new(rank)?;
            let mut whole = RidgeRegression::new(rank, heap.lend()).map_err(regression)?;
            for part in &parts {
                whole.merge(part).map_err(regression)?;
            }
            let mut weights = zeros(rank, 0.0_f32)?;
            whole.solve(gamma as f32, &mut weights).map_err(regression)?;
            let squared = f64::from(whole.squared_error(&weights).map_err(regression)?);
            Nystrom::new(device.landmarks).kernel_weights(&mut weights).map_err(regression)?;
            let dim = device.model.features();
            let members = device.landmarks.members();
            let mut landmarks = Vec::with_capacity(rank * dim);
            members.iter().for_each(|&member| landmarks.extend_from_slice(device.ground.row(member)));
            let numbered = self.model.landmark_rows.len() == self.single.weights.len();
            let landmark_rows = match numbered {
                true => members.iter().map(|&member| self.model.landmark_rows[member]).collect(),
                false => Vec::new(),
            };
            let model = Model {
                ridge: gamma,
                trained_rows: total,
                landmark_rows,
                train_nrmse: (squared / total as f64).sqrt(),
                coefficients: AnyCoefficients::F32(Coefficients { landmarks, weights }),
                ..self.model.clone()
            };
            Ok(Merged { model, validation_nrmse })
        })
    }
}

/// What a device computes with.
struct Device<'d, 'm> {
    model: dpp_nystrom_core::Model<'m, f32, ChosenKernel<f32>>,
    ground: &'d Points<'m, f32, ChosenKernel<f32>>,
    landmarks: &'d Landmarks<'d, f32, Points<'m, f32, ChosenKernel<f32>>>,
    digest: u64,
}
