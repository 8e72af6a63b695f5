//! A folder of shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use duilian_core::TokenId;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::format::{self, HEADER_BYTES, record_bytes};
use super::map::{map_file, release};
use crate::ModelError;

pub(super) const INDEX_FILE: &str = "shards.json";
pub(super) const INDEX_VERSION: u32 = 2;
/// Bytes that are checked before their pages are given back.
const CHECKED_AT_ONCE: usize = 1 << 24;
/// Bytes that reading one pair may bring into memory: Linux maps the neighbours of a page with it if it has them.
const TOUCHED_BYTES: u64 = 1 << 16;
/// Bytes of pages that are kept after reading pairs before all are given back. Default of
/// [`ShardSet::with_resident_limit`].
const RESIDENT_LIMIT: u64 = 256 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    pub(super) version: u32,
    pub(super) vocabulary_size: usize,
    /// Names of the sources by their number.
    pub(super) sources: Vec<String>,
    /// Pairs by length and number of the source.
    pub(super) lengths: BTreeMap<u16, Vec<u32>>,
}

/// Two lines as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPair {
    /// Upper line.
    pub upper: Vec<TokenId>,
    /// Lower line, as long as the upper one.
    pub lower: Vec<TokenId>,
}

/// Pairs of one length and source: one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Characters of each line.
    pub length: usize,
    /// Number of the source in [`ShardSet::sources`].
    pub source: usize,
    /// Number of pairs, at least 1.
    pub pairs: usize,
}

/// How much of a set is checked when it is opened.
///
/// ```
/// assert_eq!(duilian_model::Verification::default(), duilian_model::Verification::Full);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verification {
    /// Every byte is read once: checksums, and that each token is one of the vocabulary. The default.
    #[default]
    Full,
    /// Headers and sizes of the files only, for sets that take long to read. Damaged records are noticed when a
    /// pair has a token outside the vocabulary.
    Headers,
}

/// Pairs of a folder, mapped into memory: nothing is held that has not been asked for, and what has been read is
/// given back to the system from time to time, so that a set may be far larger than memory.
#[derive(Debug)]
pub struct ShardSet {
    index: Index,
    maps: BTreeMap<(usize, usize), Mmap>,
    resident_limit: u64,
    /// Bytes of pages that may have become resident since the last release; only a count, guards nothing.
    touched: AtomicU64,
}

impl ShardSet {
    /// Opens and checks a folder that [`ShardWriter`](crate::ShardWriter) wrote.
    ///
    /// # Errors
    /// As [`ShardSet::open_with`].
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        Self::open_with(folder, Verification::Full)
    }

    /// Opens a folder that [`ShardWriter`](crate::ShardWriter) wrote.
    ///
    /// # Errors
    /// [`ModelError::Io`] for a file that is missing, [`ModelError::Damaged`] for one that is cut off,
    /// damaged, foreign, or of another version.
    pub fn open_with(folder: &Path, verification: Verification) -> Result<Self, ModelError> {
        let index = read_index(&folder.join(INDEX_FILE))?;
        let mut maps = BTreeMap::new();
        for (&length, sources) in &index.lengths {
            for (source, &pairs) in (0_u16..).zip(sources).filter(|&(_, &pairs)| pairs > 0) {
                let path = shard_path(folder, length, source);
                let map = map_file(&path)?;
                let (found, checksum) = format::check_header(&map, length, &path)?;
                if found != pairs {
                    return Err(format::damaged(&path, format!("it has {found} pairs, not {pairs}")));
                }
                if verification == Verification::Full {
                    check_records(&map, checksum, index.vocabulary_size, &path)?;
                }
                maps.insert((usize::from(length), usize::from(source)), map);
            }
        }
        Ok(Self { index, maps, resident_limit: RESIDENT_LIMIT, touched: AtomicU64::new(0) })
    }

    /// Sets how many bytes of pages may stay in memory after pairs have been read. Default 256 MiB.
    #[must_use]
    pub fn with_resident_limit(mut self, bytes: u64) -> Self {
        self.resident_limit = bytes;
        self
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        self.segments().map(|s| s.pairs).sum()
    }

    /// Bytes of all shard files.
    pub fn bytes(&self) -> u64 {
        self.maps.values().map(|map| map.len() as u64).sum()
    }

    /// Size of the vocabulary that the ids belong to.
    pub fn vocabulary_size(&self) -> usize {
        self.index.vocabulary_size
    }

    /// Names of the sources by their number.
    pub fn sources(&self) -> &[String] {
        &self.index.sources
    }

    /// All segments, by length and then by source.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.index.lengths.iter().flat_map(|(&length, sources)| {
            let segments = sources.iter().enumerate().filter(|&(_, &pairs)| pairs > 0);
            segments.map(move |(source, &pairs)| Segment {
                length: usize::from(length),
                source,
                pairs: pairs as usize,
            })
        })
    }

    /// A pair by length, source and number; `None` out of range.
    pub fn get(&self, length: usize, source: usize, number: usize) -> Option<TokenPair> {
        let map = self.maps.get(&(length, source))?;
        let size = record_bytes(length);
        let start = HEADER_BYTES.checked_add(number.checked_mul(size)?)?;
        let record = map.get(start..start.checked_add(size)?)?;
        let mut ids = record.as_chunks::<2>().0.iter().map(|&b| TokenId(u16::from_le_bytes(b)));
        let upper = ids.by_ref().take(length).collect();
        let pair = TokenPair { upper, lower: ids.collect() };
        self.give_back();
        Some(pair)
    }

    /// Counts a pair that was read, and releases all pages when they may have become too many.
    fn give_back(&self) {
        let touched = self.touched.fetch_add(TOUCHED_BYTES, Ordering::Relaxed);
        if touched >= self.resident_limit && self.bytes() > self.resident_limit {
            self.touched.store(0, Ordering::Relaxed);
            self.maps.values().for_each(release);
        }
    }
}

fn read_index(path: &Path) -> Result<Index, ModelError> {
    let broken = |reason: String| ModelError::Damaged {
        kind: "shard index",
        origin: path.display().to_string(),
        reason,
    };
    let json = std::fs::read(path).map_err(ModelError::io("read", path))?;
    let outline: serde_json::Value = serde_json::from_slice(&json).map_err(|e| broken(e.to_string()))?;
    let version = outline.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(INDEX_VERSION)) {
        let version = version.map_or("missing".to_owned(), |v| v.to_string());
        return Err(broken(format!("its version is {version}, known is {INDEX_VERSION}")));
    }
    let index: Index = serde_json::from_value(outline).map_err(|e| broken(e.to_string()))?;
    let sources = index.sources.len();
    if let Some((length, found)) = index.lengths.iter().find(|(_, pairs)| pairs.len() != sources) {
        return Err(broken(format!("length {length} has {} sources, not {sources}", found.len())));
    }
    Ok(index)
}

/// Checks checksum and token ids of all records, giving pages back on the way.
fn check_records(map: &Mmap, checksum: u32, vocabulary_size: usize, path: &Path) -> Result<(), ModelError> {
    let mut hasher = crc32fast::Hasher::new();
    let mut unknown = None;
    for (i, chunk) in map[HEADER_BYTES..].chunks(CHECKED_AT_ONCE).enumerate() {
        hasher.update(chunk);
        let known = |&id: &[u8; 2]| usize::from(u16::from_le_bytes(id)) < vocabulary_size;
        if let Some(place) = chunk.as_chunks::<2>().0.iter().position(|id| !known(id)) {
            unknown = unknown.or(Some(HEADER_BYTES + i * CHECKED_AT_ONCE + 2 * place));
        }
        if map.len() > CHECKED_AT_ONCE {
            release(map);
        }
    }
    if hasher.finalize() != checksum {
        return Err(format::damaged(path, "its checksum differs".to_owned()));
    }
    match unknown {
        Some(byte) => {
            Err(format::damaged(path, format!("the token at byte {byte} is outside the vocabulary")))
        }
        None => Ok(()),
    }
}

pub(super) fn shard_path(folder: &Path, length: u16, source: u16) -> PathBuf {
    folder.join(format!("pairs-{length:03}-{source:03}.shard"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShardWriter;

    fn write_two(folder: &Path) {
        let mut writer = ShardWriter::create(folder, 50).expect("makes");
        writer.push(&[TokenId(14); 3], &[TokenId(20); 3], "a").expect("valid");
        writer.push(&[TokenId(15); 3], &[TokenId(21); 3], "b").expect("valid");
        writer.finish().expect("writes");
    }

    #[test]
    fn wrong_pairs_are_refused() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut writer = ShardWriter::create(folder.path(), 50).expect("makes");
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
        let path = folder.path().join("pairs-003-001.shard");
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
        std::fs::write(folder.path().join("shards.json"), b"{\"version\":3}").expect("writes");
        assert!(matches!(ShardSet::open(folder.path()), Err(ModelError::Damaged { .. })));
    }

    #[test]
    fn many_pairs_come_back_in_order_and_an_older_set_is_replaced() {
        let folder = tempfile::tempdir().expect("temporary folder");
        write_two(folder.path());
        let mut writer = ShardWriter::create(folder.path(), 20_000).expect("makes");
        let line = |i: u16, plus: u16| vec![TokenId(i), TokenId(i + plus)];
        // Enough to be spooled in several pieces.
        for i in 0..19_000_u16 {
            writer.push(&line(i, 1), &line(i, 2), if i % 2 == 0 { "even" } else { "odd" }).expect("valid");
        }
        writer.push_padded(&[TokenId(14)], &[TokenId(15); 3], "odd").expect("valid");
        assert_eq!(ShardSet::open(folder.path()).expect("the old set still stands").pairs(), 2);
        writer.finish().expect("writes");
        let set = ShardSet::open(folder.path()).expect("opens").with_resident_limit(4_096);
        assert_eq!((set.pairs(), set.sources()), (19_001, &["even".to_owned(), "odd".to_owned()][..]));
        for i in (0..19_000_u16).rev() {
            let pair = set.get(2, usize::from(i % 2), usize::from(i / 2)).expect("is there");
            assert_eq!((pair.upper, pair.lower), (line(i, 1), line(i, 2)));
        }
        let padded = set.get(3, 1, 0).expect("is there");
        assert_eq!(padded.upper, [14, 0, 0].map(TokenId));
        let files = std::fs::read_dir(folder.path()).expect("lists").count();
        assert_eq!(files, 4, "three shards and the index");
    }

    /// Memory of this process in bytes.
    #[cfg(target_os = "linux")]
    fn resident_bytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("Linux has it");
        let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
        kilobytes << 10
    }

    /// Twenty gigabytes of pairs, most of them holes in a sparse file, drawn from all over.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_set_far_larger_than_memory_is_drawn_from_in_bounded_memory() {
        use std::io::Write;

        use crate::TrainConfig;
        use crate::train::BatchPlan;

        // On disk, not in a folder that lies in memory itself.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("temporary folder");
        let (length, pairs) = (7_u16, 715_000_000_u32);
        let path = shard_path(folder.path(), length, 0);
        let mut file = std::fs::File::create(&path).expect("makes");
        file.write_all(&format::header(length, pairs, 0)).expect("writes");
        let bytes = HEADER_BYTES as u64 + u64::from(pairs) * record_bytes(7) as u64;
        file.set_len(bytes).expect("makes a sparse file");
        drop(file);
        let index = Index {
            version: INDEX_VERSION,
            vocabulary_size: 50,
            sources: vec!["a".into()],
            lengths: [(length, vec![pairs])].into(),
        };
        std::fs::write(folder.path().join(INDEX_FILE), serde_json::to_vec(&index).expect("plain"))
            .expect("writes");

        let before = resident_bytes();
        let set = ShardSet::open_with(folder.path(), Verification::Headers).expect("opens");
        let limit = 64 << 20;
        let set = std::sync::Arc::new(set.with_resident_limit(limit));
        assert!(set.bytes() > 20_000_000_000 && set.bytes() > 250 * limit);
        let plan = BatchPlan::new(set, &TrainConfig::default(), 64).expect("has pairs");
        let mut most = 0;
        for step in 0..500 {
            // All over the epoch: half a million batches of 146 pairs.
            let batch = plan.batch(step * 9_000).expect("known tokens");
            assert_eq!((batch.rows, batch.length), (146, 7));
            most = most.max(resident_bytes().saturating_sub(before));
        }
        // The other tests of this process have their own memory.
        assert!(most < 3 * limit, "{} MB", most >> 20);
    }

    #[test]
    fn places_out_of_range_are_none() {
        let folder = tempfile::tempdir().expect("temporary folder");
        write_two(folder.path());
        let set = ShardSet::open_with(folder.path(), Verification::Headers).expect("opens");
        assert_eq!(set.sources(), ["a", "b"]);
        let segment = |source| Segment { length: 3, source, pairs: 1 };
        assert_eq!(set.segments().collect::<Vec<_>>(), [segment(0), segment(1)]);
        assert!(set.get(3, 1, 0).is_some());
        assert!(set.get(3, 1, 1).is_none() && set.get(3, 2, 0).is_none());
        assert!(set.get(4, 0, 0).is_none() && set.get(3, 0, usize::MAX).is_none());
    }
}
