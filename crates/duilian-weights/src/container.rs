//! Named tensors in one file: the safetensors format with a checked header of our own in its metadata.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::{WeightsError, write_atomically};

/// Key of the header in the metadata of the safetensors file.
const HEADER_KEY: &str = "duilian";
/// Newest version of the format that this code reads and writes.
const VERSION: u32 = 1;

/// A tensor as it lies in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTensor {
    /// Element type.
    pub dtype: Dtype,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Values, little-endian, the last axis being the fastest.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Header<T> {
    kind: String,
    version: u32,
    /// CRC-32 of the names, types, shapes and bytes of all tensors, in the order of their names.
    checksum: u32,
    content: T,
}

/// A set of named tensors with a typed description: what weights files and checkpoints are made of.
///
/// ```
/// use std::collections::BTreeMap;
/// use duilian_weights::Container;
///
/// let container = Container { content: vec![3, 1, 4], tensors: BTreeMap::new() };
/// let bytes = container.to_bytes("list of digits")?;
/// assert_eq!(Container::<Vec<u8>>::from_bytes(&bytes, "list of digits", "memory")?.content, [3, 1, 4]);
/// assert!(Container::<Vec<u8>>::from_bytes(&bytes, "list of words", "memory").is_err());
/// # Ok::<(), duilian_weights::WeightsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Container<T> {
    /// The description.
    pub content: T,
    /// The tensors by name.
    pub tensors: BTreeMap<String, RawTensor>,
}

impl<T: Serialize + for<'de> Deserialize<'de>> Container<T> {
    /// The file's bytes; equal contents give equal bytes. `kind` says what the file is.
    ///
    /// # Errors
    /// [`WeightsError::Damaged`] if content or shapes cannot be written.
    pub fn to_bytes(&self, kind: &'static str) -> Result<Vec<u8>, WeightsError> {
        let broken =
            |reason: String| WeightsError::Damaged { kind, origin: "data to be written".to_owned(), reason };
        let header = Header {
            kind: kind.to_owned(),
            version: VERSION,
            checksum: self.checksum(),
            content: &self.content,
        };
        let header = serde_json::to_string(&header).map_err(|e| broken(e.to_string()))?;
        let views = self
            .tensors
            .iter()
            .map(|(name, t)| Ok((name.as_str(), TensorView::new(t.dtype, t.shape.clone(), &t.bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(|e| broken(e.to_string()))?;
        // One key only: the order of a map with more would change from run to run.
        safetensors::serialize(views, Some(HashMap::from([(HEADER_KEY.to_owned(), header)])))
            .map_err(|e| broken(e.to_string()))
    }

    /// Reads bytes that [`Container::to_bytes`] made.
    ///
    /// # Errors
    /// [`WeightsError::Damaged`] if the bytes are cut off, damaged, foreign, of another kind or a newer version.
    pub fn from_bytes(bytes: &[u8], kind: &'static str, origin: &str) -> Result<Self, WeightsError> {
        let broken = |reason: String| WeightsError::Damaged { kind, origin: origin.to_owned(), reason };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| broken(e.to_string()))?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get(HEADER_KEY))
            .ok_or_else(|| broken(format!("its metadata has no {HEADER_KEY:?}")))?;
        // Kind and version are read first: a newer version may describe its content otherwise.
        let outline: Header<serde_json::Value> =
            serde_json::from_str(header).map_err(|e| broken(format!("its header: {e}")))?;
        if outline.kind != kind {
            return Err(broken(format!("it holds {:?}", outline.kind)));
        }
        if outline.version > VERSION {
            return Err(broken(format!("it has version {}, newest known is {VERSION}", outline.version)));
        }
        let content =
            serde_json::from_value(outline.content).map_err(|e| broken(format!("its header: {e}")))?;
        let file = SafeTensors::deserialize(bytes).map_err(|e| broken(e.to_string()))?;
        let tensors = file
            .iter()
            .map(|(name, view)| {
                let tensor = RawTensor {
                    dtype: view.dtype(),
                    shape: view.shape().to_vec(),
                    bytes: view.data().to_vec(),
                };
                (name.to_owned(), tensor)
            })
            .collect();
        let container = Self { content, tensors };
        if container.checksum() != outline.checksum {
            return Err(broken("its checksum differs".to_owned()));
        }
        Ok(container)
    }

    /// Writes the file beside its place and renames it.
    ///
    /// # Errors
    /// [`WeightsError::Io`], or as [`Container::to_bytes`].
    pub fn save(&self, kind: &'static str, path: &Path) -> Result<(), WeightsError> {
        write_atomically(path, &self.to_bytes(kind)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`WeightsError::Io`], or as [`Container::from_bytes`].
    pub fn load(kind: &'static str, path: &Path) -> Result<Self, WeightsError> {
        let bytes = std::fs::read(path).map_err(WeightsError::io("read", path))?;
        Self::from_bytes(&bytes, kind, &path.display().to_string())
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for (name, tensor) in &self.tensors {
            hasher.update(name.as_bytes());
            hasher.update(format!("{:?}{:?}", tensor.dtype, tensor.shape).as_bytes());
            hasher.update(&tensor.bytes);
        }
        hasher.finalize()
    }
}

/// Single-precision values from their little-endian bytes.
///
/// ```
/// assert_eq!(duilian_weights::f32_values(&1.5_f32.to_le_bytes()), [1.5]);
/// ```
pub fn f32_values(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}
