//! Layout of one shard file.
//!
//! Little endian: magic `DLSH`, version `u16`, length `u16`, pairs `u32`, CRC-32 of the records `u32`, then the
//! records: upper tokens `length × u16`, lower tokens `length × u16`. All pairs of a file come from one source.

use std::path::Path;

use crate::ModelError;

const MAGIC: &[u8; 4] = b"DLSH";
const VERSION: u16 = 2;
pub(super) const HEADER_BYTES: usize = 16;
const KIND: &str = "token shard";

/// Bytes of one record of lines with `length` characters.
pub(super) fn record_bytes(length: usize) -> usize {
    4 * length
}

/// The header of a file with records of this checksum.
pub(super) fn header(length: u16, pairs: u32, checksum: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(MAGIC);
    bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
    bytes[6..8].copy_from_slice(&length.to_le_bytes());
    bytes[8..12].copy_from_slice(&pairs.to_le_bytes());
    bytes[12..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Checks the header and the size of a file; returns its number of pairs and the checksum of its records.
pub(super) fn check_header(bytes: &[u8], length: u16, path: &Path) -> Result<(u32, u32), ModelError> {
    let broken =
        |reason: String| Err(ModelError::Damaged { kind: KIND, origin: path.display().to_string(), reason });
    let Some((header, records)) = bytes.split_at_checked(HEADER_BYTES) else {
        return broken(format!("it has only {} bytes", bytes.len()));
    };
    if &header[..4] != MAGIC {
        return broken("it does not start with DLSH".to_owned());
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != VERSION {
        return broken(format!("it has version {version}, known is {VERSION}"));
    }
    let found = u16::from_le_bytes([header[6], header[7]]);
    if found != length {
        return broken(format!("its lines have {found} characters, expected {length}"));
    }
    let pairs = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    let expected = u64::from(pairs) * record_bytes(usize::from(length)) as u64;
    if records.len() as u64 != expected {
        return broken(format!("{pairs} pairs need {expected} bytes, it has {}", records.len()));
    }
    Ok((pairs, u32::from_le_bytes([header[12], header[13], header[14], header[15]])))
}

/// A file that is damaged in this way.
pub(super) fn damaged(path: &Path, reason: String) -> ModelError {
    ModelError::Damaged { kind: KIND, origin: path.display().to_string(), reason }
}
