//! Lines that must not stand in the training pairs.

use duilian_core::{Couplet, Line};

use crate::readers::read_tsv;
use crate::{CleanConfig, CorpusError, NearDuplicates, normalize_line};

/// Lines that are nobody's: of one character, which are words of the language.
const LONGEST_WORD: usize = 1;
/// Clauses shorter than this are phrases that any two lines may share.
const SHORTEST_CLAUSE: usize = 5;

/// Lines and their longer clauses, found again where they return exactly or nearly, as a line or as a clause of one.
pub(super) struct LineIndex(NearDuplicates);

impl LineIndex {
    /// An empty index; see [`CleanConfig::near_line_distance`].
    pub(super) fn new(distance: usize) -> Self {
        Self(NearDuplicates::new(distance))
    }

    /// Lines of the cases for measuring.
    pub(super) fn of_cases(config: &CleanConfig) -> Result<Self, CorpusError> {
        let mut index = Self::new(config.near_line_distance);
        for path in &config.exclude {
            for row in read_tsv(path)? {
                let (upper, lower) = row?;
                // A case that is no line cannot stand in the corpus.
                for line in [upper, lower].iter().filter_map(|l| normalize_line(l).ok()) {
                    index.add(&line);
                }
            }
        }
        Ok(index)
    }

    pub(super) fn add(&mut self, line: &Line) {
        for part in parts(line) {
            self.0.add(part);
        }
    }

    /// Whether a line of the couplet, or a clause of it, is known.
    pub(super) fn holds(&self, couplet: &Couplet) -> bool {
        [couplet.upper(), couplet.lower()].iter().flat_map(|l| parts(l)).any(|part| self.0.contains(&part))
    }
}

fn parts(line: &Line) -> Vec<Vec<char>> {
    let mut parts: Vec<Vec<char>> = Vec::new();
    if line.han_len() > LONGEST_WORD {
        parts.push(line.han().collect());
    }
    let clauses =
        line.clauses().filter(|c| c.chars().len() >= SHORTEST_CLAUSE && c.chars().len() < line.len());
    parts.extend(clauses.map(|c| c.chars().to_vec()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(known: &str, upper: &str, lower: &str) -> bool {
        let mut index = LineIndex::new(1);
        index.add(&Line::parse(known).expect("valid"));
        index.holds(&Couplet::parse(upper, lower).expect("valid"))
    }

    #[test]
    fn lines_and_clauses_are_found() {
        assert!(holds("白日依山尽", "白日依山尽", "黄河入海流"));
        assert!(holds("黄河入海流", "白日依山尽", "黄河入海流"));
        assert!(holds("白日依山尽", "白日衔山尽", "黄河入海流"), "one character differs");
        assert!(holds("白日依山尽", "白日依山尽，欲穷千里目", "黄河入海流，更上一层楼"));
        assert!(holds("白日依山尽，欲穷千里目", "欲穷千里目", "更上一层楼"));
        assert!(!holds("白日依山尽", "白云依水尽", "黄河入海流"), "two characters differ");
        assert!(holds("春风", "春风", "秋月"), "two characters may be a whole case");
        assert!(!holds("春风", "春风来", "秋月去"), "but not as a part of a line");
        assert!(!holds("春", "春", "秋"), "single characters belong to all");
        assert!(!holds("春风来了，处处花开", "春风来了，年年", "秋月去也，岁岁"));
    }
}
