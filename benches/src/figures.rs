//! Figures that are no criterion estimates, for the page: tables and plots, in a file that the report reads.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

/// One part of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Parts are sorted by this.
    pub order: u32,
    /// The heading.
    pub title: String,
    /// Markdown: how it was measured, and what was aimed at.
    #[serde(default)]
    pub note: String,
    /// How many cores of what.
    #[serde(default)]
    pub machine: String,
    /// What was measured, as `git` names it.
    #[serde(default)]
    pub commit: String,
    /// The day.
    #[serde(default)]
    pub taken: String,
    /// In the order of the page.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// In the order of the page.
    #[serde(default)]
    pub plots: Vec<Plot>,
    /// What was aimed at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aims: Vec<Aim>,
}

/// What a figure was to be, and is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Aim {
    /// What of.
    pub what: String,
    /// What it is.
    pub figure: String,
    /// What it was to be at most.
    pub aimed: String,
    /// By how much it is more; empty, if it is not.
    pub missed: String,
}

impl Aim {
    /// A figure that was to be at most `bound`.
    #[must_use]
    pub fn at_most(what: &str, figure: f64, bound: f64, show: impl Fn(f64) -> String) -> Self {
        let missed = if figure <= bound { String::new() } else { format!("{:.0} %", (figure / bound - 1.0) * 100.0) };
        Self { what: what.to_owned(), figure: show(figure), aimed: show(bound), missed }
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    #[serde(default)]
    pub caption: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows yet.
    #[must_use]
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        Self { caption: caption.into(), columns: columns.iter().map(|&name| name.into()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has another number of cells than there are columns.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<_> = cells.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column: {row:?}");
        self.rows.push(row);
    }

    /// The table as text: the first column to the left, the others to the right.
    #[must_use]
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]).chain([&self.columns[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let mut text = format!("{}\n", self.caption);
        for row in [&self.columns].into_iter().chain(&self.rows) {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let written = match column {
                    0 => write!(text, "  {cell:<width$}"),
                    _ => write!(text, "  {cell:>width$}"),
                };
                written.unwrap_or_default();
            }
            text.push('\n');
        }
        text
    }
}

/// A plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// The name of the picture's file, without its ending.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// What lies on the horizontal axis, with its unit.
    pub x: String,
    /// What lies on the vertical axis, with its unit.
    pub y: String,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it stands for.
    pub name: String,
    /// Horizontal, vertical.
    pub points: Vec<(f64, f64)>,
}

impl Figures {
    /// A part without tables yet, measured here and now.
    #[must_use]
    pub fn here(order: u32, title: &str, note: &str) -> Self {
        Self {
            order,
            title: title.into(),
            note: note.into(),
            machine: machine(),
            commit: said_by("git", &["rev-parse", "--short", "HEAD"]),
            taken: said_by("date", &["-u", "+%Y-%m-%d"]),
            ..Self::default()
        }
    }

    /// Writes the part where the report looks for it, and says where that is.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str) -> io::Result<PathBuf> {
        let path = target().join("oncemore-figures").join(name).with_extension("json");
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, serde_json::to_string_pretty(self)?)?;
        Ok(path)
    }
}

/// Whether a benchmark is only tried out, as `cargo bench -- --test` does.
#[must_use]
pub fn only_tried() -> bool {
    env::args().any(|argument| argument == "--test")
}

/// Cargo's target folder: that of the variable, or that of the package at work.
#[must_use]
pub fn target() -> PathBuf {
    let own = || env::current_exe().ok()?.ancestors().find(|folder| folder.ends_with("target")).map(Path::to_path_buf);
    env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).or_else(own).unwrap_or_else(|| "target".into())
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    format!("{cores} cores of {}", model.trim_start_matches([' ', '\t', ':']))
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let said = Command::new(program).args(arguments).output();
    said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("both", &["what", "much"]);
        table.row(["a".into(), "1".into()]);
        table.row(["longer".into(), "12345".into()]);
        assert_eq!(table.text(), "both\n  what     much\n  a           1\n  longer  12345\n");
    }
}
