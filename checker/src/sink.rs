//! Files that the command was told to write.
//!
//! They are opened before anything is run: a minute of work should not end with a path that cannot be written. What they
//! hold stays until there is something to put in its place.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::output::Output;

/// Where something is to be written.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file.
    File {
        /// Its path, as it was given.
        path: PathBuf,
        /// The file.
        file: File,
    },
}

/// A file cannot be written.
#[derive(Debug, Error)]
#[error("{}: cannot be written: {source}", path.display())]
pub(crate) struct SinkError {
    path: PathBuf,
    source: io::Error,
}

/// Plain data as JSON, for people too.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    // What has only names for keys always has a form as JSON.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

impl Sink {
    /// The file with this path; `-` is standard output.
    pub(crate) fn open(path: &Path) -> Result<Self, SinkError> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        match opened {
            Ok(file) => Ok(Self::File { path: path.to_owned(), file }),
            Err(source) => Err(SinkError { path: path.to_owned(), source }),
        }
    }

    pub(crate) const fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the text, and nothing else is in the file then.
    pub(crate) fn write(self, output: &mut Output, text: &str) -> Result<(), SinkError> {
        match self {
            Self::Stdout => {
                output.data(text.as_bytes());
                Ok(())
            }
            Self::File { path, mut file } => {
                // What is no regular file, such as a pipe, has no length to cut and needs none cut.
                let emptied = if file.metadata().is_ok_and(|file| file.is_file()) { file.set_len(0) } else { Ok(()) };
                emptied.and_then(|()| file.write_all(text.as_bytes())).map_err(|source| SinkError { path, source })
            }
        }
    }
}
