//! A folder of shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duilian_core::TokenId;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::format::{self, HEADER_BYTES, record_bytes};
use super::map::map_file;
use crate::ModelError;
use crate::storage::write_atomically;

const INDEX_FILE: &str = "shards.json";
const INDEX_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    version: u32,
    vocabulary_size: usize,
    /// Names of the sources by their number.
    sources: Vec<String>,
    /// Pairs by length.
    lengths: BTreeMap<u16, u32>,
}

/// Two lines as tokens, and the number of their source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPair {
    /// Upper line.
    pub upper: Vec<TokenId>,
    /// Lower line, as long as the upper one.
    pub lower: Vec<TokenId>,
    /// Number of the source in [`ShardSet::sources`].
    pub source: u16,
}

/// Collects pairs and writes them as shards.
///
/// ```
/// use duilian_core::TokenId;
/// use duilian_model::{ShardSet, ShardWriter};
///
/// let folder = tempfile::tempdir().unwrap();
/// let mut writer = ShardWriter::new(100);
/// writer.push(&[TokenId(14), TokenId(15)], &[TokenId(16), TokenId(17)], "authored")?;
/// writer.finish(folder.path())?;
///
/// let shards = ShardSet::open(folder.path())?;
/// assert_eq!(shards.pairs(), 1);
/// assert_eq!(shards.get(2, 0).unwrap().lower, [TokenId(16), TokenId(17)]);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct ShardWriter {
    vocabulary_size: usize,
    sources: Vec<String>,
    records: BTreeMap<u16, (u32, Vec<u8>)>,
}

impl ShardWriter {
    /// A writer for ids below `vocabulary_size`.
    pub fn new(vocabulary_size: usize) -> Self {
        Self { vocabulary_size, sources: Vec::new(), records: BTreeMap::new() }
    }

    /// Adds a pair of equal length.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] for lines that are empty, of unequal length or too long, and
    /// [`ModelError::UnknownToken`] for an id outside the vocabulary.
    pub fn push(&mut self, upper: &[TokenId], lower: &[TokenId], source: &str) -> Result<(), ModelError> {
        if upper.is_empty() || upper.len() != lower.len() {
            let reason = format!("a pair has {} and {} characters", upper.len(), lower.len());
            return Err(ModelError::Malformed { reason });
        }
        let length = u16::try_from(upper.len()).map_err(|_| ModelError::Malformed {
            reason: format!("a pair has {} characters", upper.len()),
        })?;
        for line in [upper, lower] {
            if let Some(i) = line.iter().position(|t| t.index() >= self.vocabulary_size) {
                let size = self.vocabulary_size;
                return Err(ModelError::UnknownToken { id: line[i].0, place: i + 1, size });
            }
        }
        let number = self.sources.iter().position(|s| s == source).unwrap_or_else(|| {
            self.sources.push(source.to_owned());
            self.sources.len() - 1
        });
        let number = u16::try_from(number)
            .map_err(|_| ModelError::Malformed { reason: "more than 65,536 sources".to_owned() })?;
        let (pairs, records) = self.records.entry(length).or_default();
        *pairs += 1;
        records.extend_from_slice(&number.to_le_bytes());
        for token in upper.iter().chain(lower) {
            records.extend_from_slice(&token.0.to_le_bytes());
        }
        Ok(())
    }

    /// Writes all shards and then the index into a folder, which is made if missing. Shards of an older set
    /// that have lengths of this one are replaced; the index names the files that count.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn finish(self, folder: &Path) -> Result<(), ModelError> {
        std::fs::create_dir_all(folder).map_err(ModelError::io("make", folder))?;
        for (&length, (pairs, records)) in &self.records {
            write_atomically(&shard_path(folder, length), &format::encode(length, *pairs, records))?;
        }
        let index = Index {
            version: INDEX_VERSION,
            vocabulary_size: self.vocabulary_size,
            sources: self.sources,
            lengths: self.records.iter().map(|(&l, &(pairs, _))| (l, pairs)).collect(),
        };
        let json = serde_json::to_vec_pretty(&index)
            .map_err(|e| ModelError::Malformed { reason: format!("the index: {e}") })?;
        write_atomically(&folder.join(INDEX_FILE), &json)
    }
}

/// Pairs of a folder, mapped into memory: nothing is read until it is asked for, except for the check of every
/// file's checksum on opening.
#[derive(Debug)]
pub struct ShardSet {
    index: Index,
    maps: BTreeMap<u16, Mmap>,
}

impl ShardSet {
    /// Opens and checks a folder that [`ShardWriter::finish`] wrote.
    ///
    /// # Errors
    /// [`ModelError::Io`] for a file that is missing, [`ModelError::Damaged`] for one that is cut off,
    /// damaged, foreign, or of another version.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(INDEX_FILE);
        let broken = |reason: String| ModelError::Damaged {
            kind: "shard index",
            origin: path.display().to_string(),
            reason,
        };
        let json = std::fs::read(&path).map_err(ModelError::io("read", &path))?;
        let outline: serde_json::Value = serde_json::from_slice(&json).map_err(|e| broken(e.to_string()))?;
        let version = outline.get("version").and_then(serde_json::Value::as_u64);
        if version != Some(u64::from(INDEX_VERSION)) {
            return Err(broken(format!("its version is {version:?}, known is {INDEX_VERSION}")));
        }
        let index: Index = serde_json::from_value(outline).map_err(|e| broken(e.to_string()))?;
        let mut maps = BTreeMap::new();
        for (&length, &pairs) in &index.lengths {
            let path = shard_path(folder, length);
            let map = map_file(&path)?;
            let found = format::check(&map, length, &path)?;
            if found != pairs {
                return Err(broken(format!("{} has {found} pairs, not {pairs}", path.display())));
            }
            let ids = map[HEADER_BYTES..].chunks_exact(record_bytes(usize::from(length)));
            let out_of_range =
                |id: &[u8]| usize::from(u16::from_le_bytes([id[0], id[1]])) >= index.vocabulary_size;
            for (i, record) in ids.enumerate() {
                if record[2..].chunks_exact(2).any(out_of_range) {
                    return Err(broken(format!("{}: pair {i} has an unknown token", path.display())));
                }
                if usize::from(u16::from_le_bytes([record[0], record[1]])) >= index.sources.len() {
                    return Err(broken(format!("{}: pair {i} has an unknown source", path.display())));
                }
            }
            maps.insert(length, map);
        }
        Ok(Self { index, maps })
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        self.index.lengths.values().map(|&n| n as usize).sum()
    }

    /// Size of the vocabulary that the ids belong to.
    pub fn vocabulary_size(&self) -> usize {
        self.index.vocabulary_size
    }

    /// Names of the sources by their number.
    pub fn sources(&self) -> &[String] {
        &self.index.sources
    }

    /// Lengths in characters, ascending, with the number of pairs of each.
    pub fn lengths(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.index.lengths.iter().map(|(&length, &pairs)| (usize::from(length), pairs as usize))
    }

    /// Source of a pair; `None` out of range.
    pub fn source(&self, length: usize, number: usize) -> Option<u16> {
        self.record(length, number).map(|r| u16::from_le_bytes([r[0], r[1]]))
    }

    /// A pair by length and number; `None` out of range.
    pub fn get(&self, length: usize, number: usize) -> Option<TokenPair> {
        let record = self.record(length, number)?;
        let mut ids = record.as_chunks::<2>().0.iter().map(|&b| u16::from_le_bytes(b));
        let source = ids.next()?;
        let upper = ids.by_ref().take(length).map(TokenId).collect();
        Some(TokenPair { upper, lower: ids.map(TokenId).collect(), source })
    }

    fn record(&self, length: usize, number: usize) -> Option<&[u8]> {
        let map = self.maps.get(&u16::try_from(length).ok()?)?;
        let size = record_bytes(length);
        let start = HEADER_BYTES.checked_add(number.checked_mul(size)?)?;
        map.get(start..start.checked_add(size)?)
    }
}

fn shard_path(folder: &Path, length: u16) -> PathBuf {
    folder.join(format!("pairs-{length:03}.shard"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_two(folder: &Path) {
        let mut writer = ShardWriter::new(50);
        writer.push(&[TokenId(14); 3], &[TokenId(20); 3], "a").expect("valid");
        writer.push(&[TokenId(15); 3], &[TokenId(21); 3], "b").expect("valid");
        writer.finish(folder).expect("writes");
    }

    #[test]
    fn wrong_pairs_are_refused() {
        let mut writer = ShardWriter::new(50);
        assert!(matches!(writer.push(&[], &[], "a"), Err(ModelError::Malformed { .. })));
        assert!(matches!(
            writer.push(&[TokenId(1)], &[TokenId(1), TokenId(2)], "a"),
            Err(ModelError::Malformed { .. })
        ));
        assert!(matches!(
            writer.push(&[TokenId(1), TokenId(50)], &[TokenId(1), TokenId(2)], "a"),
            Err(ModelError::UnknownToken { id: 50, place: 2, size: 50 })
        ));
    }

    #[test]
    fn every_damage_is_named() {
        let folder = tempfile::tempdir().expect("temporary folder");
        write_two(folder.path());
        let path = folder.path().join("pairs-003.shard");
        let whole = std::fs::read(&path).expect("reads");
        let opens = |bytes: &[u8]| {
            // A new file each time: the old one may still be mapped.
            std::fs::remove_file(&path).expect("removes");
            std::fs::write(&path, bytes).expect("writes");
            ShardSet::open(folder.path()).map(|set| set.pairs())
        };
        assert_eq!(opens(&whole).expect("is whole"), 2);
        for cut in [0, 3, 15, 16, whole.len() - 1] {
            assert!(matches!(opens(&whole[..cut]), Err(ModelError::Damaged { .. } | ModelError::Io { .. })));
        }
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            assert!(matches!(opens(&bytes), Err(ModelError::Damaged { .. })), "byte {place}");
        }
        std::fs::write(folder.path().join("shards.json"), b"{\"version\":2}").expect("writes");
        assert!(matches!(ShardSet::open(folder.path()), Err(ModelError::Damaged { .. })));
    }

    #[test]
    fn places_out_of_range_are_none() {
        let folder = tempfile::tempdir().expect("temporary folder");
        write_two(folder.path());
        let set = ShardSet::open(folder.path()).expect("opens");
        assert_eq!(set.sources(), ["a", "b"]);
        assert_eq!(set.get(3, 1).map(|p| p.source), Some(1));
        assert!(set.get(3, 2).is_none() && set.get(4, 0).is_none() && set.get(3, usize::MAX).is_none());
    }
}
