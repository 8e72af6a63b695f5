//! Label-smoothed cross entropy with its gradient written down.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Int, Tensor, TensorData};
use rayon::prelude::*;

use super::batch::Target;
use crate::network::{Precision, product};

/// Value of a loss, the tensor to call `backward` on, and the gradient that is known already.
#[derive(Debug)]
pub(crate) struct LossOutput<B: AutodiffBackend> {
    /// A scalar whose gradient with respect to the hidden vectors is the loss's; its own value means nothing.
    pub(crate) surrogate: Tensor<B, 1>,
    /// Gradient with respect to the output table, `[vocabulary, d_model]`.
    pub(crate) table_gradient: Tensor<B::InnerBackend, 2>,
    /// Sum over the targets of `-ln p(target)`, smoothing left out, in nats.
    pub(crate) negative_log_likelihood: f32,
}

/// Cross entropy between smoothed one-hot targets and `softmax(hidden · tableᵀ)`, summed over targets and
/// multiplied by `scale`.
///
/// The `[targets, vocabulary]` matrices of scores and of their gradient live outside the autodiff graph: the
/// gradient `(softmax - smoothed target) · scale` is known in closed form, and only its product with the table
/// is handed to the graph, as the gradient of the hidden vectors.
///
/// # Shapes
/// - `hidden`: `[targets, d_model]`
/// - `table`: `[vocabulary, d_model]`
pub(crate) fn smoothed_cross_entropy<B: AutodiffBackend>(
    hidden: Tensor<B, 2>,
    table: Tensor<B::InnerBackend, 2>,
    targets: &[Target],
    wanted: &Tensor<B::InnerBackend, 1, Int>,
    options: LossOptions,
) -> LossOutput<B> {
    let LossOptions { smoothing, scale, on_host, precision } = options;
    let plain_hidden = hidden.clone().inner();
    let logits = product(plain_hidden.clone(), table.clone().transpose(), precision);
    let (gradient, negative_log_likelihood) = if on_host {
        gradient_on_host(logits, targets, smoothing, scale)
    } else {
        gradient_on_device(logits, wanted, smoothing, scale)
    };
    let hidden_gradient = product(gradient.clone(), table, precision);
    let table_gradient = product(gradient.transpose(), plain_hidden, precision);
    let surrogate = (hidden * Tensor::from_inner(hidden_gradient)).sum();
    LossOutput { surrogate, table_gradient, negative_log_likelihood }
}

/// How the loss is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LossOptions {
    /// Share of the target's probability that is spread over the vocabulary.
    pub(crate) smoothing: f32,
    /// Factor of the gradient.
    pub(crate) scale: f32,
    /// Whether tensors lie in host memory.
    pub(crate) on_host: bool,
    pub(crate) precision: Precision,
}

/// One pass over the scores in the memory of a processor's backend, rows in parallel.
fn gradient_on_host<B: Backend>(
    logits: Tensor<B, 2>,
    targets: &[Target],
    smoothing: f32,
    scale: f32,
) -> (Tensor<B, 2>, f32) {
    let device = logits.device();
    let [rows, vocabulary] = logits.dims();
    let mut scores = logits.into_data().into_vec::<f32>().expect("the backend computes in f32");
    let uniform = smoothing / vocabulary as f32;
    let losses: Vec<f32> = scores
        .par_chunks_mut(vocabulary)
        .zip(targets.par_iter())
        .map(|(row, target)| {
            let target = usize::from(target.token);
            let largest = row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            let shifted = row[target] - largest;
            let mut total = 0.0_f32;
            for score in row.iter_mut() {
                *score = fast_exp(*score - largest);
                total += *score;
            }
            let factor = scale / total;
            for score in row.iter_mut() {
                *score = *score * factor - uniform * scale;
            }
            row[target] -= (1.0 - smoothing) * scale;
            total.ln() - shifted
        })
        .collect();
    // Summed in order: the value is the same for any number of threads.
    let total = losses.iter().map(|&l| f64::from(l)).sum::<f64>() as f32;
    (Tensor::from_data(TensorData::new(scores, [rows, vocabulary]), &device), total)
}

/// `exp(x)` for `x <= 0` to about 2e-7 relative error, in a form that compilers turn into vector instructions:
/// `2^n · p(r)` with `n = round(x / ln 2)` and the Taylor polynomial of degree 6 on `|r| <= ln 2 / 2`.
fn fast_exp(x: f32) -> f32 {
    let x = x.max(-87.0);
    // Adding and taking away 1.5 · 2^23 rounds to the nearest whole number without a call.
    let n = (x * std::f32::consts::LOG2_E + 12_582_912.0) - 12_582_912.0;
    // ln 2 in two parts (Cody & Waite 1980), so that the reduction loses no digits.
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let p = 1.0
        + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0))))));
    p * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

/// The same with tensor operations, for devices whose memory the host should not wait for.
fn gradient_on_device<B: Backend>(
    logits: Tensor<B, 2>,
    wanted: &Tensor<B, 1, Int>,
    smoothing: f32,
    scale: f32,
) -> (Tensor<B, 2>, f32) {
    let device = logits.device();
    let [rows, vocabulary] = logits.dims();
    let ids = wanted.clone().reshape([rows, 1]);
    let log_probs = burn::tensor::activation::log_softmax(logits, 1);
    let picked = log_probs.clone().gather(1, ids.clone());
    let loss = picked.sum().neg().into_scalar();
    let ones = Tensor::<B, 2>::ones([rows, 1], &device) * (-(1.0 - smoothing) * scale);
    let gradient = (log_probs.exp() - f64::from(smoothing / vocabulary as f32)) * scale;
    let gradient = gradient.scatter(1, ids, ones, burn::tensor::IndexingUpdateOp::Add);
    (gradient, burn::tensor::ElementConversion::elem::<f32>(loss))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use burn::backend::Autodiff;
    use burn::tensor::Distribution;
    use burn::tensor::activation::log_softmax;

    type B = Autodiff<burn_flex::Flex>;

    #[test]
    fn exponential_is_accurate() {
        for i in 0..=87_000 {
            let x = -(i as f32) / 1_000.0;
            let exact = f64::from(x).exp();
            assert!(((f64::from(fast_exp(x)) - exact) / exact).abs() < 4e-7, "exp({x})");
        }
        assert!(fast_exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn gradients_equal_autodiff_on_both_paths() {
        let device = burn::tensor::Device::<B>::default();
        B::seed(&device, 7);
        let targets = [3_u16, 0, 10, 3];
        let (smoothing, scale) = (0.1_f32, 0.25_f32);
        let hidden = Tensor::<B, 2>::random([4, 8], Distribution::Normal(0.0, 1.0), &device).require_grad();
        let table = Tensor::<B, 2>::random([11, 8], Distribution::Normal(0.0, 1.0), &device).require_grad();

        let log_probs = log_softmax(hidden.clone().matmul(table.clone().transpose()), 1);
        let ids = Tensor::<B, 1, Int>::from_ints(targets.map(i32::from), &device).reshape([4, 1]);
        let nll = log_probs.clone().gather(1, ids).neg();
        let expected_nll: f32 = nll.clone().sum().into_scalar();
        let smooth = log_probs.mean_dim(1).neg();
        let loss = (nll * (1.0 - smoothing) + smooth * smoothing).sum() * scale;
        let reference = loss.backward();

        let wanted = Tensor::from_ints(targets.map(i32::from), &device);
        let targets = targets.map(|token| Target { place: 0, token });
        for on_host in [true, false] {
            let plain_table = table.clone().inner();
            let options = LossOptions { smoothing, scale, on_host, precision: Precision::F32 };
            let output = smoothed_cross_entropy(hidden.clone(), plain_table, &targets, &wanted, options);
            assert!((output.negative_log_likelihood - expected_nll).abs() < 1e-4);
            let gradients = output.surrogate.backward();
            let found = [hidden.grad(&gradients).expect("used"), output.table_gradient];
            for (tensor, found) in [&hidden, &table].into_iter().zip(found) {
                let difference = (tensor.grad(&reference).expect("used") - found).abs().max().into_scalar();
                assert!(difference < 1e-6, "on_host {on_host}: {difference}");
            }
        }
    }
}
