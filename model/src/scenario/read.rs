use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::{Complaint, Flaw, ReadError};
use super::fields::FieldInfo;
use super::spans::{Document, Position};
use super::{Scenario, ScenarioError};

/// How long a file may be.
const BYTES_MAX: usize = 64 * 1024;

impl Scenario {
    /// Reads a scenario from a file, and checks it.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be read, is not TOML, is no scenario, or is one that makes no sense.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let file = path.display().to_string();
        match start_of(path) {
            Ok(bytes) => Self::from_bytes(&file, &bytes),
            Err(source) => Err(ReadError::File { file, source }),
        }
    }

    /// Reads a scenario from bytes, and checks it. `file` is what messages call them.
    ///
    /// # Errors
    /// [`ReadError::Text`].
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, ReadError> {
        read(bytes).map_err(|complaints| ReadError::Text { file: file.to_owned(), complaints })
    }

    /// Reads a scenario from text, and checks it. `file` is what messages call it.
    ///
    /// # Errors
    /// [`ReadError::Text`].
    pub fn from_toml(file: &str, text: &str) -> Result<Self, ReadError> {
        Self::from_bytes(file, text.as_bytes())
    }

    /// The scenario as TOML, every field written out. [`Scenario::from_toml`] reads it back.
    ///
    /// # Errors
    /// None for a scenario that [`Scenario::check`] accepts.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// No more of the file than is needed to see that it is too long.
fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(BYTES_MAX + 1).unwrap_or(u64::MAX);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read(bytes: &[u8]) -> Result<Scenario, Vec<Complaint>> {
    let text = text_of(bytes)?;
    let document = Document::parse(text).map_err(|error| vec![not_toml(text, &error)])?;
    let scenario = toml::from_str::<Scenario>(text).map_err(|error| vec![wrong_form(&document, &error)])?;
    match scenario.check() {
        Ok(_) => Ok(scenario),
        Err(error) => Err(located(&document, error)),
    }
}

fn text_of(bytes: &[u8]) -> Result<&str, Vec<Complaint>> {
    if bytes.len() > BYTES_MAX {
        let at = Position { line: 1, column: 1 };
        return Err(vec![Complaint { at, about: Flaw::TooLong { most: BYTES_MAX } }]);
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).and_then(|good| std::str::from_utf8(good).ok()).unwrap_or_default();
        vec![Complaint { at: Position::of(good, good.len()), about: Flaw::NotUtf8 }]
    })
}

fn not_toml(text: &str, error: &toml::de::Error) -> Complaint {
    let at = Position::of(text, error.span().map_or(0, |span| span.start));
    Complaint { at, about: Flaw::NotToml { message: error.message().to_owned() } }
}

/// If the error is about a field's value, the field knows better than its type what it takes.
fn wrong_form(document: &Document<'_>, error: &toml::de::Error) -> Complaint {
    let span = error.span().unwrap_or_default();
    let at = Position::of(document.text(), span.start);
    let message = error.message().to_owned();
    let field = document.keys_to(&span).and_then(|keys| FieldInfo::at(&keys));
    let about = match (message.split_once(", expected "), field) {
        (Some((found, _)), Some(field)) => Flaw::Form { message: found.to_owned(), field: Some(field) },
        (Some(_) | None, _) => Flaw::Form { message, field: None },
    };
    Complaint { at, about }
}

fn located(document: &Document<'_>, ScenarioError(problems): ScenarioError) -> Vec<Complaint> {
    let mut complaints: Vec<_> = problems
        .into_iter()
        .map(|problem| Complaint { at: document.position(&problem.place), about: Flaw::Sense(problem) })
        .collect();
    complaints.sort_by_key(|complaint| (complaint.at.line, complaint.at.column));
    complaints
}
