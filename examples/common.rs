//! What several examples need: reading pairs, and one error for all.

use std::path::Path;

use duilian::core::Couplet;
use duilian::corpus::CleanConfig;

/// Whatever stops an example.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Anything that has a message already.
    #[error("{0}")]
    Text(String),
    /// A model, shard or checkpoint.
    #[error(transparent)]
    Model(#[from] duilian::model::ModelError),
    /// A file of weights.
    #[error(transparent)]
    Weights(#[from] duilian::weights::WeightsError),
    /// An engine or its shortlist.
    #[error(transparent)]
    Engine(#[from] duilian::engine::EngineError),
    /// A vocabulary.
    #[error(transparent)]
    Tokenizer(#[from] duilian::tokenizer::TokenizerError),
    /// A corpus.
    #[error(transparent)]
    Corpus(#[from] duilian::corpus::CorpusError),
    /// An answer.
    #[error(transparent)]
    Duilian(#[from] duilian::Error),
}

impl Failure {
    /// A file operation that failed.
    pub fn file(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::Text(format!("cannot {action} {}: {error}", path.display()))
    }
}

/// A pair and the name of its source.
#[derive(Debug, Clone)]
pub struct Row {
    /// The lines.
    pub couplet: Couplet,
    /// Name of the source; empty if the file does not say.
    pub source: String,
}

/// Reads tab-separated pairs of normalised lines: upper line, lower line, source. A header `upper` and empty rows
/// are passed over.
///
/// # Errors
/// [`Failure::Text`] with file and line.
pub fn read_pairs(path: &Path) -> Result<Vec<Row>, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
    let mut rows = Vec::new();
    for (number, row) in bytes.split(|&b| b == b'\n').enumerate() {
        let fail =
            |reason: String| Failure::Text(format!("{}, line {}: {reason}", path.display(), number + 1));
        let row = std::str::from_utf8(row)
            .map_err(|e| fail(format!("not UTF-8 after byte {}", e.valid_up_to())))?
            .trim_end_matches('\r');
        if row.is_empty() || (number == 0 && row.split('\t').next() == Some("upper")) {
            continue;
        }
        let columns: Vec<&str> = row.split('\t').collect();
        let [upper, lower, ..] = columns[..] else {
            return Err(fail("there is no tab between two lines".to_owned()));
        };
        let couplet = Couplet::parse(upper, lower).map_err(|e| fail(e.to_string()))?;
        rows.push(Row { couplet, source: columns.get(2).copied().unwrap_or_default().to_owned() });
    }
    Ok(rows)
}

/// The authored corpus as [`duilian::corpus::clean`] splits it, training pairs first; its files go to `folder`.
///
/// # Errors
/// [`Failure::Corpus`] if the files cannot be written.
pub fn embedded_pairs(folder: &Path) -> Result<(Vec<Row>, Vec<Row>), Failure> {
    duilian::corpus::clean(&CleanConfig::default(), folder, &mut |_| {})?;
    Ok((read_pairs(&folder.join("train.tsv"))?, read_pairs(&folder.join("valid_authored.tsv"))?))
}
