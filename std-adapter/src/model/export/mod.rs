//! A trained model for a device: Rust, C or bytes, in single precision or integers; and for servers: ONNX.

pub(crate) mod bundle;
pub(crate) mod bytes;
pub(crate) mod c;
pub(crate) mod c_quantised;
pub(crate) mod device;
pub(crate) mod exported;
pub(crate) mod form;
pub(crate) mod name;
pub(crate) mod numbers;
pub(crate) mod onnx;
pub(crate) mod onnx_format;
pub(crate) mod quantised;
pub(crate) mod rust;
pub(crate) mod single;

pub use crate::model::bits::Bits;
pub use bundle::{Bundle, With};
pub use device::DeviceModel;
pub(crate) use exported::unscaled;
pub use exported::{Cost, Exported, landmark_rows};
pub use form::Form;
pub use name::Name;
