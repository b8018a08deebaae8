//! A fleet of devices that accumulate their own rows, merged into one model.
//!
//! Each device holds the exported model, adds its rows to an accumulator over that model's landmarks and sends the
//! accumulator's state ([`dpp_nystrom_core::RidgeRegression::write_state`]): `c(c + 3)/2 + 2` numbers and no row. The
//! merged regression equals a fit of all rows in one place, up to rounding in `f32`, the precision of the devices. A
//! state over other landmarks is rejected by its digest.

use crate::approximation::features::independent_points;
use crate::data::table::input::Table;
use crate::error::Error;
use crate::heap::{Heap, RidgeHeap, zeros};
use crate::model::{export::single::Single, trained::AnyCoefficients, trained::Model};
use crate::observer::Observer;
use crate::regression::{
    accumulator::Accumulator, fit::Fitted, fit::assemble, regress::conclude, ridge::Ridge,
};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points, RidgeRegression};

/// A model whose landmarks a fleet of devices shares, evaluated in the devices' arithmetic.
#[derive(Debug)]
pub struct Fleet<'m> {
    model: &'m Model,
    single: Single,
}

impl<'m> Fleet<'m> {
    /// Create the fleet of devices that hold this model in single precision.
    ///
    /// # Errors
    /// [`Error::SeveralTargets`], and those of [`Exported::of`](crate::model::export::Exported::of).
    pub fn of(model: &'m Model) -> Result<Self, Error> {
        if model.outputs() > 1 {
            return Err(Error::SeveralTargets { what: "learning on devices" });
        }
        Ok(Self { model, single: Single::of(model)? })
    }

    /// Run `work` on the landmarks in the device's precision, with their digest.
    fn on_landmarks<A>(&self, work: impl FnOnce(&Device<'_, '_>) -> Result<A, Error>) -> Result<A, Error> {
        let model = self.single.lend()?;
        let ground = Points::new(model.landmarks(), model.width(), model.kernel())?;
        let mut memory = Heap::new(ground.len())?;
        let landmarks = independent_points(&ground, &mut memory)?;
        let digest = model.digest(landmarks.factor());
        work(&Device { model, landmarks: &landmarks, digest })
    }

    /// Accumulate rows in the device's arithmetic: to predict what a device will compute, or to add the server's own rows.
    ///
    /// # Errors
    /// [`Error::NoTarget`], [`Error::Core`] with the row.
    pub fn accumulate(&self, table: &Table) -> Result<Accumulator<f32>, Error> {
        let targets = table.target.as_ref().ok_or(Error::NoTarget)?;
        self.on_landmarks(|device| {
            let rank = device.landmarks.len();
            let mut heap = RidgeHeap::new(rank)?;
            let mut ridge = RidgeRegression::new(rank, heap.lend())?;
            let mut room = zeros(device.model.width(), 0.0_f32)?;
            let mut raw = zeros(device.model.features(), 0.0_f32)?;
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
                device.landmarks.ground().column_at(row, device.landmarks.members(), &mut phi)?;
                nystrom.features_at(at, &mut phi)?;
                ridge.add(&phi, device.model.standard_target(target as f32)).map_err(located)?;
            }
            Ok(Accumulator::of(&ridge))
        })
    }

    /// Return the bytes that a device would send.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn state(&self, accumulated: &Accumulator<f32>) -> Result<Vec<u8>, Error> {
        self.on_landmarks(|device| accumulated.to_bytes(device.digest))
    }

    /// Read the bytes that a device sent.
    ///
    /// # Errors
    /// [`Error::Core`] for bytes that are truncated, corrupt, too long or of another model.
    pub fn read(&self, bytes: &[u8]) -> Result<Accumulator<f32>, Error> {
        self.on_landmarks(|device| Accumulator::from_bytes(device.landmarks.len(), device.digest, bytes))
    }

    /// Fit the model to the rows of all devices, on the same landmarks. Cross-validation leaves one device out at a
    /// time.
    ///
    /// # Errors
    /// [`Error::Regression`]; [`Error::Folds`] for cross-validation over fewer than two devices.
    pub fn merge(
        &self,
        accumulated: &[Accumulator<f32>],
        ridge: Ridge,
        observer: &dyn Observer,
    ) -> Result<Fitted, Error> {
        self.on_landmarks(|device| {
            Accumulator::on_all(accumulated, |parts| {
                let rows = parts.iter().map(RidgeRegression::rows).sum();
                let fitted = conclude(&Nystrom::new(device.landmarks), parts, &ridge.into(), observer)?;
                let Model { landmark_rows, kernel, .. } = self.model;
                let (columns, points) = (self.model.columns(), device.model.landmarks());
                let mut merged =
                    assemble(&columns, rows, points, landmark_rows, fitted, *kernel, AnyCoefficients::F32)?;
                merged.model.recipe.clone_from(&self.model.recipe);
                Ok(merged)
            })
        })
    }
}

/// The model as a device holds it.
struct Device<'d, 'm> {
    model: dpp_nystrom_core::Model<'m, f32, ChosenKernel<f32>>,
    landmarks: &'d Landmarks<'d, f32, Points<'m, f32, ChosenKernel<f32>>>,
    digest: u64,
}
