//! The npm package `chinese-poetry`, as its tarball or unpacked.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::CorpusError;

/// What a file of the package holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackageKind {
    /// 全唐诗 and 全宋诗.
    Poems,
    /// 全宋词.
    Lyrics,
    /// 元曲.
    Songs,
    /// 声律启蒙.
    Primer,
}

impl PackageKind {
    /// What the path of a file says; `None` for files that are not read.
    fn of(path: &str) -> Option<Self> {
        let mut parts = path.rsplit('/');
        let name = parts.next()?.strip_suffix(".json")?;
        let folder = parts.next()?;
        let numbered = |prefix: &str| name.starts_with(prefix);
        match folder {
            "quantangshi" if numbered("poet.tang.") || numbered("poet.song.") => Some(Self::Poems),
            "songci" if numbered("ci.song.") => Some(Self::Lyrics),
            "yuanqu" if name == "yuanqu" => Some(Self::Songs),
            "mengxue" if name == "shenglvqimeng" => Some(Self::Primer),
            _ => None,
        }
    }
}

/// One file of the package, not parsed yet.
#[derive(Debug)]
pub(crate) struct PackageFile {
    pub(crate) kind: PackageKind,
    pub(crate) entry: String,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct Poem {
    #[serde(default)]
    paragraphs: Vec<String>,
}

#[derive(Deserialize)]
struct Book {
    content: Vec<Volume>,
}

#[derive(Deserialize)]
struct Volume {
    content: Vec<Poem>,
}

impl PackageFile {
    /// The texts of the file, paragraphs joined by line ends.
    pub(crate) fn texts(&self, origin: &Path) -> Result<Vec<String>, CorpusError> {
        let fail = CorpusError::json(origin, &self.entry);
        let poems: Vec<Poem> = match self.kind {
            PackageKind::Poems | PackageKind::Lyrics | PackageKind::Songs => {
                serde_json::from_slice(&self.bytes).map_err(fail)?
            }
            PackageKind::Primer => {
                let book: Book = serde_json::from_slice(&self.bytes).map_err(fail)?;
                book.content.into_iter().flat_map(|v| v.content).collect()
            }
        };
        Ok(poems.into_iter().map(|p| p.paragraphs.join("\n")).collect())
    }
}

/// Sends the files that are read, in the order of the package, and returns how many others there were. The
/// channel's bound is what limits memory. Stops quietly when the receiver is gone.
pub(crate) fn stream_package(path: &Path, files: &SyncSender<PackageFile>) -> Result<usize, CorpusError> {
    if path.is_dir() { stream_folder(path, files) } else { stream_tarball(path, files) }
}

fn stream_tarball(path: &Path, files: &SyncSender<PackageFile>) -> Result<usize, CorpusError> {
    let file = File::open(path).map_err(CorpusError::io("open", path))?;
    let mut unpacked = GzDecoder::new(BufReader::with_capacity(1 << 20, file));
    let mut archive = tar::Archive::new(&mut unpacked);
    let (mut sent, mut skipped) = (0, 0);
    let damaged =
        |entries: usize| move |source| CorpusError::Tarball { path: path.to_owned(), entries, source };
    for entry in archive.entries().map_err(damaged(0))? {
        let mut entry = entry.map_err(damaged(sent + skipped))?;
        let name = entry.path().map_err(damaged(sent + skipped))?.to_string_lossy().into_owned();
        let Some(kind) = PackageKind::of(&name) else {
            skipped += 1;
            continue;
        };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(damaged(sent + skipped))?;
        sent += 1;
        if files.send(PackageFile { kind, entry: name, bytes }).is_err() {
            return Ok(skipped);
        }
    }
    // The checksum stands at the very end.
    std::io::copy(&mut unpacked, &mut std::io::sink()).map_err(damaged(sent + skipped))?;
    if sent == 0 {
        return Err(CorpusError::NoPoems { path: path.to_owned() });
    }
    Ok(skipped)
}

fn stream_folder(path: &Path, files: &SyncSender<PackageFile>) -> Result<usize, CorpusError> {
    let mut folders = vec![path.to_owned()];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(CorpusError::io("list", &folder))? {
            let entry = entry.map_err(CorpusError::io("list", &folder))?.path();
            if entry.is_dir() { folders.push(entry) } else { found.push(entry) }
        }
    }
    found.sort();
    let (mut sent, mut skipped) = (0, 0);
    for file in found {
        let entry = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let Some(kind) = PackageKind::of(&entry) else {
            skipped += 1;
            continue;
        };
        let bytes = std::fs::read(&file).map_err(CorpusError::io("read", &file))?;
        sent += 1;
        if files.send(PackageFile { kind, entry, bytes }).is_err() {
            break;
        }
    }
    if sent == 0 {
        return Err(CorpusError::NoPoems { path: path.to_owned() });
    }
    Ok(skipped)
}
