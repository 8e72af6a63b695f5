//! The network's layers.

mod aligned;
mod attention;
mod block;
mod initial;
mod linear;
mod noise;
mod params;
mod trainable;

pub use aligned::AlignedTransformer;
pub(crate) use aligned::{Memory, SourceBatch};
pub(crate) use attention::attend;
pub(crate) use block::KeyValue;
pub(crate) use initial::draw_weights;
pub use linear::Precision;
pub(crate) use linear::{linear, product, project};
pub(crate) use noise::Noise;
pub(crate) use params::{collect_parameters, load_parameters, parameter_shapes};
pub use trainable::Network;
