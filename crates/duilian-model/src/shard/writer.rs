//! Writing shards.

use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use duilian_core::TokenId;
use duilian_tokenizer::CharTokenizer;

use super::format;
use super::set::{INDEX_FILE, INDEX_VERSION, Index, shard_path};
use crate::ModelError;
use crate::storage::write_atomically;

/// Bytes of one file that are held back before they are written.
const SPOOL_BYTES: usize = 1 << 16;

/// Writes pairs as shards, one file for each length and source. What it holds in memory does not grow with the
/// number of pairs.
///
/// ```
/// use duilian_core::TokenId;
/// use duilian_model::{ShardSet, ShardWriter};
///
/// let folder = tempfile::tempdir().unwrap();
/// let mut writer = ShardWriter::create(folder.path(), 100)?;
/// writer.push(&[TokenId(14), TokenId(15)], &[TokenId(16), TokenId(17)], "authored")?;
/// writer.finish()?;
///
/// let shards = ShardSet::open(folder.path())?;
/// assert_eq!(shards.pairs(), 1);
/// assert_eq!(shards.get(2, 0, 0).unwrap().lower, [TokenId(16), TokenId(17)]);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct ShardWriter {
    folder: PathBuf,
    vocabulary_size: usize,
    sources: Vec<String>,
    spools: BTreeMap<(u16, u16), Spool>,
}

/// Records of one length and source on their way to their file.
#[derive(Debug, Default)]
struct Spool {
    pairs: u32,
    checksum: crc32fast::Hasher,
    waiting: Vec<u8>,
    /// Whether the file has been begun.
    started: bool,
}

impl ShardWriter {
    /// A writer into a folder, which is made if missing, for ids below `vocabulary_size`. The set that stands
    /// there stays whole until [`ShardWriter::finish`].
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn create(folder: &Path, vocabulary_size: usize) -> Result<Self, ModelError> {
        std::fs::create_dir_all(folder).map_err(ModelError::io("make", folder))?;
        Ok(Self { folder: folder.to_owned(), vocabulary_size, sources: Vec::new(), spools: BTreeMap::new() })
    }

    /// Adds a pair of equal length.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] for lines that are empty, of unequal length or too long,
    /// [`ModelError::UnknownToken`] for an id outside the vocabulary, and [`ModelError::Io`].
    pub fn push(&mut self, upper: &[TokenId], lower: &[TokenId], source: &str) -> Result<(), ModelError> {
        if upper.is_empty() || upper.len() != lower.len() {
            let reason = format!("a pair has {} and {} characters", upper.len(), lower.len());
            return Err(ModelError::Malformed { reason });
        }
        self.write(upper, lower, source)
    }

    /// Adds a pair of any two lengths: the shorter line is filled up with padding. For networks that learn where
    /// an answer ends, such as [`AttentionSeq2Seq`](crate::AttentionSeq2Seq).
    ///
    /// # Errors
    /// As [`ShardWriter::push`].
    pub fn push_padded(
        &mut self,
        question: &[TokenId],
        answer: &[TokenId],
        source: &str,
    ) -> Result<(), ModelError> {
        if question.is_empty() || answer.is_empty() {
            let reason = "a question or an answer is empty".to_owned();
            return Err(ModelError::Malformed { reason });
        }
        let length = question.len().max(answer.len());
        let filled = |line: &[TokenId]| {
            let padding = std::iter::repeat_n(CharTokenizer::PAD, length - line.len());
            line.iter().copied().chain(padding).collect::<Vec<_>>()
        };
        self.write(&filled(question), &filled(answer), source)
    }

    fn write(&mut self, upper: &[TokenId], lower: &[TokenId], source: &str) -> Result<(), ModelError> {
        let too_many = |what: &str| ModelError::Malformed { reason: format!("more than {what}") };
        let length = u16::try_from(upper.len()).map_err(|_| too_many("65,535 characters in a line"))?;
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
        let number = u16::try_from(number).map_err(|_| too_many("65,536 sources"))?;
        let spool = self.spools.entry((length, number)).or_default();
        spool.pairs =
            spool.pairs.checked_add(1).ok_or_else(|| too_many("4,294,967,295 pairs of a length"))?;
        for token in upper.iter().chain(lower) {
            spool.waiting.extend_from_slice(&token.0.to_le_bytes());
        }
        if spool.waiting.len() >= SPOOL_BYTES {
            spool.flush(&part_path(&self.folder, length, number))?;
        }
        Ok(())
    }

    /// Completes the files and writes the index that names them; files of an older set in the folder that are not
    /// part of this one are removed.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn finish(mut self) -> Result<(), ModelError> {
        let mut lengths = BTreeMap::<u16, Vec<u32>>::new();
        for (&(length, source), spool) in &mut self.spools {
            let part = part_path(&self.folder, length, source);
            spool.flush(&part)?;
            spool.complete(length, &part)?;
            let pairs = lengths.entry(length).or_insert_with(|| vec![0; self.sources.len()]);
            pairs[usize::from(source)] = spool.pairs;
        }
        for &(length, source) in self.spools.keys() {
            let part = part_path(&self.folder, length, source);
            let path = shard_path(&self.folder, length, source);
            std::fs::rename(&part, &path).map_err(ModelError::io("rename", &part))?;
        }
        let index = Index {
            version: INDEX_VERSION,
            vocabulary_size: self.vocabulary_size,
            sources: std::mem::take(&mut self.sources),
            lengths,
        };
        let json = serde_json::to_vec_pretty(&index)
            .map_err(|e| ModelError::Malformed { reason: format!("the index: {e}") })?;
        write_atomically(&self.folder.join(INDEX_FILE), &json)?;
        self.remove_others()
    }

    fn remove_others(&self) -> Result<(), ModelError> {
        let kept: Vec<PathBuf> =
            self.spools.keys().map(|&(length, source)| shard_path(&self.folder, length, source)).collect();
        let list = std::fs::read_dir(&self.folder).map_err(ModelError::io("list", &self.folder))?;
        for entry in list {
            let path = entry.map_err(ModelError::io("list", &self.folder))?.path();
            if path.extension().is_some_and(|e| e == "shard") && !kept.contains(&path) {
                std::fs::remove_file(&path).map_err(ModelError::io("remove", &path))?;
            }
        }
        Ok(())
    }
}

impl Spool {
    /// Appends what waits to the file, behind room for the header.
    fn flush(&mut self, part: &Path) -> Result<(), ModelError> {
        let first = !std::mem::replace(&mut self.started, true);
        let write = |bytes: &[u8]| {
            let mut options = std::fs::OpenOptions::new();
            let mut file = if first {
                options.write(true).create(true).truncate(true).open(part)?
            } else {
                options.append(true).open(part)?
            };
            if first {
                file.write_all(&[0; format::HEADER_BYTES])?;
            }
            file.write_all(bytes)
        };
        write(&self.waiting).map_err(ModelError::io("write", part))?;
        self.checksum.update(&self.waiting);
        self.waiting.clear();
        Ok(())
    }

    /// Puts the header in front of the records.
    fn complete(&self, length: u16, part: &Path) -> Result<(), ModelError> {
        let write = || {
            let mut file = std::fs::OpenOptions::new().write(true).open(part)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&format::header(length, self.pairs, self.checksum.clone().finalize()))?;
            file.sync_all()
        };
        write().map_err(ModelError::io("write", part))
    }
}

fn part_path(folder: &Path, length: u16, source: u16) -> PathBuf {
    shard_path(folder, length, source).with_extension("part")
}
