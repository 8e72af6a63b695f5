//! Pairs in text files, one record a line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::CorpusError;
use crate::error::json_reason;

/// Lines of a file with their numbers from 1, without line ends of either kind.
fn numbered_lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<(usize, String), CorpusError>> + '_, CorpusError> {
    let file = File::open(path).map_err(CorpusError::io("open", path))?;
    Ok(BufReader::new(file).split(b'\n').zip(1..).map(move |(bytes, line)| {
        let mut bytes = bytes.map_err(CorpusError::io("read", path))?;
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        let text = String::from_utf8(bytes).map_err(|e| CorpusError::Utf8 {
            path: path.to_owned(),
            line,
            valid: e.utf8_error().valid_up_to(),
        })?;
        Ok((line, if line == 1 { text.trim_start_matches('\u{FEFF}').to_owned() } else { text }))
    }))
}

fn record(path: &Path, line: usize, reason: &str) -> CorpusError {
    CorpusError::Record { path: path.to_owned(), line, reason: reason.to_owned() }
}

/// Upper and lower line of each row; empty rows and a header are passed over.
pub(crate) fn read_tsv(
    path: &Path,
) -> Result<impl Iterator<Item = Result<(String, String), CorpusError>> + '_, CorpusError> {
    Ok(numbered_lines(path)?.filter_map(move |row| {
        let (line, text) = match row {
            Ok(row) => row,
            Err(e) => return Some(Err(e)),
        };
        if text.is_empty() || (line == 1 && text.split('\t').next() == Some("upper")) {
            return None;
        }
        let mut columns = text.split('\t');
        match (columns.next(), columns.next()) {
            (Some(upper), Some(lower)) => Some(Ok((upper.to_owned(), lower.to_owned()))),
            _ => Some(Err(record(path, line, "there is no tab between two lines"))),
        }
    }))
}

/// Lines of two files that belong together by number.
pub(crate) fn read_in_out<'a>(
    upper: &'a Path,
    lower: &'a Path,
) -> Result<impl Iterator<Item = Result<(String, String), CorpusError>> + 'a, CorpusError> {
    let (mut uppers, mut lowers) = (numbered_lines(upper)?, numbered_lines(lower)?);
    Ok(std::iter::from_fn(move || {
        Some(match (uppers.next(), lowers.next()) {
            (None, None) => return None,
            (Some(Err(e)), _) | (_, Some(Err(e))) => Err(e),
            (Some(Ok((_, u))), Some(Ok((_, l)))) => Ok((u, l)),
            (Some(Ok((line, _))), None) => Err(record(lower, line, "the file ends before the other one")),
            (None, Some(Ok((line, _)))) => Err(record(upper, line, "the file ends before the other one")),
        })
    })
    .filter(|row| !matches!(row, Ok((u, l)) if u.is_empty() && l.is_empty())))
}

#[derive(Deserialize)]
struct JsonPair {
    upper: String,
    lower: String,
}

/// Objects with `upper` and `lower`, one a line; other fields are ignored.
pub(crate) fn read_json_lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<(String, String), CorpusError>> + '_, CorpusError> {
    Ok(numbered_lines(path)?.filter(|row| !matches!(row, Ok((_, t)) if t.trim().is_empty())).map(
        move |row| {
            let (line, text) = row?;
            let pair: JsonPair = serde_json::from_str(&text)
                .map_err(|e| record(path, line, &format!("byte {}: {}", e.column(), json_reason(&e))))?;
            Ok((pair.upper, pair.lower))
        },
    ))
}
