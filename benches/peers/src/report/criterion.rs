//! What criterion leaves of each benchmark.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// One figure: nanoseconds of one pass, and how many things were done in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) nanos: f64,
    pub(super) elements: Option<u64>,
}

impl Figure {
    /// Nanoseconds for each thing that was done.
    pub(super) fn each(self) -> f64 {
        self.nanos / self.elements.unwrap_or(1) as f64
    }

    pub(super) fn a_second(self) -> f64 {
        1e9 / self.each()
    }
}

/// What a benchmark was run with; numbers in their order, and before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Parameter {
    None,
    Number(u64),
    Word(String),
}

impl Parameter {
    fn read(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::Number(number),
            Err(_) if text.is_empty() => Self::None,
            Err(_) => Self::Word(text.to_owned()),
        }
    }

    /// `1 Mi` for a power of two that is large enough to be one.
    pub(super) fn show(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Number(number) if *number >= 1 << 20 && number % (1 << 20) == 0 => format!("{} Mi", number >> 20),
            Self::Number(number) if *number >= 1 << 10 && number % (1 << 10) == 0 => format!("{} Ki", number >> 10),
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }
}

/// A group's figures, by name and parameter.
pub(super) type Group = BTreeMap<(String, Parameter), Figure>;
pub(super) type Groups = BTreeMap<String, Group>;

/// Every `new/benchmark.json` below a folder, with its estimates beside it. Adds to `groups`.
pub(super) fn collect(folder: &Path, groups: &mut Groups) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name == "new") {
            add(&path, groups).map_err(|error| format!("{}: {error}", path.display()))?;
        } else if path.is_dir() {
            collect(&path, groups)?;
        }
    }
    Ok(())
}

fn add(folder: &Path, groups: &mut Groups) -> Result<(), Box<dyn Error>> {
    let read = |name: &str| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_str(&fs::read_to_string(folder.join(name))?)?)
    };
    let (benchmark, estimates) = (read("benchmark.json")?, read("estimates.json")?);
    let text = |key: &str| benchmark[key].as_str().map(str::to_owned);
    let group = text("group_id").ok_or("a benchmark without a group")?;
    let name = text("function_id").ok_or("a benchmark without a name")?;
    // A name may say what it was run with as well.
    let (name, parameter) = match (text("value_str"), name.rsplit_once('/')) {
        (Some(value), _) => (name, value),
        (None, Some((name, value))) => (name.to_owned(), value.to_owned()),
        (None, None) => (name, String::new()),
    };
    let nanos = estimates["median"]["point_estimate"].as_f64().ok_or("a benchmark without a median")?;
    let elements = benchmark["throughput"]["Elements"].as_u64();
    groups.entry(group).or_default().insert((name, Parameter::read(&parameter)), Figure { nanos, elements });
    Ok(())
}
