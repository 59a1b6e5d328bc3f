//! `--bless`: the counts found are those expected from now on.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use oncemore_model::explore::Coverage;
use oncemore_model::judge::{Pinned, pinned};
use oncemore_model::scenario::find;

use super::Checked;
use crate::select::Origin;

/// The file, seen from the top of the repository.
const FILE: &str = "model/expected/counts.json";

/// Where the file is: here, or in a folder above.
pub(super) fn file() -> Result<PathBuf, String> {
    let here = env::current_dir().map_err(|error| format!("--bless: there is no current folder: {error}"))?;
    let found = here.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file());
    found.ok_or_else(|| format!("--bless: there is no {FILE} here, nor in a folder above"))
}

/// Writes down the counts of what was exhausted, leaves those of the rest, and forgets what is no longer in the library.
pub(super) fn bless(file: &PathBuf, checked: &[Checked]) -> Result<String, String> {
    let mut counts = pinned().clone();
    counts.retain(|name, _| find(name).is_some());
    let blessed = checked.iter().filter(|checked| {
        checked.selected.origin == Origin::Library && checked.judgement.coverage == Coverage::Exhausted
    });
    for Checked { selected, judgement, .. } in blessed {
        counts.insert(selected.scenario.name.clone(), judgement.counts.into());
    }
    let changed = counts.iter().filter(|&(name, now)| pinned().get(name) != Some(now)).count();
    fs::write(file, text(&counts)).map_err(|error| format!("{FILE}: cannot be written: {error}"))?;
    Ok(format!(
        "{FILE}: {} scenarios, {changed} of them new or changed; build again to check against it\n",
        counts.len()
    ))
}

/// One scenario a line, so that a change is seen where it is.
fn text(counts: &BTreeMap<String, Pinned>) -> String {
    let mut text = String::from("{");
    for (index, (name, Pinned { unique, generated, depth })) in counts.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n  \"{name}\": {{ \"unique\": {unique}, \"generated\": {generated}, \"depth\": {depth} }}"
        );
    }
    text + "\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let one = Pinned { unique: 1, generated: 2, depth: 3 };
        let counts = BTreeMap::from([("a-b".to_owned(), one), ("c_1".to_owned(), Pinned { unique: 4, ..one })]);
        let read: BTreeMap<String, Pinned> = serde_json::from_str(&text(&counts)).unwrap();
        assert_eq!(read, counts);
        assert_eq!(text(&BTreeMap::new()), "{\n}\n");
    }
}
