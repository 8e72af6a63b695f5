//! Linear layers, in single or mixed precision.

use burn::module::Initializer;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{FloatDType, Tensor};
use serde::{Deserialize, Serialize};

/// In which numbers the products of linear layers are computed.
///
/// ```
/// assert_eq!(duilian_model::Precision::default(), duilian_model::Precision::F32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single precision throughout. The default.
    #[default]
    F32,
    /// Products in `bfloat16`; weights, their gradients, the optimizer and everything between the products stay in
    /// single precision (Micikevicius et al. 2018). For devices with matrix units.
    Bf16,
}

/// A linear layer without bias; its weights are drawn later, see `initial`.
pub(crate) fn linear<B: Backend>(input: usize, output: usize, device: &B::Device) -> Linear<B> {
    LinearConfig::new(input, output).with_bias(false).with_initializer(Initializer::Zeros).init(device)
}

/// A linear layer over `[places, width]`. burn has no automatic casts, so the operands are cast here and their
/// gradients come back in single precision.
pub(crate) fn project<B: Backend>(layer: &Linear<B>, x: Tensor<B, 2>, precision: Precision) -> Tensor<B, 2> {
    match precision {
        Precision::F32 => layer.forward(x),
        Precision::Bf16 => product(x, layer.weight.val(), precision),
    }
}

/// A product of two matrices.
pub(crate) fn product<B: Backend>(a: Tensor<B, 2>, b: Tensor<B, 2>, precision: Precision) -> Tensor<B, 2> {
    match precision {
        Precision::F32 => a.matmul(b),
        Precision::Bf16 => a.cast(FloatDType::BF16).matmul(b.cast(FloatDType::BF16)).cast(FloatDType::F32),
    }
}
