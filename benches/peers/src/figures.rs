//! Figures that criterion does not take: how they are written down, and what they are taken with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use std::{env, fs, io};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A section of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Where it stands: those with small numbers first.
    pub order: i64,
    /// Its heading.
    pub title: String,
    /// How it was measured, what was aimed at, and what was missed; in Markdown.
    #[serde(default)]
    pub note: String,
    /// What it was measured on.
    #[serde(default)]
    pub machine: String,
    /// What was measured.
    #[serde(default)]
    pub commit: String,
    /// When.
    #[serde(default)]
    pub taken: String,
    /// The figures.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// The figures, drawn.
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

/// A table, its cells ready to be printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What stands above it.
    #[serde(default)]
    pub caption: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

/// A drawing of several lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Its file's name, without folder and ending.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// What lies along the bottom, with its unit.
    pub x: String,
    /// What goes upwards, with its unit.
    pub y: String,
    /// Whether equal steps to the right are equal factors.
    #[serde(default)]
    pub log_x: bool,
    /// Whether equal steps upwards are equal factors.
    #[serde(default)]
    pub log_y: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// One line of a drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Section {
    /// A section that says of itself where and when it was taken.
    #[must_use]
    pub fn taken_now(order: i64, title: &str, note: &str) -> Self {
        Self {
            order,
            title: title.to_owned(),
            note: note.to_owned(),
            machine: machine(),
            commit: commit(),
            taken: today(),
            ..Self::default()
        }
    }

    /// Writes it to where the report looks for it; unless it was only tried, and its figures are none.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, name: &str) -> io::Result<()> {
        if only_tried() {
            return Ok(());
        }
        let folder = target().join(FOLDER);
        fs::create_dir_all(&folder)?;
        let path = folder.join(name).with_extension("json");
        fs::write(&path, serde_json::to_string_pretty(self)? + "\n")?;
        println!("{}", path.display());
        Ok(())
    }
}

/// Where in a target folder the sections lie.
pub const FOLDER: &str = "oncemore-figures";

/// Where this package is built.
#[must_use]
pub fn target() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from)
}

/// The processor, and how much of it there is.
#[must_use]
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
    format!("{cores} cores of {}", model.trim_start_matches([' ', '\t', ':']))
}

/// The commit that this repository is at, and whether it was changed since.
#[must_use]
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".to_owned() };
    // The page itself may lie there changed: it is what a report writes.
    let changed = git(&["status", "--porcelain", "--untracked-files=no", ":/", ":!/docs"]);
    if changed.is_none_or(|changed| changed.is_empty()) { commit } else { format!("{commit} with changes") }
}

/// Today, in UTC (Hinnant's `civil_from_days`).
#[must_use]
pub fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

fn date(days_since_1970: u64) -> String {
    let days = days_since_1970 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let march_based = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_based + 2) / 5 + 1;
    let month = if march_based < 10 { march_based + 3 } else { march_based - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// What this thread has used of the processor so far.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// What this process has in memory now. Linux: the second number of `statm`, in pages.
#[must_use]
pub fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default();
    pages * rustix::param::page_size() as u64
}

/// Whether a benchmark is only tried out, as `cargo bench -- --test` does.
#[must_use]
pub fn only_tried() -> bool {
    env::args().any(|argument| argument == "--test")
}

/// `1.2 µs`.
#[must_use]
pub fn time(nanos: f64) -> String {
    match nanos {
        _ if nanos < 999.5 => format!("{nanos:.1} ns"),
        _ if nanos < 999.5e3 => format!("{:.2} µs", nanos / 1e3),
        _ if nanos < 999.5e6 => format!("{:.2} ms", nanos / 1e6),
        _ => format!("{:.2} s", nanos / 1e9),
    }
}

/// `1.2 M`.
#[must_use]
pub fn count(rate: f64) -> String {
    match rate {
        _ if rate < 9_999.5 => format!("{rate:.0}"),
        _ if rate < 999.5e3 => format!("{:.0} k", rate / 1e3),
        _ => format!("{:.1} M", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_787), "2026-11-30");
    }

    #[test]
    fn a_section_may_leave_out_what_it_does_not_have() {
        let section: Section = serde_json::from_str(r#"{"order": 3, "title": "calls"}"#).unwrap();
        assert_eq!(section, Section { order: 3, title: "calls".into(), ..Section::default() });
    }

    #[test]
    fn figures_are_short() {
        assert_eq!([time(3.44), time(1500.0), time(2.5e6), time(3e9)], ["3.4 ns", "1.50 µs", "2.50 ms", "3.00 s"]);
        assert_eq!([count(12.0), count(12_345.0), count(1.25e7)], ["12", "12 k", "12.5 M"]);
    }

    #[test]
    fn a_thread_s_time_goes_on() {
        let before = thread_time();
        let mut sum = 0u64;
        while thread_time() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(thread_time() > before);
    }
}
