//! Last part of the pipeline: files.

use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::{Reject, Run, Sides};
use crate::CorpusError;
use crate::record::Pair;

/// Writes the content of one file.
type Content<'a> = Box<dyn Fn(&mut dyn Write) -> std::io::Result<()> + 'a>;

impl Run<'_> {
    /// Writes all files beside their places and renames them when all are complete: a full disk leaves the old
    /// files as they were.
    pub(super) fn write(&self, sides: &Sides, out: &Path) -> Result<(), CorpusError> {
        std::fs::create_dir_all(out).map_err(CorpusError::io("make", out))?;
        let mut files: Vec<(&str, Content)> = vec![
            ("train.tsv", Box::new(|file| write_pairs(file, &sides.train))),
            ("valid.tsv", Box::new(|file| write_pairs(file, &sides.valid))),
            ("valid_authored.tsv", Box::new(|file| write_pairs(file, &sides.valid_authored))),
            ("config.json", Box::new(|file| write_json(file, self.config))),
            ("report.json", Box::new(|file| write_json(file, &self.report))),
        ];
        if self.config.write_rejects {
            files.push(("rejects.tsv", Box::new(|file| write_rejects(file, &self.rejects))));
        }
        let part = |name: &str| out.join(format!("{name}.part"));
        let written = files.iter().try_for_each(|(name, content)| {
            let path = part(name);
            let write = || {
                let mut file = BufWriter::new(std::fs::File::create(&path)?);
                content(&mut file)?;
                file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
            };
            write().map_err(CorpusError::io("write", &path))
        });
        if written.is_err() {
            for (name, _) in &files {
                // What cannot be removed either is named like a part and harms nobody.
                let _ = std::fs::remove_file(part(name));
            }
            return written;
        }
        for (name, _) in &files {
            std::fs::rename(part(name), out.join(name)).map_err(CorpusError::io("rename", &part(name)))?;
        }
        Ok(())
    }
}

fn write_pairs(file: &mut dyn Write, pairs: &[Pair]) -> std::io::Result<()> {
    pairs.iter().try_for_each(|p| writeln!(file, "{}\t{}\t{:.3}", p.couplet, p.source.name(), p.score))
}

fn write_rejects(file: &mut dyn Write, rejects: &[Reject]) -> std::io::Result<()> {
    rejects.iter().try_for_each(|r| {
        write!(file, "{}\t{}\t{}\t", r.text, r.source.name(), r.reason.name())?;
        r.score.map_or(Ok(()), |score| write!(file, "{score:.3}"))?;
        writeln!(file)
    })
}

fn write_json(file: &mut dyn Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *file, value)?;
    writeln!(file)
}
