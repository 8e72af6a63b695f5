//! Long short-term memory.

use burn::module::{Initializer, Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Tensor, backend::Backend};

use crate::network::linear;

/// One layer (Hochreiter & Schmidhuber 1997; forget gates after Gers et al. 2000, open at the start).
///
/// burn's own `Lstm` computes the products with the input once a place and a row, and its weight gradients once a
/// row; here the products of all places are one matrix product.
#[derive(Module, Debug)]
pub(crate) struct Lstm<B: Backend> {
    pub(crate) input: Linear<B>,
    pub(crate) hidden: Linear<B>,
    pub(crate) bias: Param<Tensor<B, 1>>,
}

/// What a layer remembers, each `[rows, units]`.
#[derive(Debug, Clone)]
pub(crate) struct CellState<B: Backend> {
    pub(crate) hidden: Tensor<B, 2>,
    pub(crate) cell: Tensor<B, 2>,
}

impl<B: Backend> CellState<B> {
    pub(crate) fn zeros(rows: usize, units: usize, device: &B::Device) -> Self {
        let zeros = || Tensor::zeros([rows, units], device);
        Self { hidden: zeros(), cell: zeros() }
    }
}

impl<B: Backend> Lstm<B> {
    pub(crate) fn new(input: usize, units: usize, device: &B::Device) -> Self {
        Self {
            input: linear(input, 4 * units, device),
            hidden: linear(units, 4 * units, device),
            bias: Initializer::Zeros.init([4 * units], device),
        }
    }

    /// What the input adds to the gates: `[places, input]` to `[places, 4 * units]`.
    pub(crate) fn project(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.input.forward(x) + self.bias.val().unsqueeze()
    }

    /// One place on, from what [`Lstm::project`] gave for it, `[rows, 4 * units]`.
    pub(crate) fn step(&self, projected: Tensor<B, 2>, state: CellState<B>) -> CellState<B> {
        let gates = projected + self.hidden.forward(state.hidden);
        let units = gates.dims()[1] / 4;
        let part = |i: usize| gates.clone().narrow(1, i * units, units);
        let kept = state.cell * sigmoid(part(1) + 1.0);
        let cell = kept + sigmoid(part(0)) * part(2).tanh();
        CellState { hidden: sigmoid(part(3)) * cell.clone().tanh(), cell }
    }

    /// Reads whole lines, forwards or backwards.
    ///
    /// # Shapes
    /// - `x`: `[rows * length, input]`
    /// - output: `[rows * length, units]` in the order of the places, and the last state
    pub(crate) fn read(
        &self,
        x: Tensor<B, 2>,
        mut state: CellState<B>,
        backwards: bool,
    ) -> (Tensor<B, 2>, CellState<B>) {
        let [rows, units] = state.hidden.dims();
        let length = x.dims()[0] / rows;
        let projected = self.project(x).reshape([rows, length, 4 * units]);
        let mut outputs = Vec::with_capacity(length);
        for i in 0..length {
            let place = if backwards { length - 1 - i } else { i };
            let gates = projected.clone().narrow(1, place, 1).reshape([rows, 4 * units]);
            state = self.step(gates, state);
            outputs.push(state.hidden.clone());
        }
        if backwards {
            outputs.reverse();
        }
        (Tensor::stack::<3>(outputs, 1).reshape([rows * length, units]), state)
    }
}
