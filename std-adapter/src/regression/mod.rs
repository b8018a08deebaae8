//! TODO-DOC

pub(crate) mod blocked_qr;
pub(crate) mod checkpoint;
pub(crate) mod distributed;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod folds;
pub(crate) mod grid_search;
pub(crate) mod leave_one_out;
pub(crate) mod observer;
pub(crate) mod ridge;
pub(crate) mod sigma_search;
pub(crate) mod train;

pub use checkpoint::Checkpoint;
pub use distributed::{FitSpec, Learned, draw};
pub use fit::{Regression, RegressionInput, Targets, fit};
pub use fleet::{DeviceState, Fleet, Merged};
pub use folds::FOLDS;
pub use grid_search::{Regressor, Surface, tune};
pub use ridge::{Ridge, ridge_grid};
pub use sigma_search::{ChosenBandwidth, SIGMA_GRID, choose_bandwidth};
pub use train::{Setting, Training, train, train_at};
