//! One pre-norm layer of the encoder or the decoder.

use burn::module::Module;
use burn::nn::{Linear, RmsNorm, RmsNormConfig};
use burn::tensor::{Tensor, activation::relu, backend::Backend};

use super::attention::{attend, split_heads};
use super::linear::{Precision, linear, project};
use super::noise::{Noise, drop_out};
use crate::ModelConfig;

/// Self-attention, optionally cross-attention, and a feed-forward layer, each with a norm before it and a
/// residual around it. All activations are `[rows * length, d_model]`: burn 0.21 computes the weight gradient
/// of a product at rank 3 once a row and adds the copies up, which costs an order of magnitude.
#[derive(Module, Debug)]
pub(crate) struct Block<B: Backend> {
    pub(crate) self_norm: RmsNorm<B>,
    pub(crate) self_qkv: Linear<B>,
    pub(crate) self_out: Linear<B>,
    pub(crate) cross: Option<CrossAttention<B>>,
    pub(crate) ff_norm: RmsNorm<B>,
    pub(crate) ff_in: Linear<B>,
    pub(crate) ff_out: Linear<B>,
    pub(crate) heads: usize,
    pub(crate) precision: Precision,
}

/// Attention of the answer to the given line.
#[derive(Module, Debug)]
pub(crate) struct CrossAttention<B: Backend> {
    pub(crate) norm: RmsNorm<B>,
    pub(crate) query: Linear<B>,
    pub(crate) key_value: Linear<B>,
    pub(crate) out: Linear<B>,
}

/// Keys and values of one attention, each `[rows, heads, length, width]`.
#[derive(Debug, Clone)]
pub(crate) struct KeyValue<B: Backend> {
    pub(crate) key: Tensor<B, 4>,
    pub(crate) value: Tensor<B, 4>,
}

impl<B: Backend> Block<B> {
    pub(crate) fn new(config: &ModelConfig, cross: bool, device: &B::Device) -> Self {
        let (d, ff) = (config.d_model, config.d_ff);
        let norm = || RmsNormConfig::new(d).init(device);
        Self {
            self_norm: norm(),
            self_qkv: linear(d, 3 * d, device),
            self_out: linear(d, d, device),
            cross: cross.then(|| CrossAttention {
                norm: norm(),
                query: linear(d, d, device),
                key_value: linear(d, 2 * d, device),
                out: linear(d, d, device),
            }),
            ff_norm: norm(),
            ff_in: linear(d, ff, device),
            ff_out: linear(ff, d, device),
            heads: config.heads,
            precision: Precision::F32,
        }
    }

    pub(crate) fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
    }

    /// Queries, keys and values of self-attention.
    ///
    /// # Shapes
    /// - `x`: `[rows * length, d_model]`
    /// - output: three times `[rows, heads, length, width]`
    pub(crate) fn project_self(&self, x: Tensor<B, 2>, rows: usize) -> (Tensor<B, 4>, KeyValue<B>) {
        let d = x.dims()[1];
        let qkv = project(&self.self_qkv, self.self_norm.forward(x), self.precision);
        let part = |i: usize| split_heads(qkv.clone().narrow(1, i * d, d), rows, self.heads);
        (part(0), KeyValue { key: part(1), value: part(2) })
    }

    /// Attends to the given line, if this is a decoder layer.
    pub(crate) fn attend_memory(
        &self,
        x: Tensor<B, 2>,
        memory: &KeyValue<B>,
        rows: usize,
        noise: Option<&Noise>,
    ) -> Tensor<B, 2> {
        let Some(cross) = &self.cross else { return x };
        let query = project(&cross.query, cross.norm.forward(x.clone()), self.precision);
        let query = split_heads(query, rows, self.heads);
        let attended = attend(query, memory.key.clone(), memory.value.clone(), None);
        x + drop_out(project(&cross.out, attended, self.precision), noise)
    }

    /// The feed-forward layer.
    pub(crate) fn feed_forward(&self, x: Tensor<B, 2>, noise: Option<&Noise>) -> Tensor<B, 2> {
        let hidden = relu(project(&self.ff_in, self.ff_norm.forward(x.clone()), self.precision));
        x + drop_out(project(&self.ff_out, hidden, self.precision), noise)
    }

    /// The whole layer over whole lines.
    ///
    /// # Shapes
    /// - `x`, output: `[rows * length, d_model]`
    /// - `bias`: `[1, 1, length, length]`
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 2>,
        rows: usize,
        bias: Option<Tensor<B, 4>>,
        memory: Option<&KeyValue<B>>,
        noise: Option<&Noise>,
    ) -> Tensor<B, 2> {
        let (query, own) = self.project_self(x.clone(), rows);
        let attended = attend(query, own.key, own.value, bias);
        let x = x + drop_out(project(&self.self_out, attended, self.precision), noise);
        let x = match memory {
            Some(memory) => self.attend_memory(x, memory, rows, noise),
            None => x,
        };
        self.feed_forward(x, noise)
    }
}

impl<B: Backend> CrossAttention<B> {
    /// Keys and values of the given line, computed once a line.
    ///
    /// # Shapes
    /// - `memory`: `[rows * length, d_model]`
    pub(crate) fn project_memory(
        &self,
        memory: Tensor<B, 2>,
        rows: usize,
        heads: usize,
        precision: Precision,
    ) -> KeyValue<B> {
        let d = memory.dims()[1];
        let both = project(&self.key_value, memory, precision);
        let part = |i: usize| split_heads(both.clone().narrow(1, i * d, d), rows, heads);
        KeyValue { key: part(0), value: part(1) }
    }
}
