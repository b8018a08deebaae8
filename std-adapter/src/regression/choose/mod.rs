//! The choice of a scalar by folds or by leaving out each row, and the errors of rows held out.

pub(crate) mod choice;
pub(crate) mod conjugate_gradients;
pub(crate) mod cross_validation;
pub(crate) mod held_out;
pub(crate) mod leave_one_out;
pub(crate) mod scan;
pub(crate) mod second_pass;
