//! Search over a [`StepModel`] under the hard rules of couplets.

mod step_model;

pub use step_model::{Source, StepModel};
