//! Writes the tables of `docs/benchmarks.md` from what criterion has measured: `cargo bench`, then
//! `cargo run -p oncemore-benches --example report`.

#![allow(missing_docs, reason = "a program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// What is before the tables in the page, and stays.
const MARK: &str = "<!-- From here on the page is written by a command. -->";

/// One figure: nanoseconds, and how many things were done in them.
struct Figure {
    nanos: f64,
    elements: Option<u64>,
}

type Figures = BTreeMap<String, BTreeMap<(u64, String), Figure>>;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut figures = Figures::new();
    collect(&target.join("criterion"), &mut figures)?;
    if figures.is_empty() {
        return Err("there is nothing to report: run `cargo bench` first".into());
    }
    let page = root.join("docs/benchmarks.md");
    let text = fs::read_to_string(&page)?;
    let (head, _) =
        text.split_once(MARK).ok_or("docs/benchmarks.md has lost the line that says where the tables begin")?;
    let mut tables = format!("{head}{MARK}\n\n{}\n", taken_on(&root)?);
    for (group, figures) in &figures {
        tables.push_str(&table(group, figures));
    }
    fs::write(&page, tables)?;
    println!("{} groups, in {}", figures.len(), page.display());
    Ok(())
}

/// Every `new/benchmark.json` below a folder, with its estimates beside it.
fn collect(folder: &Path, figures: &mut Figures) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name == "new") {
            add(&path, figures)?;
        } else if path.is_dir() {
            collect(&path, figures)?;
        }
    }
    Ok(())
}

fn add(folder: &Path, figures: &mut Figures) -> Result<(), Box<dyn Error>> {
    let read = |name: &str| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_str(&fs::read_to_string(folder.join(name))?)?)
    };
    let (benchmark, estimates) = (read("benchmark.json")?, read("estimates.json")?);
    let text = |key: &str| benchmark[key].as_str().map(str::to_owned);
    let group = text("group_id").ok_or("a benchmark without a group")?;
    let name = text("function_id").ok_or("a benchmark without a name")?;
    let parameter = text("value_str").unwrap_or_default();
    let nanos = estimates["median"]["point_estimate"].as_f64().ok_or("a benchmark without a median")?;
    let elements = benchmark["throughput"]["Elements"].as_u64();
    // By size first, where the parameter is one.
    let place = parameter.parse().unwrap_or_default();
    let label = if parameter.is_empty() { name } else { format!("{name} / {parameter}") };
    figures.entry(group).or_default().insert((place, label), Figure { nanos, elements });
    Ok(())
}

/// Each figure, beside the fastest of those that it is compared with: the same parameter, or the same end of the name.
fn table(group: &str, figures: &BTreeMap<(u64, String), Figure>) -> String {
    let mut text = format!("## {group}\n\n| | time | a second | of the least |\n|---|---|---|---|\n");
    for ((_, label), figure) in figures {
        let rivals = figures.iter().filter(|((_, other), _)| compared(other) == compared(label));
        let least = rivals.map(|(_, rival)| rival.nanos).fold(f64::INFINITY, f64::min);
        let rate = figure.elements.unwrap_or(1) as f64 * 1e9 / figure.nanos;
        text.push_str(&format!(
            "| {label} | {} | {} | {:.2} |\n",
            time(figure.nanos),
            count(rate),
            figure.nanos / least
        ));
    }
    text.push('\n');
    text
}

/// What two figures must have in common to be compared.
fn compared(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label).trim()
}

fn time(nanos: f64) -> String {
    match nanos {
        _ if nanos < 1e3 => format!("{nanos:.1} ns"),
        _ if nanos < 1e6 => format!("{:.2} µs", nanos / 1e3),
        _ if nanos < 1e9 => format!("{:.1} ms", nanos / 1e6),
        _ => format!("{:.2} s", nanos / 1e9),
    }
}

fn count(rate: f64) -> String {
    match rate {
        _ if rate < 1e4 => format!("{rate:.0}"),
        _ if rate < 1e6 => format!("{:.0} k", rate / 1e3),
        _ => format!("{:.1} M", rate / 1e6),
    }
}

fn taken_on(root: &Path) -> Result<String, Box<dyn Error>> {
    let commit = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root).output()?;
    let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
    let cores = std::thread::available_parallelism()?;
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']);
    Ok(format!(
        "Taken at commit {commit}, with {cores} cores of {model}. Medians; *of the least* compares what stands side by side.\n"
    ))
}
