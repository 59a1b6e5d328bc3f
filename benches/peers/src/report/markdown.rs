//! Sections as they stand in the page.

use std::fmt::Write as _;

use crate::figures::{Aim, Figures, Table};

/// A section; where and when it was taken is said only if that was elsewhere than the page's.
pub(super) fn section(section: &Figures, machine: &str, commit: &str) -> String {
    let mut text = format!("## {}\n\n", section.title);
    if !section.note.trim().is_empty() {
        text.push_str(&format!("{}\n\n", wrapped(section.note.trim())));
    }
    let elsewhere = !section.machine.is_empty() && section.machine != machine;
    let another = !section.commit.is_empty() && section.commit != commit;
    if elsewhere || another {
        let on = if elsewhere { format!(", with {}", section.machine) } else { String::new() };
        text.push_str(&format!("Taken on {} at commit {}{on}.\n\n", section.taken, section.commit));
    }
    section.tables.iter().for_each(|each| text.push_str(&table(each)));
    for plot in &section.plots {
        text.push_str(&format!("![{}](benchmarks/{}.svg)\n\n", plot.title, plot.file));
    }
    text
}

pub(super) fn table(table: &Table) -> String {
    let mut text = String::new();
    if !table.caption.is_empty() {
        text.push_str(&format!("{}\n\n", wrapped(&table.caption)));
    }
    text.push_str(&row(&table.columns));
    text.push_str(&format!("|{}\n", "---|".repeat(table.columns.len())));
    table.rows.iter().for_each(|cells| text.push_str(&row(cells)));
    text.push('\n');
    text
}

fn row(cells: &[String]) -> String {
    let mut text = "|".to_owned();
    for cell in cells {
        let cell = cell.replace('|', "\\|").replace('\n', " ");
        write!(text, " {cell} |").ok();
    }
    text.push('\n');
    text
}

/// All aims, and which were missed by how much.
pub(super) fn aims(aims: &[Aim]) -> String {
    if aims.is_empty() {
        return String::new();
    }
    let row = |aim: &Aim| vec![aim.what.clone(), aim.figure.clone(), aim.aimed.clone(), aim.missed.clone()];
    let columns = ["aim", "figure", "at most", "missed by"].map(str::to_owned).to_vec();
    let rows = aims.iter().map(row).collect();
    format!("## Aims\n\n{}", table(&Table { caption: String::new(), columns, rows }))
}

/// Lines of at most 130 characters, in paragraphs. What is laid out as a list or as code stays as it is.
fn wrapped(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        if paragraph.lines().any(|line| line.starts_with(['*', '-', '|', ' ', '`', '#'])) && paragraph.contains('\n') {
            return paragraph.to_owned();
        }
        let mut lines = vec![String::new()];
        for word in paragraph.split_whitespace() {
            let last = lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= 130);
            match last {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) => line.push_str(&format!(" {word}")),
                None => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}
