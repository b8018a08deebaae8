//! A fleet of devices that accumulate their own rows, merged into one model.
//!
//! Each device holds the exported model, adds its rows to an accumulator over that model's landmarks and
//! sends the accumulator's state ([`dpp_nystrom_core::RidgeRegression::write_state`]): `c(c + 3)/2 + 2`
//! numbers and no row. The merged regression equals a fit of all rows in one place, up to rounding in `f32`,
//! the precision of the devices, as long as no device is limited. A state over other landmarks is rejected by
//! its digest.
//!
//! A merge takes these steps: [`Fleet::receive`] reads each state, with the key of its device;
//! [`newest`](crate::regression::newest) keeps the latest of each device; [`Fleet::examine`] says what each
//! counts for and which are outliers; and [`Fleet::merge`] fits the model to those that are left, each
//! [counting](Accumulator::counting_as) for as many rows.

use crate::approximation::features::independent_points;
use crate::data::table::input::Table;
use crate::error::{Cause, Error, check_length};
use crate::model::{export::single::Single, trained::AnyCoefficients, trained::Model};
use crate::observer::Observer;
use crate::regression::{
    fit::Fitted, fit::assemble, fleet::admission::Keys, fleet::admission::Refusal,
    fleet::influence::MergeLimits, fleet::outliers::Examined, fleet::outliers::examine,
    fleet::received::Received, ridge::Ridge, rows::accumulator::Accumulator, rows::triangle::Triangle,
    solve::robust::Aggregate, solve::solution::conclude,
};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    BytesProblem, Error as CoreError, GroundSet, Landmarks, Nystrom, Origin, Points, RidgeRegression,
    StateHeader, state_bytes_forgotten, state_bytes_of, verify_state,
};
use dpp_nystrom_host::heap::{Heap, RidgeHeap, zeros};

/// `k(x, x)` of a kernel with a bandwidth, and what rounding in `f32` may add to `‖φ(x)‖²`.
const DIAGONAL: f64 = 1.0;
const SLACK: f64 = 0.01;

/// A model whose landmarks a fleet of devices shares, evaluated in the devices' arithmetic.
///
/// ```
/// use dpp_nystrom::core::Origin;
/// use dpp_nystrom::regression::{Aggregate, Fleet};
/// use dpp_nystrom::{Ridge, observer::NoObserver};
/// # use dpp_nystrom::data::table::{self, Target};
/// # use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("device.csv");
/// # let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// # let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// # let rows: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("{x},{y}\n")).collect();
/// # std::fs::write(&path, format!("x,y\n{}", rows.concat()))?;
/// # let table = table::read(&path, &Target::Last)?;
/// # let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// # let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
///
/// let fleet = Fleet::of(&model)?;
/// let sums = fleet.accumulate(&table)?; // what a device learns from these rows
/// let state = fleet.state(&sums, Some(Origin { device: 12, counter: 1 }))?; // what it sends
/// assert!(state.len() as u64 <= fleet.most_bytes());
///
/// let received = fleet.receive("12", &state, None)?;
/// let fitted = fleet.merge(&[received.accumulated], Ridge::Value(1e-6), Aggregate::Rows, &NoObserver)?;
/// assert_eq!(fitted.model.trained_rows, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fleet<'m> {
    model: &'m Model,
    single: Single,
}

impl<'m> Fleet<'m> {
    /// Create the fleet of devices that hold this model in single precision.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for a model of several outputs or of weighted rows, and those of
    /// [`Exported::of`](crate::model::export::Exported::of).
    pub fn of(model: &'m Model) -> Result<Self, Error> {
        if model.outputs() > 1 {
            return Err(Error(Cause::SeveralTargets { what: "learning on devices" }));
        }
        if model.weight().is_some() {
            return Err(Error(Cause::Unweighted { what: "learning on devices" }));
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

    /// Accumulate rows in the device's arithmetic: to predict what a device will compute, or to add the
    /// server's own rows.
    ///
    /// # Errors
    /// `ErrorKind::Data` without a target, `ErrorKind::Argument` with the row.
    pub fn accumulate(&self, table: &Table) -> Result<Accumulator<f32>, Error> {
        let targets = table.target.as_ref().ok_or(Error(Cause::NoTarget))?;
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
            ridge.settle()?;
            Accumulator::of(&ridge)
        })
    }

    /// Return the bytes that a device would send.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub fn state(&self, accumulated: &Accumulator<f32>, origin: Option<Origin>) -> Result<Vec<u8>, Error> {
        self.on_landmarks(|device| accumulated.to_bytes_of(1, origin, device.digest))
    }

    /// Read the bytes that a device sent.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for another number of landmarks or targets; `ErrorKind::Format` for bytes that
    /// are truncated, corrupt, too long, of another model, or that no rows can have left: under a bounded
    /// kernel `‖φ‖²` is at most its diagonal, and so is its mean over the rows.
    pub fn read(&self, bytes: &[u8]) -> Result<Accumulator<f32>, Error> {
        self.on_landmarks(|device| {
            let header = StateHeader::read(bytes)?;
            check_length("landmarks of the state", device.landmarks.len(), header.features)?;
            check_length("targets of the state", 1, header.targets)?;
            let accumulated = Accumulator::from_bytes(device.landmarks.len(), device.digest, bytes)?;
            let squares = accumulated.on(|regression| Ok(Triangle::of(regression)?.squares().0))?;
            let bounded = self.model.kernel.bandwidth().is_some();
            if bounded && squares > accumulated.rows() as f64 * (DIAGONAL + SLACK) {
                return Err(CoreError::StateBytes(BytesProblem::Malformed).into());
            }
            Ok(accumulated)
        })
    }

    /// Read a state of a device. With keys it must be signed with that of the device that it names.
    ///
    /// # Errors
    /// [`Refusal::NoOrigin`], [`Refusal::NoKey`], [`Refusal::NotAuthentic`]; [`Refusal::Invalid`] with an
    /// error of [`read`](Self::read).
    pub fn receive(
        &self,
        name: impl Into<String>,
        bytes: &[u8],
        keys: Option<&Keys>,
    ) -> Result<Received, Refusal> {
        let invalid = |error: CoreError| Refusal::Invalid(error.into());
        let origin = StateHeader::read(bytes).map_err(invalid)?.origin;
        if let Some(keys) = keys {
            let Origin { device, .. } = origin.ok_or(Refusal::NoOrigin)?;
            let key = keys.get(&device).ok_or(Refusal::NoKey { device })?;
            verify_state(bytes, key).map_err(|_| Refusal::NotAuthentic { device })?;
        }
        let accumulated = self.read(bytes).map_err(Refusal::Invalid)?;
        Ok(Received { origin, ..Received::of(name, accumulated) })
    }

    /// Read a state of the server's own: it needs no key, and is neither limited nor compared with the
    /// others.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with an error of [`read`](Self::read).
    pub fn trust(&self, name: impl Into<String>, bytes: &[u8]) -> Result<Received, Refusal> {
        Ok(Received { trusted: true, ..self.receive(name, bytes, None)? })
    }

    /// Return the most bytes that a state of a device can have: for a limit on reading.
    pub fn most_bytes(&self) -> u64 {
        let most = state_bytes_of::<f32>(self.model.landmarks(), 1) + state_bytes_forgotten::<f32>();
        most as u64
    }

    /// Compare the states of devices with each other, before they are merged, and limit what each counts for.
    /// With a ridge that is not a number, models of devices have that of the fleet's model. Some `2 D log₂ D`
    /// sums of triangles for `D` devices, `2c³/3` operations each, and as many again for each device that is
    /// an outlier or beyond the limit of influence.
    ///
    /// # Errors
    /// `ErrorKind::Cancelled`, `ErrorKind::Memory`.
    pub fn examine(
        &self,
        states: &[Received],
        limits: MergeLimits,
        ridge: Ridge,
        observer: &dyn Observer,
    ) -> Result<Vec<Examined>, Error> {
        self.on_landmarks(|device| {
            // w of the landmarks is Lᵀw of the features, dependent landmarks included.
            let nystrom = Nystrom::new(device.landmarks);
            let mut weights = vec![0.0; nystrom.rank()];
            let mut phi = zeros(nystrom.rank(), 0.0_f32)?;
            for (landmark, &weight) in device.model.weights().iter().enumerate() {
                nystrom.features(landmark, &mut phi)?;
                for (sum, &feature) in weights.iter_mut().zip(&phi) {
                    *sum += f64::from(weight) * f64::from(feature);
                }
            }
            let error = self.model.train_nrmse * self.model.train_nrmse;
            let ridge = if let Ridge::Value(ridge) = ridge { ridge } else { self.model.ridge };
            examine(states, &weights, error, ridge, limits, observer)
        })
    }

    /// Fit the model to the rows of all devices, on the same landmarks. Cross-validation leaves one device
    /// out at a time. For [`Aggregate::Robust`] the ridge is that of [`Aggregate::Rows`], and the model has
    /// no validation error.
    ///
    /// # Errors
    /// `ErrorKind::Regression`; `ErrorKind::Data` for cross-validation over fewer than two devices.
    pub fn merge(
        &self,
        accumulated: &[Accumulator<f32>],
        ridge: Ridge,
        aggregate: Aggregate,
        observer: &dyn Observer,
    ) -> Result<Fitted, Error> {
        let rows = accumulated.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.rows()));
        let rows = rows.ok_or(Error::regression(CoreError::RowCount))?;
        self.on_landmarks(|device| {
            Accumulator::on_all(accumulated, |parts| {
                let fitted =
                    conclude(&Nystrom::new(device.landmarks), parts, &ridge.into(), aggregate, observer)?;
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

#[cfg(test)]
mod tests {
    use super::Fleet;
    use crate::data::table::{self, Target, input::Table};
    use crate::error::ErrorKind;
    use crate::model::Model;
    use crate::observer::NoObserver;
    use crate::regression::{Accumulator, MergeLimits, Outlier, Received, Ridge};
    use crate::{Dataset, KernelRidge, Nystroem};
    use dpp_nystrom_core::{Origin, state_bytes_forgotten};

    fn numbers() -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
        let y = x.iter().map(|x| x.sin()).collect();
        (x, y)
    }

    fn model() -> Model {
        let (x, y) = numbers();
        let data = Dataset::from_rows(&x, 1).unwrap().with_target(&y).unwrap();
        KernelRidge::params(&Nystroem::params(8).fit(&data).unwrap()).fit(&data).unwrap()
    }

    /// The rows of the model, their targets raised.
    fn raised(by: f64) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let (x, y) = numbers();
        let rows: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("{x},{}\n", y + by)).collect();
        std::fs::write(&path, format!("x,y\n{}", rows.concat())).unwrap();
        table::read(&path, &Target::Last).unwrap()
    }

    #[test]
    fn a_model_of_several_targets_has_no_fleet() {
        let (x, y) = numbers();
        let both: Vec<f64> = y.iter().flat_map(|y| [*y, -y]).collect();
        let data = Dataset::from_rows(&x, 1).unwrap().with_targets(&both, &["a", "b"]).unwrap();
        let model = KernelRidge::params(&Nystroem::params(8).fit(&data).unwrap()).fit(&data).unwrap();
        let refused = Fleet::of(&model).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("learning on devices"), "{refused}");
    }

    /// A mean of `‖φ‖²` up to a hundredth above the kernel's diagonal is rounding, and more is no rows'.
    #[test]
    fn features_are_at_most_the_diagonal() {
        let model = model();
        let fleet = Fleet::of(&model).unwrap();
        for (square, is_read) in [(1.0_f32, true), (1.008, true), (1.02, false)] {
            let mut sums = Accumulator::<f32>::empty(model.landmarks()).unwrap();
            let mut phi = vec![0.0; model.landmarks()];
            phi[0] = square.sqrt();
            (0..1_000).for_each(|_| sums.add(&phi, 0.5).unwrap());
            let state = fleet.state(&sums, None).unwrap();
            assert_eq!(fleet.read(&state).is_ok(), is_read, "{square}");
        }
    }

    #[test]
    fn no_state_has_more_than_the_most_bytes() {
        let model = model();
        let fleet = Fleet::of(&model).unwrap();
        let origin = Some(Origin { device: 1, counter: 1 });
        let state = fleet.state(&fleet.accumulate(&raised(0.0)).unwrap(), origin).unwrap();
        assert_eq!(fleet.most_bytes(), (state.len() + state_bytes_forgotten::<f32>()) as u64);
    }

    /// A state that is received keeps its device and counter, and one of the server's own is trusted.
    #[test]
    fn a_state_says_whose_it_is() {
        let model = model();
        let fleet = Fleet::of(&model).unwrap();
        let origin = Some(Origin { device: 1, counter: 7 });
        let state = fleet.state(&fleet.accumulate(&raised(0.0)).unwrap(), origin).unwrap();
        let of = |received: Received| (received.origin, received.trusted);
        assert_eq!(of(fleet.receive("device", &state, None).unwrap()), (origin, false));
        assert_eq!(of(fleet.trust("own", &state).unwrap()), (origin, true));
    }

    /// Of two devices, the error of the model in training says which one is far.
    #[test]
    fn errors_are_compared_with_that_of_the_model() {
        let model = model();
        assert!(model.train_nrmse < 0.02, "{}", model.train_nrmse);
        let fleet = Fleet::of(&model).unwrap();
        let states = [0.0, 0.4].map(|by| Received::of("device", fleet.accumulate(&raised(by)).unwrap()));
        let limits = MergeLimits { rows: f64::INFINITY, influence: f64::INFINITY };
        let examined = fleet.examine(&states, limits, Ridge::Value(1e-6), &NoObserver).unwrap();
        assert_eq!((examined[0].outlier, examined[1].outlier), (None, Some(Outlier::Error)));
    }
}
