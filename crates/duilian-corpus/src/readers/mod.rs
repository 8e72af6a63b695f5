//! Texts as streams.

mod lines;
mod package;

pub(crate) use lines::{read_in_out, read_json_lines, read_tsv};
pub(crate) use package::{PackageFile, PackageKind, stream_package};
