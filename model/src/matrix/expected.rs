//! What the matrix is expected to say, as text in the repository.
//!
//! Only what is violated is written down: a line for each setting of a claim store, and under it, for each set of promises
//! that are broken together, the worlds where they are, each with its number of callers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use super::{Cell, Matrix, Outcome, PROPERTIES, Setting, Trouble, Verdict};
use crate::property::Property;

/// The cells in which something is expected to be violated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    violated: BTreeMap<Cell, BTreeSet<Property>>,
}

/// Where a matrix and what was expected of it part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The cell.
    pub cell: Cell,
    /// What was asked.
    pub property: Property,
    /// Whether it was expected to be violated; otherwise, to hold.
    pub expected_violated: bool,
    /// What was found.
    pub found: Verdict,
}

impl Difference {
    /// Whether there is no answer, as opposed to another one.
    #[must_use]
    pub const fn is_unanswered(&self) -> bool {
        matches!(self.found, Verdict::Inconclusive)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = if self.expected_violated { "violated" } else { "to hold" };
        write!(f, "{}: {} was expected {expected}, and ", self.cell, self.property.name())?;
        match self.found {
            Verdict::Holds => f.write_str("holds"),
            Verdict::Violated { steps } => write!(f, "is violated in {steps} steps"),
            Verdict::Inconclusive => f.write_str("is not decided"),
        }
    }
}

/// Why a text says nothing that could be expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ExpectedError {
    /// Which line, counted from one.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl Expected {
    /// What is expected of Oncemore's own designs.
    ///
    /// # Panics
    ///
    /// If the repository's data is wrong; a test reads it.
    #[must_use]
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Expected> = LazyLock::new(|| {
            Expected::parse(include_str!("../../expected/matrix.txt"))
                .unwrap_or_else(|error| panic!("model/expected/matrix.txt: {error}"))
        });
        &SHIPPED
    }

    /// That everything turns out once more as it did in `matrix`.
    #[must_use]
    pub fn of(matrix: &Matrix) -> Self {
        let mut expected = Self::default();
        for (&cell, outcome) in &matrix.outcomes {
            for (property, verdict) in outcome.verdicts() {
                if matches!(verdict, Verdict::Violated { .. }) {
                    expected.violated.entry(cell).or_default().insert(property);
                }
            }
        }
        expected
    }

    /// Whether the promise is expected to be broken in the cell.
    #[must_use]
    pub fn is_violated(&self, cell: &Cell, property: Property) -> bool {
        self.violated.get(cell).is_some_and(|violated| violated.contains(&property))
    }

    /// Reads what [`Expected`] writes.
    ///
    /// # Errors
    ///
    /// [`ExpectedError`], with the first line that makes no sense.
    pub fn parse(text: &str) -> Result<Self, ExpectedError> {
        let mut expected = Self::default();
        let mut setting = None;
        for (index, line) in text.lines().enumerate() {
            let error = |what: String| ExpectedError { line: index + 1, what };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with(' ') {
                let setting = setting.ok_or_else(|| error("a setting must come first".to_owned()))?;
                expected.read_exception(setting, line).map_err(error)?;
            } else {
                let known = Setting::all().into_iter().find(|setting| setting.to_string() == line);
                setting = Some(known.ok_or_else(|| error(format!("no setting is called `{line}`")))?);
            }
        }
        Ok(expected)
    }

    fn read_exception(&mut self, setting: Setting, line: &str) -> Result<(), String> {
        let (properties, places) = line.split_once(':').ok_or("a colon is missing")?;
        let known = |name: &str| PROPERTIES.into_iter().find(|property| property.name() == name);
        let properties = properties
            .split_whitespace()
            .map(|name| known(name).ok_or_else(|| format!("`{name}` is not asked")))
            .collect::<Result<BTreeSet<_>, _>>()?;
        for place in places.split_whitespace() {
            let cell = setting.cell_named(place).ok_or_else(|| format!("there is no cell `{place}`"))?;
            if self.violated.insert(cell, properties.clone()).is_some() {
                return Err(format!("`{place}` stands there twice"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        for setting in Setting::all() {
            writeln!(f, "\n{setting}")?;
            let mut exceptions: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
            for cell in setting.cells() {
                if let Some(violated) = self.violated.get(&cell) {
                    let names = violated.iter().map(|property| property.name()).collect();
                    exceptions.entry(names).or_default().push(format!("{}/{}", cell.trouble.name(), cell.callers));
                }
            }
            for (names, places) in exceptions {
                writeln!(f, "    {}: {}", names.join(" "), places.join(" "))?;
            }
        }
        Ok(())
    }
}

const HEADER: &str = "\
# What the matrix is expected to say. Written by `oncemore matrix`; to be read before it is believed.
#
# A line for each setting: design, fence, retention, and what callers make of a rejected first attempt.
# Under it what is violated, and where: the world, and one caller or two. Everything else holds, or does not apply.
";

impl Setting {
    /// Every setting that means something, from the weakest design.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut settings: Vec<Self> = Vec::new();
        for cell in Cell::all() {
            let applies = cell.does_not_apply().is_none();
            if applies && settings.last() != Some(&cell.setting()) {
                settings.push(cell.setting());
            }
        }
        settings
    }

    /// Its cells, world by world.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        let Self { design, fenced, retention, fresh } = self;
        Trouble::ALL
            .into_iter()
            .flat_map(move |trouble| [1, 2].map(|callers| Cell { design, fenced, retention, fresh, callers, trouble }))
    }

    /// The cell that is written as its world, a slash and its number of callers.
    fn cell_named(self, name: &str) -> Option<Cell> {
        self.cells()
            .find(|cell| cell.does_not_apply().is_none() && name == format!("{}/{}", cell.trouble.name(), cell.callers))
    }
}

impl Outcome {
    /// What is said of each promise; nothing, if the cell does not apply.
    pub fn verdicts(&self) -> impl Iterator<Item = (Property, Verdict)> {
        let verdicts = match *self {
            Self::DoesNotApply(_) => None,
            Self::Explored { verdicts, .. } => Some(PROPERTIES.into_iter().zip(verdicts)),
        };
        verdicts.into_iter().flatten()
    }
}

impl Matrix {
    /// Where this matrix and what was expected of it part, cell by cell.
    #[must_use]
    pub fn differences(&self, expected: &Expected) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (&cell, outcome) in &self.outcomes {
            for (property, found) in outcome.verdicts() {
                let expected_violated = expected.is_violated(&cell, property);
                let as_expected = match found {
                    Verdict::Holds => !expected_violated,
                    Verdict::Violated { .. } => expected_violated,
                    Verdict::Inconclusive => false,
                };
                if !as_expected {
                    differences.push(Difference { cell, property, expected_violated, found });
                }
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Expected {
        let mut expected = Expected::default();
        for cell in Cell::all().into_iter().filter(|cell| cell.does_not_apply().is_none()) {
            let violated: BTreeSet<_> =
                PROPERTIES.into_iter().filter(|&property| cell.why_violated(property).is_some()).collect();
            if !violated.is_empty() {
                expected.violated.insert(cell, violated);
            }
        }
        expected
    }

    #[test]
    fn what_is_written_is_read_back() {
        let expected = sample();
        assert!(expected.violated.len() > 100);
        assert_eq!(Expected::parse(&expected.to_string()), Ok(expected));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, line) in [
            ("# fine\n    P1: loss/1", 2),
            ("D7", 1),
            ("D0\n    P1 loss/1", 2),
            ("D0\n    P3: loss/1", 2),
            ("D0\n    P1: loss/3", 2),
            ("D0\n    P1: eviction/2", 2),
            ("D0\n    P1: loss/1\n    P2: loss/1", 3),
        ] {
            assert_eq!(Expected::parse(text).map_err(|error| error.line), Err(line), "{text}");
        }
    }
}
