//! Holds measured facts against the code: every row is run, or excused by name with a reason.
//!
//! A row that is neither fails the test. So does an excuse that matches no row, and one for a row that can be run after
//! all; otherwise excuses would outlive what they excuse.

use std::collections::BTreeSet;

use serde_json::Value;

/// One row of a file of facts.
pub(crate) struct Row {
    /// Its name in messages and excuses, unique in the file.
    pub(crate) id: String,
    /// Its data.
    pub(crate) data: Value,
}

/// A row that has no meaning here, and why.
pub(crate) type Excuse = (&'static str, &'static str);

/// The data of one of the files in `facts/`.
pub(crate) fn load(name: &str) -> Value {
    // The runtime holds itself against the same facts.
    let path = format!("{}/../protocol/facts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs every row that is not excused.
///
/// `run` answers `None` if it does not know what the row means, else whether the code agrees with it.
///
/// # Panics
///
/// With everything that is wrong, not only the first.
pub(crate) fn assert_rows(rows: &[Row], excuses: &[Excuse], run: impl Fn(&Row) -> Option<Result<(), String>>) {
    let complaints = complaints(rows, excuses, run);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Everything that is wrong with the rows and the excuses.
pub(crate) fn complaints(
    rows: &[Row],
    excuses: &[Excuse],
    run: impl Fn(&Row) -> Option<Result<(), String>>,
) -> Vec<String> {
    let mut complaints = complaints_about_names(rows, excuses);
    for row in rows {
        let excused = excuses.iter().any(|(id, _)| *id == row.id);
        let complaint = match (run(row), excused) {
            (Some(Ok(())), false) | (None, true) => continue,
            (Some(Err(difference)), false) => difference,
            (Some(_), true) => "is excused, but can be run".to_owned(),
            (None, false) => "is neither run nor excused".to_owned(),
        };
        complaints.push(format!("{}: {complaint}", row.id));
    }
    complaints
}

fn complaints_about_names(rows: &[Row], excuses: &[Excuse]) -> Vec<String> {
    let mut complaints = Vec::new();
    if rows.is_empty() {
        complaints.push("there are no rows".to_owned());
    }
    let mut ids = BTreeSet::new();
    for row in rows {
        if !ids.insert(row.id.as_str()) {
            complaints.push(format!("{}: two rows have this name", row.id));
        }
    }
    let mut excused = BTreeSet::new();
    for (id, reason) in excuses {
        if !ids.contains(id) {
            complaints.push(format!("{id}: the excuse matches no row"));
        }
        if !excused.insert(id) {
            complaints.push(format!("{id}: is excused twice"));
        }
        if reason.trim().is_empty() {
            complaints.push(format!("{id}: is excused without a reason"));
        }
    }
    complaints
}

/// The rows of a JSON array, named by `id`.
pub(crate) fn rows(data: &Value, id: impl Fn(&Value) -> String) -> Vec<Row> {
    let array = data.as_array().expect("an array of rows");
    array.iter().map(|row| Row { id: id(row), data: row.clone() }).collect()
}

/// The text in a field of a row.
#[allow(dead_code, reason = "each file of facts is a test of its own, and not all have fields of text")]
pub(crate) fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("{row}: no text in {field}"))
}
