//! Settings of the pipeline.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::CorpusError;

/// Where texts come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Input {
    /// The tarball of the npm package `chinese-poetry`, or the folder that it unpacks to.
    ChinesePoetry(PathBuf),
    /// Tab-separated pairs: upper line, lower line; more columns are ignored, a header `upper` is skipped.
    Tsv(PathBuf),
    /// Two files of lines of space-separated characters, as couplet data sets are often passed around.
    InOut(PathBuf, PathBuf),
    /// JSON lines: objects with the strings `upper` and `lower`.
    JsonLines(PathBuf),
}

/// Settings of [`clean`](crate::clean). Unknown fields are refused, missing ones take their defaults.
///
/// ```
/// use duilian_corpus::CleanConfig;
///
/// let config = CleanConfig::default();
/// assert!(config.authored && config.inputs.is_empty() && config.exclude.is_empty());
/// assert_eq!((config.min_score, config.min_ci_score, config.min_regulated_score), (0.6, 0.8, 0.0));
/// assert_eq!(config.min_upside_down_score, 0.7);
/// assert_eq!((config.joined_share, config.max_length), (0.16, 40));
/// assert_eq!((config.near_duplicate_distance, config.near_line_distance), (2, 1));
/// assert_eq!((config.validation_share, config.authored_validation_share), (0.0075, 0.06));
/// assert_eq!((config.seed, config.write_rejects), (42, false));
/// assert!(serde_json::from_str::<CleanConfig>(r#"{"minscore": 1}"#).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CleanConfig {
    /// Texts to read. Default none.
    pub inputs: Vec<Input>,
    /// Whether the authored corpus is part of the pairs. Default true.
    pub authored: bool,
    /// TSV files of cases for measuring: pairs with a line that equals or nearly equals one of theirs are dropped.
    /// Default none.
    pub exclude: Vec<PathBuf>,
    /// Lowest parallelism score of a mined couplet; docs/data.md says what stands at each score. Default 0.6.
    pub min_score: f32,
    /// Lowest score of clauses from song lyrics (词, 曲), which are parallel by accident only. Default 0.8.
    pub min_ci_score: f32,
    /// Lowest score of a couplet that is parallel by form: some poets did not keep it. Default 0.
    pub min_regulated_score: f32,
    /// Lowest score, from the same sources, of a couplet whose upper line ends level and whose lower line ends
    /// oblique: against the custom, but what is asked for where an upper line ends level. Default 0.7.
    pub min_upside_down_score: f32,
    /// Share of the poems whose neighbouring couplets are also joined to two-clause pairs. Default 0.16.
    pub joined_share: f64,
    /// Longest line in characters, marks included. Default 40.
    pub max_length: usize,
    /// Pairs of equal length that differ at so many places or fewer are near-duplicates; of lines with fewer than
    /// five characters only equal ones are. Default 2.
    pub near_duplicate_distance: usize,
    /// Training pairs with a line that differs at so many places or fewer from a line of a case or of the validation
    /// sets are dropped; of lines with fewer than five characters only equal ones are. Clauses of five characters
    /// and more count as lines. Default 1.
    pub near_line_distance: usize,
    /// Share of the poems that go to the validation set. Default 0.0075.
    pub validation_share: f64,
    /// Share of the authored couplets that are held out. Default 0.06.
    pub authored_validation_share: f64,
    /// Seed of the split and of the choice of joined pairs. Default 42.
    pub seed: u64,
    /// Whether rejected pairs are written with their reasons. Default false.
    pub write_rejects: bool,
}

impl Default for CleanConfig {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            authored: true,
            exclude: Vec::new(),
            min_score: 0.6,
            min_ci_score: 0.8,
            min_regulated_score: 0.0,
            min_upside_down_score: 0.7,
            joined_share: 0.16,
            max_length: 40,
            near_duplicate_distance: 2,
            near_line_distance: 1,
            validation_share: 0.0075,
            authored_validation_share: 0.06,
            seed: 42,
            write_rejects: false,
        }
    }
}

impl CleanConfig {
    /// Checks that the settings make sense.
    ///
    /// # Errors
    /// [`CorpusError::InvalidConfig`] with the field and the reason.
    pub fn validate(&self) -> Result<(), CorpusError> {
        let shares = [
            ("joined_share", self.joined_share),
            ("validation_share", self.validation_share),
            ("authored_validation_share", self.authored_validation_share),
        ];
        for (field, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return Err(CorpusError::InvalidConfig { field, reason: format!("{share} is not in 0..=1") });
            }
        }
        for (field, score) in [
            ("min_score", self.min_score),
            ("min_ci_score", self.min_ci_score),
            ("min_regulated_score", self.min_regulated_score),
            ("min_upside_down_score", self.min_upside_down_score),
        ] {
            if score.is_nan() {
                return Err(CorpusError::InvalidConfig { field, reason: "is no number".to_owned() });
            }
        }
        if self.max_length == 0 {
            return Err(CorpusError::InvalidConfig { field: "max_length", reason: "is 0".to_owned() });
        }
        Ok(())
    }
}
