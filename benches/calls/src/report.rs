//! What a run leaves behind: tables to read at once, and a file from which a page can be written.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use serde::Serialize;

/// One section of the page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) order: u32,
    pub(crate) title: String,
    /// Markdown.
    pub(crate) note: String,
    pub(crate) machine: String,
    pub(crate) commit: String,
    pub(crate) taken: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) plots: Vec<Plot>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plot {
    /// Without an ending.
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    pub(crate) series: Vec<Series>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
}

impl Report {
    pub(crate) fn new(order: u32, title: &str) -> Self {
        Self {
            order,
            title: title.into(),
            note: String::new(),
            machine: machine(),
            commit: commit(),
            taken: date(SystemTime::now()),
            tables: Vec::new(),
            plots: Vec::new(),
        }
    }

    /// Shows the tables and writes `<target>/oncemore-figures/<name>.json`; figures not to be relied on go into a folder of
    /// their own.
    pub(crate) fn publish(&self, name: &str, quick: bool) -> Result<(), Box<dyn Error>> {
        println!("\n{}: {}, {}, commit {}\n", self.title, self.taken, self.machine, self.commit);
        for table in &self.tables {
            println!("{}", table.text());
        }
        println!("{}\n", self.note);
        let folder = target().join("oncemore-figures").join(if quick { "quick" } else { "" });
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, serde_json::to_string_pretty(self)?)?;
        println!("written to {}", path.display());
        Ok(())
    }
}

impl Table {
    pub(crate) fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        Self { caption: caption.into(), columns: columns.iter().map(|&name| name.into()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<_> = cells.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column: {row:?}");
        self.rows.push(row);
    }

    /// The table as text: the first column to the left, the others to the right.
    fn text(&self) -> String {
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

/// Three significant digits, and more before the point if there are more.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// With a space between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.split_at(usize::from(value < 0.0));
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|start| &digits[start..start + 3]));
    format!("{sign}{}", groups.join(" "))
}

/// Where cargo builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from)
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = if cores == 1 { "1 core".into() } else { format!("{cores} cores") };
    model.map_or(cores.clone(), |(_, name)| format!("{cores} of {}", name.trim()))
}

fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--short", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let commit = git.output().ok().filter(|output| output.status.success());
    let commit = commit.and_then(|output| String::from_utf8(output.stdout).ok());
    commit.map_or_else(|| "unknown".into(), |commit| commit.trim().into())
}

/// The day in Greenwich, as `2026-01-31` (Hinnant's `civil_from_days`, for days since 1970).
fn date(now: SystemTime) -> String {
    let days = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn figures_have_three_digits_and_groups_of_thousands() {
        let shown = [0.0, 0.1234, 1.005, 12.34, 123.4, 1234.5, 1_234_567.0, -4321.0].map(figure);
        assert_eq!(shown, ["0", "0.123", "1.00", "12.3", "123", "1 234", "1 234 567", "-4 321"]);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let day = |seconds| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_798_761_599), "2026-12-31");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("both", &["what", "much"]);
        table.row(["a".into(), "1".into()]);
        table.row(["longer".into(), "12345".into()]);
        assert_eq!(table.text(), "both\n  what     much\n  a           1\n  longer  12345\n");
    }
}
