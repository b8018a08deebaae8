//! Export of a trained model to a device: as Rust, as C99, or as bytes.

pub(crate) mod bytes;
pub(crate) mod c;
pub(crate) mod c_quantised;
pub(crate) mod device;
pub(crate) mod exported;
pub(crate) mod name;
pub(crate) mod numbers;
pub(crate) mod quantised;
pub(crate) mod rust;
pub(crate) mod single;

pub use device::DeviceModel;
pub use exported::{Bits, Cost, Exported, Form, landmark_rows};
pub use name::Name;
pub use quantised::{Quantised, Stored};
pub use single::{Single, SingleKernel};
