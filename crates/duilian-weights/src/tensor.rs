//! Tensors in the precision in which they are stored.

use std::borrow::Cow;

use half::f16;

use crate::WeightsError;

/// Values of a [`StoredTensor`], the last axis being the fastest.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorValues {
    /// Single precision.
    F32(Vec<f32>),
    /// Half precision.
    F16(Vec<f16>),
    /// A matrix of signed bytes, -127 to 127, with one scale a channel: the value is `byte · scale`.
    Int8 {
        /// One byte a value.
        bytes: Vec<i8>,
        /// One scale for each index of `axis`.
        scales: Vec<f32>,
        /// The axis along which scales vary: 1 for linear layers, which hold `[input, output]`, and 0 for tables,
        /// which hold `[row, width]`.
        axis: usize,
    },
}

/// A tensor on the host: its shape and its values as they are stored.
///
/// ```
/// use duilian_weights::StoredTensor;
///
/// let matrix = StoredTensor::from_f32(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// let small = matrix.to_int8(0);
/// assert_eq!(small.to_f32()[3], 4.0, "the largest of a channel is exact");
/// assert!(StoredTensor::from_f32(vec![2, 2], vec![1.0]).is_err());
/// # Ok::<(), duilian_weights::WeightsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTensor {
    shape: Vec<usize>,
    values: TensorValues,
}

impl StoredTensor {
    /// A tensor in single precision.
    ///
    /// # Errors
    /// [`WeightsError::Shape`] if the number of values is not the product of the shape.
    pub fn from_f32(shape: Vec<usize>, values: Vec<f32>) -> Result<Self, WeightsError> {
        Self::new(shape, TensorValues::F32(values))
    }

    /// A tensor of any precision.
    ///
    /// # Errors
    /// [`WeightsError::Shape`] if values or scales do not fit the shape; 8-bit values need a shape of two axes.
    pub fn new(shape: Vec<usize>, values: TensorValues) -> Result<Self, WeightsError> {
        let count = match &values {
            TensorValues::F32(values) => values.len(),
            TensorValues::F16(values) => values.len(),
            TensorValues::Int8 { bytes, scales, axis } => {
                if shape.len() != 2 || shape.get(*axis) != Some(&scales.len()) {
                    return Err(WeightsError::Shape { shape, values: scales.len() });
                }
                bytes.len()
            }
        };
        if shape.iter().product::<usize>() != count {
            return Err(WeightsError::Shape { shape, values: count });
        }
        Ok(Self { shape, values })
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values as they are stored.
    pub fn values(&self) -> &TensorValues {
        &self.values
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in single precision, without a copy where they are stored so.
    pub fn to_f32(&self) -> Cow<'_, [f32]> {
        match &self.values {
            TensorValues::F32(values) => Cow::Borrowed(values),
            TensorValues::F16(values) => values.iter().map(|v| v.to_f32()).collect(),
            TensorValues::Int8 { bytes, scales, axis } => {
                dequantise(bytes, self.shape[1], scales, *axis).into()
            }
        }
    }

    /// The values in single precision.
    pub fn into_f32(self) -> Vec<f32> {
        match self.values {
            TensorValues::F32(values) => values,
            _ => self.to_f32().into_owned(),
        }
    }

    /// The same matrix with 8-bit values and one scale for each index of `axis`: symmetric, the largest value of a
    /// channel becoming ±127. What is stored so already, and what is no matrix, stays as it is.
    #[must_use]
    pub fn to_int8(&self, axis: usize) -> Self {
        let stored = matches!(&self.values, TensorValues::Int8 { axis: own, .. } if *own == axis);
        if stored || self.shape.len() != 2 {
            return self.clone();
        }
        let axis = axis.min(1);
        let (bytes, scales) = quantise(&self.to_f32(), self.shape[1], axis);
        Self { shape: self.shape.clone(), values: TensorValues::Int8 { bytes, scales, axis } }
    }

    /// Whether all values are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match &self.values {
            TensorValues::F32(values) => values.iter().all(|v| v.is_finite()),
            TensorValues::F16(values) => values.iter().all(|v| v.is_finite()),
            // A byte times a scale overflows only where the scale is next to overflowing.
            TensorValues::Int8 { scales, .. } => scales.iter().all(|s| (s * 128.0).is_finite()),
        }
    }
}

/// Symmetric 8-bit quantisation with one scale a channel: `value ≈ byte · scale`, bytes in -127..=127.
fn quantise(values: &[f32], columns: usize, axis: usize) -> (Vec<i8>, Vec<f32>) {
    let channel = |i: usize| if axis == 1 { i % columns } else { i / columns };
    let channels = if axis == 1 { columns } else { values.len() / columns.max(1) };
    let mut largest = vec![0.0_f32; channels];
    for (i, v) in values.iter().enumerate() {
        largest[channel(i)] = largest[channel(i)].max(v.abs());
    }
    let scales: Vec<f32> = largest.iter().map(|&l| if l > 0.0 { l / 127.0 } else { 1.0 }).collect();
    let byte = |(i, v): (usize, &f32)| (v / scales[channel(i)]).round().clamp(-127.0, 127.0) as i8;
    let bytes = values.iter().enumerate().map(byte).collect();
    (bytes, scales)
}

fn dequantise(bytes: &[i8], columns: usize, scales: &[f32], axis: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(bytes.len());
    for (row, line) in bytes.chunks(columns.max(1)).enumerate() {
        if axis == 1 {
            values.extend(line.iter().zip(scales).map(|(&b, s)| f32::from(b) * s));
        } else {
            values.extend(line.iter().map(|&b| f32::from(b) * scales[row]));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantisation_errs_by_half_a_step(
            columns in 1_usize..5,
            axis in 0_usize..2,
            mut values in prop::collection::vec(-1e3_f32..1e3, 5..60),
        ) {
            values.truncate(values.len() / columns * columns);
            let shape = vec![values.len() / columns, columns];
            let exact = StoredTensor::from_f32(shape, values).expect("fits");
            let small = exact.to_int8(axis);
            let TensorValues::Int8 { scales, .. } = small.values() else { panic!("is quantised") };
            for (i, (a, b)) in exact.to_f32().iter().zip(small.to_f32().iter()).enumerate() {
                let scale = scales[if axis == 1 { i % columns } else { i / columns }];
                prop_assert!((a - b).abs() <= scale * 0.500_1, "{a} became {b}");
            }
            prop_assert_eq!(&small.to_int8(axis), &small, "once is enough");
        }
    }

    #[test]
    fn shapes_are_checked() {
        let int8 = |shape: &[usize], bytes: usize, scales: usize, axis: usize| {
            let values = TensorValues::Int8 { bytes: vec![1; bytes], scales: vec![1.0; scales], axis };
            StoredTensor::new(shape.to_vec(), values).is_ok()
        };
        assert!(int8(&[2, 3], 6, 3, 1));
        assert!(int8(&[2, 3], 6, 2, 0));
        assert!(!int8(&[2, 3], 6, 2, 1), "scales of the other axis");
        assert!(!int8(&[2, 3], 5, 3, 1), "a value is missing");
        assert!(!int8(&[6], 6, 6, 0), "a vector");
        assert!(!int8(&[2, 3], 6, 3, 2), "no such axis");
    }
}
