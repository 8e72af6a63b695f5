//! Parameters of a module by their path, such as `encoder.0.self_qkv.weight`.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use crate::ModelError;

/// Copies all parameters to the host, by path.
pub(crate) fn collect_parameters<B: Backend, M: Module<B>>(module: &M) -> BTreeMap<String, TensorData> {
    struct Collector(BTreeMap<String, TensorData>, Vec<String>);
    impl<B: Backend> ModuleVisitor<B> for Collector {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.1.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.1.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.insert(self.1.join("."), param.val().into_data());
        }
    }
    let mut collector = Collector(BTreeMap::new(), Vec::new());
    module.visit(&mut collector);
    collector.0
}

/// Paths, shapes and ids of all parameters in visiting order, without initialising any.
pub(crate) fn parameter_shapes<B: Backend, M: Module<B>>(module: &M) -> Vec<(String, Vec<usize>, ParamId)> {
    struct Shapes(Vec<(String, Vec<usize>, ParamId)>, Vec<String>);
    impl<B: Backend> ModuleVisitor<B> for Shapes {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.1.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.1.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.push((self.1.join("."), param.lazy_shape().dims::<D>().to_vec(), param.id));
        }
    }
    let mut shapes = Shapes(Vec::new(), Vec::new());
    module.visit(&mut shapes);
    shapes.0
}

/// Replaces every parameter by the value of its path; shapes must be equal and every value must be used.
///
/// # Errors
/// [`ModelError::Tensor`] naming the first tensor that is missing, left over, or of another shape.
pub(crate) fn load_parameters<B: Backend, M: Module<B>>(
    module: M,
    mut values: BTreeMap<String, TensorData>,
    origin: &str,
) -> Result<M, ModelError> {
    let fail = |name: &str, reason: String| {
        Err(ModelError::Tensor { origin: origin.to_owned(), name: name.to_owned(), reason })
    };
    let shapes = parameter_shapes::<B, M>(&module);
    for (path, shape, _) in &shapes {
        match values.get(path) {
            None => return fail(path, "is missing".to_owned()),
            Some(data) if *data.shape != **shape => {
                return fail(path, format!("has shape {:?}, the model wants {shape:?}", &*data.shape));
            }
            Some(_) => {}
        }
    }
    if let Some(extra) = values.keys().find(|k| !shapes.iter().any(|(path, ..)| path == *k)) {
        return fail(extra, "is not a part of the model".to_owned());
    }
    Ok(module.map(&mut Loader(&mut values, Vec::new())))
}

/// Parameters that are still to be placed, and the path of the module that is visited.
struct Loader<'a>(&'a mut BTreeMap<String, TensorData>, Vec<String>);
impl<B: Backend> ModuleMapper<B> for Loader<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.1.push(name.to_owned());
    }
    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.1.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        match self.0.remove(&self.1.join(".")) {
            Some(data) => {
                // The lazy initialiser never runs: the old value is not asked for.
                let device = param.lazy_device();
                Param::initialized(param.id, Tensor::from_data(data, &device).require_grad())
            }
            None => param,
        }
    }
}
