//! Tokens that are worth scoring, by the character that they answer.

use std::collections::BTreeMap;
use std::path::Path;

use duilian_core::TokenId;
use duilian_decoder::Source;
use duilian_weights::write_atomically;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::state::Candidates;

const MAGIC: &[u8; 8] = b"DUILIANS";
const VERSION: u32 = 1;

/// How long a [`Shortlist`] is.
///
/// ```
/// use duilian_engine::ShortlistConfig;
///
/// let config: ShortlistConfig = serde_json::from_str("{}")?;
/// assert_eq!(config, ShortlistConfig { per_character: 512, common: 512 });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShortlistConfig {
    /// Most tokens kept for one given character. Default 512.
    pub per_character: usize,
    /// Number of tokens that are the most frequent answers to any character, kept for all. Default 512.
    pub common: usize,
}

impl Default for ShortlistConfig {
    fn default() -> Self {
        Self { per_character: 512, common: 512 }
    }
}

/// Counts which characters answer which in pairs of lines, place by place.
///
/// A pair counts both ways: a shortlist serves both directions.
///
/// ```
/// use duilian_core::TokenId;
/// use duilian_engine::{ShortlistBuilder, ShortlistConfig};
///
/// let tokens = |ids: &[u16]| ids.iter().copied().map(TokenId).collect::<Vec<_>>();
/// let mut builder = ShortlistBuilder::new(50);
/// builder.add(&tokens(&[20, 21]), &tokens(&[30, 31]));
/// builder.add(&tokens(&[20]), &tokens(&[32]));
/// builder.add(&tokens(&[20]), &tokens(&[32]));
/// let shortlist = builder.finish(&ShortlistConfig { per_character: 2, common: 1 });
/// assert_eq!(shortlist.answers(TokenId(20)), [32, 30], "the most frequent first");
/// assert_eq!(shortlist.answers(TokenId(31)), [21]);
/// assert_eq!(shortlist.common(), [20]);
/// ```
#[derive(Debug, Clone)]
pub struct ShortlistBuilder {
    answers: Vec<BTreeMap<u16, u32>>,
    totals: Vec<u32>,
}

impl ShortlistBuilder {
    /// Counts for a vocabulary of this size.
    pub fn new(vocabulary_size: usize) -> Self {
        Self { answers: vec![BTreeMap::new(); vocabulary_size], totals: vec![0; vocabulary_size] }
    }

    /// Counts a pair of lines; what one line has beyond the length of the other, and tokens outside the vocabulary,
    /// are left out.
    pub fn add(&mut self, upper: &[TokenId], lower: &[TokenId]) {
        let size = self.totals.len();
        for (upper, lower) in upper.iter().zip(lower).filter(|(u, l)| u.index() < size && l.index() < size) {
            for (given, answer) in [(upper, lower), (lower, upper)] {
                *self.answers[given.index()].entry(answer.0).or_default() += 1;
                self.totals[answer.index()] += 1;
            }
        }
    }

    /// Keeps the most frequent answers; of equally frequent ones, those with lower ids.
    pub fn finish(&self, config: &ShortlistConfig) -> Shortlist {
        let most = |counts: &mut Vec<(u16, u32)>, limit: usize| {
            counts.sort_by_key(|&(token, count)| (std::cmp::Reverse(count), token));
            counts.truncate(limit);
            counts.iter().map(|&(token, _)| token).collect::<Vec<u16>>()
        };
        let mut totals: Vec<(u16, u32)> =
            (0..=u16::MAX).zip(self.totals.iter().copied()).filter(|(_, count)| *count > 0).collect();
        let mut lists = Candidates::default();
        for counts in &self.answers {
            let mut counts: Vec<(u16, u32)> = counts.iter().map(|(&token, &count)| (token, count)).collect();
            lists.tokens.extend(most(&mut counts, config.per_character.min(usize::from(u16::MAX))));
            lists.ends.push(lists.tokens.len());
        }
        Shortlist { common: most(&mut totals, config.common), lists }
    }
}

/// For each given character its most frequent answers, and the most frequent characters of all.
///
/// [`Engine::with_shortlist`](crate::Engine::with_shortlist) scores nothing else. A shortlist is learnt from training
/// pairs by a [`ShortlistBuilder`], whose page has an example. Files carry magic, version and a checksum.
#[derive(Debug, Clone)]
pub struct Shortlist {
    common: Vec<u16>,
    lists: Candidates,
}

impl Shortlist {
    /// Number of tokens of the vocabulary that it is made for.
    pub fn vocabulary_size(&self) -> usize {
        self.lists.ends.len()
    }

    /// Answers kept for a given character, most frequent first; none for tokens outside the vocabulary.
    pub fn answers(&self, given: TokenId) -> &[u16] {
        if given.index() < self.lists.ends.len() { self.lists.list(given.index()) } else { &[] }
    }

    /// Answers kept for all characters, most frequent first.
    pub fn common(&self) -> &[u16] {
        &self.common
    }

    /// Lists for each place of each line: answers of its character, common ones, the hint, each once.
    pub(crate) fn collect(&self, sources: &[Source], candidates: &mut Candidates) {
        let mut seen = vec![0_u32; self.vocabulary_size()];
        for (index, (token, hint)) in
            sources.iter().flat_map(|source| source.tokens.iter().zip(&source.hints)).enumerate()
        {
            let stamp = index as u32 + 1;
            let lists = self.answers(*token).iter().chain(&self.common);
            // The character itself, so that no list is empty and a mark can answer itself.
            for &answer in lists.chain(hint.iter().map(|hint| &hint.0)).chain([&token.0]) {
                if std::mem::replace(&mut seen[usize::from(answer)], stamp) != stamp {
                    candidates.tokens.push(answer);
                }
            }
            candidates.ends.push(candidates.tokens.len());
        }
    }

    /// The bytes of a file: magic, version, checksum of the rest (CRC-32), size of the vocabulary, common tokens, and a
    /// list for each token; numbers are little-endian, 32 bits wide, tokens 16 bits; each list has its length before it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = (self.vocabulary_size() as u32).to_le_bytes().to_vec();
        let lists = (0..self.vocabulary_size()).map(|token| self.lists.list(token));
        for list in std::iter::once(self.common.as_slice()).chain(lists) {
            body.extend((list.len() as u32).to_le_bytes());
            body.extend(list.iter().flat_map(|token| token.to_le_bytes()));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Reads the bytes of a file. `origin` names their source in errors.
    ///
    /// # Errors
    /// [`EngineError::DamagedShortlist`] if the bytes are cut off, damaged, foreign or of a newer version.
    pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Self, EngineError> {
        let broken = |reason: &str| EngineError::DamagedShortlist {
            origin: origin.to_owned(),
            reason: reason.to_owned(),
        };
        let cut = || broken("it is cut off");
        let number = |bytes: &mut &[u8]| {
            let (four, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
            *bytes = rest;
            Ok::<u32, EngineError>(u32::from_le_bytes(*four))
        };
        let mut rest =
            bytes.strip_prefix(MAGIC).ok_or_else(|| broken("it does not begin with the magic bytes"))?;
        if number(&mut rest)? > VERSION {
            return Err(broken("it is of a newer version"));
        }
        if number(&mut rest)? != crc32fast::hash(rest) {
            return Err(broken("its checksum differs"));
        }
        let size = number(&mut rest)? as usize;
        let list = |rest: &mut &[u8]| {
            let count = number(rest)? as usize;
            let (tokens, after) = rest.split_at_checked(2 * count).ok_or_else(cut)?;
            *rest = after;
            let tokens: Vec<u16> = tokens.as_chunks::<2>().0.iter().map(|&b| u16::from_le_bytes(b)).collect();
            let known = tokens.iter().all(|&token| usize::from(token) < size);
            if known { Ok(tokens) } else { Err(broken("it has a token outside its vocabulary")) }
        };
        let common = list(&mut rest)?;
        let mut lists = Candidates::default();
        for _ in 0..size {
            lists.tokens.extend(list(&mut rest)?);
            lists.ends.push(lists.tokens.len());
        }
        if rest.is_empty() { Ok(Self { common, lists }) } else { Err(broken("it goes on after its end")) }
    }

    /// Writes a file beside its place and renames it.
    ///
    /// # Errors
    /// [`EngineError::Weights`] with the action that failed.
    pub fn save(&self, path: &Path) -> Result<(), EngineError> {
        Ok(write_atomically(path, &self.to_bytes())?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`EngineError::Io`], or as [`Shortlist::from_bytes`].
    pub fn load(path: &Path) -> Result<Self, EngineError> {
        let bytes =
            std::fs::read(path).map_err(|source| EngineError::Io { path: path.to_owned(), source })?;
        Self::from_bytes(&bytes, &path.display().to_string())
    }
}
