//! Dropout as a function of seed, step and part.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor, TensorData};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where the dropped numbers of one pass come from.
///
/// burn's own dropout draws from one generator for the whole process, so two passes side by side would disturb each
/// other. Here each pass has a seed. On devices other than the processor burn's generator is used all the same: masks
/// of millions of numbers had better not travel.
#[derive(Debug, Clone)]
pub(crate) struct Noise {
    /// Probability that a number is dropped.
    probability: f64,
    seed: u64,
    on_host: bool,
    /// Masks drawn so far in this pass.
    drawn: Arc<AtomicU64>,
}

impl Noise {
    /// The noise of a pass; `None` if nothing is dropped.
    pub(crate) fn new(probability: f64, seed: u64, on_host: bool) -> Option<Self> {
        (probability > 0.0).then(|| Self { probability, seed, on_host, drawn: Arc::default() })
    }

    /// Drops numbers and scales up those that stay (Srivastava et al. 2014).
    fn apply<B: Backend>(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        let shape = x.dims();
        let scale = 1.0 / (1.0 - self.probability);
        let mask = if self.on_host {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            // One thread makes the pass; others only have to be able to see it.
            random.set_stream(self.drawn.fetch_add(1, Ordering::Relaxed));
            let mut bytes = vec![0; 2 * shape[0] * shape[1]];
            random.fill_bytes(&mut bytes);
            let limit = (self.probability * 65_536.0).round() as u16;
            let keep = |&b: &[u8; 2]| if u16::from_le_bytes(b) >= limit { scale as f32 } else { 0.0 };
            let values: Vec<f32> = bytes.as_chunks::<2>().0.iter().map(keep).collect();
            Tensor::from_data(TensorData::new(values, shape), &x.device())
        } else {
            Tensor::random(shape, Distribution::Bernoulli(1.0 - self.probability), &x.device()) * scale
        };
        x * mask
    }
}

/// Applies noise if there is any.
pub(crate) fn drop_out<B: Backend>(x: Tensor<B, 2>, noise: Option<&Noise>) -> Tensor<B, 2> {
    match noise {
        Some(noise) => noise.apply(x),
        None => x,
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::DefaultBackend as B;

    fn dropped(noise: &Noise) -> Vec<f32> {
        let ones = Tensor::<B, 2>::ones([100, 100], &crate::DefaultDevice::default());
        drop_out(ones, Some(noise)).into_data().into_vec().expect("f32")
    }

    #[test]
    fn noise_follows_from_its_seed_and_keeps_the_mean() {
        assert!(Noise::new(0.0, 1, true).is_none());
        for on_host in [true, false] {
            let noise = |seed| Noise::new(0.2, seed, on_host).expect("drops");
            let first = dropped(&noise(1));
            let zeros = first.iter().filter(|v| **v == 0.0).count();
            assert!((1_850..2_150).contains(&zeros), "{zeros}");
            assert!((first.iter().sum::<f32>() / 10_000.0 - 1.0).abs() < 0.03);
            assert!(first.iter().all(|v| *v == 0.0 || (*v - 1.25).abs() < 1e-6));
        }
        let noise = |seed| Noise::new(0.2, seed, true).expect("drops");
        let one = noise(1);
        let (first, second) = (dropped(&one), dropped(&one));
        assert_eq!(first, dropped(&noise(1)));
        assert_ne!(first, second, "each mask of a pass is another one");
        assert_ne!(first, dropped(&noise(2)));
    }
}
