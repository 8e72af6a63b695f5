//! Attention over lines of equal length, on tensors folded to rank 2.

use burn::tensor::{Tensor, activation::softmax, backend::Backend};

/// Splits `[rows * length, heads * width]` into `[rows, heads, length, width]`.
pub(crate) fn split_heads<B: Backend>(x: Tensor<B, 2>, rows: usize, heads: usize) -> Tensor<B, 4> {
    let [tokens, d] = x.dims();
    x.reshape([rows, tokens / rows, heads, d / heads]).swap_dims(1, 2)
}

/// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).
///
/// # Shapes
/// - `q`: `[rows, heads, queries, width]`; `k`, `v`: `[rows, heads, keys, width]`
/// - `bias`: `[1, 1, queries, keys]`, added to the scores
/// - output: `[rows * queries, heads * width]`
pub(crate) fn attend<B: Backend>(
    q: Tensor<B, 4>,
    k: Tensor<B, 4>,
    v: Tensor<B, 4>,
    bias: Option<Tensor<B, 4>>,
) -> Tensor<B, 2> {
    let [rows, heads, queries, width] = q.dims();
    let mut scores = q.matmul(k.transpose()) * (1.0 / (width as f64).sqrt());
    if let Some(bias) = bias {
        scores = scores + bias;
    }
    softmax(scores, 3).matmul(v).swap_dims(1, 2).reshape([rows * queries, heads * width])
}

/// A bias that hides later places from earlier ones: 0 up to the diagonal and -1e4 above it.
///
/// # Shapes
/// - output: `[1, 1, length, length]`
pub(crate) fn causal_bias<B: Backend>(length: usize, device: &B::Device) -> Tensor<B, 4> {
    let values: Vec<f32> = (0..length)
        .flat_map(|query| (0..length).map(move |key| if key > query { -1e4 } else { 0.0 }))
        .collect();
    Tensor::<B, 1>::from_floats(values.as_slice(), device).reshape([1, 1, length, length])
}
