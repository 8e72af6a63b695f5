//! Files: tensors, weights, and writing without losing what was there.

mod container;
mod weights;

use std::path::Path;

pub(crate) use container::{Container, RawTensor};
pub(crate) use weights::f32_values;
pub use weights::{ModelWeights, NetworkWeights, WeightFormat};

use crate::ModelError;

/// Writes a file beside its place and renames it, so that a reader sees the old file or the new one, never a
/// part.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()
    };
    write().map_err(ModelError::io("write", &part))?;
    std::fs::rename(&part, path).map_err(ModelError::io("rename", &part))
}
