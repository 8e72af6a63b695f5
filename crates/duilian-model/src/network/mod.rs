//! The network's layers.

mod aligned;
mod attention;
mod block;
mod initial;
mod params;

pub use aligned::AlignedTransformer;
pub(crate) use aligned::{Memory, SourceBatch};
pub(crate) use attention::attend;
pub(crate) use block::KeyValue;
pub(crate) use params::{collect_parameters, load_parameters, parameter_shapes};
