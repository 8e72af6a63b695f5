//! Matrices in the order in which kernels read them.

use super::{PANEL, STRIDE};

/// A matrix in single precision: panel by panel, input by input, [`PANEL`] columns each.
#[derive(Debug, Clone)]
pub(crate) struct PackedF32 {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) panels: Vec<f32>,
}

impl PackedF32 {
    /// Packs a matrix whose value at an input and an output is `value(input, output)`.
    pub(crate) fn new(inputs: usize, outputs: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let mut panels = vec![0.0; outputs.div_ceil(PANEL) * inputs * PANEL];
        for (panel, lines) in panels.chunks_exact_mut((inputs * PANEL).max(1)).enumerate() {
            let columns = PANEL.min(outputs - panel * PANEL);
            for (input, line) in lines.as_chunks_mut::<PANEL>().0.iter_mut().enumerate() {
                for (i, slot) in line[..columns].iter_mut().enumerate() {
                    *slot = value(input, panel * PANEL + i);
                }
            }
        }
        Self { inputs, outputs, panels }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.panels.len() * size_of::<f32>()
    }
}

/// A matrix of signed bytes with one scale a column: panel by panel, four inputs by four inputs, [`PANEL`] columns
/// each, the four inputs of a column side by side.
#[derive(Debug, Clone)]
pub(crate) struct PackedInt8 {
    pub(super) outputs: usize,
    /// Number of groups of four inputs.
    pub(super) steps: usize,
    pub(super) panels: Vec<i8>,
    /// Scale of each column, filled up to whole panels.
    pub(super) scales: Vec<f32>,
    /// Scale times sum of each column: what a row's smallest value is multiplied with.
    pub(super) offsets: Vec<f32>,
}

impl PackedInt8 {
    /// Packs columns; `column` writes the bytes of one to the slice and returns its scale.
    pub(crate) fn new(
        inputs: usize,
        outputs: usize,
        mut column: impl FnMut(usize, &mut [i8]) -> f32,
    ) -> Self {
        let steps = inputs.div_ceil(4);
        let padded = outputs.next_multiple_of(PANEL);
        let mut packed = Self {
            outputs,
            steps,
            panels: vec![0; padded * steps * 4],
            scales: vec![0.0; padded],
            offsets: vec![0.0; padded],
        };
        let mut bytes = vec![0_i8; steps * 4];
        for (panel, groups) in packed.panels.chunks_exact_mut((steps * PANEL * 4).max(1)).enumerate() {
            for i in 0..PANEL.min(outputs - panel * PANEL) {
                let output = panel * PANEL + i;
                let scale = column(output, &mut bytes[..inputs]);
                let groups = groups.as_chunks_mut::<4>().0.chunks_exact_mut(PANEL);
                for (four, group) in bytes.as_chunks::<4>().0.iter().zip(groups) {
                    group[i] = *four;
                }
                let sum: i32 = bytes.iter().map(|&b| i32::from(b)).sum();
                packed.scales[output] = scale;
                packed.offsets[output] = scale * sum as f32;
            }
        }
        packed
    }

    pub(crate) fn bytes(&self) -> usize {
        self.panels.len() + (self.scales.len() + self.offsets.len()) * size_of::<f32>()
    }
}

/// A table of signed bytes row by row, for looking rows up and for products with some rows only.
#[derive(Debug, Clone)]
pub(crate) struct Table8 {
    pub(super) width: usize,
    /// Bytes from one row to the next.
    pub(super) stride: usize,
    pub(super) rows: Vec<i8>,
    pub(super) scales: Vec<f32>,
    pub(super) offsets: Vec<f32>,
}

impl Table8 {
    /// Copies a table of rows of `width` bytes, one scale a row.
    pub(crate) fn new(width: usize, bytes: &[i8], scales: &[f32]) -> Self {
        let stride = width.next_multiple_of(STRIDE);
        let mut rows = vec![0; scales.len() * stride];
        for (row, line) in rows.chunks_exact_mut(stride).zip(bytes.chunks_exact(width)) {
            row[..width].copy_from_slice(line);
        }
        let sum = |line: &[i8]| line.iter().map(|&b| i32::from(b)).sum::<i32>() as f32;
        let offsets = bytes.chunks_exact(width).zip(scales).map(|(line, scale)| scale * sum(line)).collect();
        Self { width, stride, rows, scales: scales.to_vec(), offsets }
    }

    /// Writes a row times `factor`.
    pub(crate) fn look_up(&self, row: usize, factor: f32, out: &mut [f32]) {
        let scale = self.scales[row] * factor;
        let bytes = &self.rows[row * self.stride..][..self.width];
        for (slot, &byte) in out.iter_mut().zip(bytes) {
            *slot = f32::from(byte) * scale;
        }
    }

    /// The bytes of a row and their scale.
    pub(crate) fn row(&self, row: usize) -> (&[i8], f32) {
        (&self.rows[row * self.stride..][..self.width], self.scales[row])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.len() + (self.scales.len() + self.offsets.len()) * size_of::<f32>()
    }
}

/// Rows as unsigned numbers of one or two bytes: value `≈ least + step · code`, with least and step of each row's own.
/// The two bytes of a number stand in two rows of bytes, the high ones first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codes {
    /// Bytes from one row to the next, a multiple of [`STRIDE`]; the rest of a row is zero.
    pub(super) stride: usize,
    pub(super) numbers: Vec<u8>,
    /// Bytes of a number.
    pub(super) bytes: usize,
    /// Step and least value of each row.
    pub(super) ranges: Vec<(f32, f32)>,
}

impl Codes {
    /// Makes room for rows of this width.
    pub(super) fn resize(&mut self, rows: usize, width: usize, bytes: usize) {
        let stride = width.next_multiple_of(STRIDE);
        if self.stride != stride {
            self.stride = stride;
            self.numbers.clear();
        }
        self.bytes = bytes;
        self.numbers.resize(rows * bytes * stride, 0);
        self.ranges.resize(rows, (0.0, 0.0));
    }
}
