//! Options that several programs of dpp-nystrom take: `dpp-nystrom` and `dpp-nystrom-cluster`.

mod choice;
mod methods;

pub use choice::{Choice, kernels, one_of};
pub use methods::{MethodArguments, methods};
