//! Writing without losing what was there.

use std::path::Path;

use crate::WeightsError;

/// Writes a file beside its place, under the same name with `.part` behind it, and renames it, so that a reader
/// sees the old file or the new one, never a part.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers");
/// duilian_weights::write_atomically(&path, b"1 2 3")?;
/// assert_eq!(std::fs::read(&path)?, b"1 2 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`WeightsError::Io`] with the action that failed and its file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WeightsError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()
    };
    write().map_err(WeightsError::io("write", &part))?;
    std::fs::rename(&part, path).map_err(WeightsError::io("rename", &part))
}
