//! The page `docs/benchmarks.md`, from what criterion has measured and from the sections that other programs have left.
//!
//! Nothing is measured here. What the page says above [`MARK`] is written by hand and stays.

mod criterion;
mod drawing;
mod known;
mod markdown;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::figures::{FOLDER, Figures};

/// What is before the figures in the page, and stays.
pub const MARK: &str = "<!-- From here on the page is written by a command. -->";

/// Writes the page and its drawings. Returns how many sections it has.
///
/// # Errors
/// If there is nothing to report, something that was measured cannot be understood, or a file cannot be written.
pub fn write() -> Result<usize, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    write_from(&targets(&root), &root.join("docs"))
}

/// Where what was measured may lie: in the one folder that everything is built in, or in each package's own.
fn targets(root: &Path) -> Vec<PathBuf> {
    if let Some(one) = env::var_os("CARGO_TARGET_DIR") {
        return vec![one.into()];
    }
    ["", "benches/peers", "benches/calls", "benches/instructions"].map(|part| root.join(part).join("target")).to_vec()
}

fn write_from(targets: &[PathBuf], docs: &Path) -> Result<usize, Box<dyn Error>> {
    let mut sections = Vec::new();
    let mut groups = criterion::Groups::new();
    for target in targets {
        criterion::collect(&target.join("criterion"), &mut groups)?;
        read_sections(&target.join(FOLDER), &mut sections)?;
    }
    let aims = known::aims(&groups).into_iter().chain(sections.iter().flat_map(|section| section.aims.clone()));
    let aims = markdown::aims(&aims.collect::<Vec<_>>());
    sections.extend(groups.iter().map(|(name, group)| known::section(name, group)));
    if sections.is_empty() {
        return Err("there is nothing to report: run `cargo bench` first".into());
    }
    sections.sort_by(|one, other| (one.order, &one.title).cmp(&(other.order, &other.title)));
    let page = docs.join("benchmarks.md");
    let text = fs::read_to_string(&page)?;
    let (head, _) =
        text.split_once(MARK).ok_or("docs/benchmarks.md has lost the line that says where the figures begin")?;
    draw(&sections, &docs.join("benchmarks"))?;
    let Figures { machine, commit, taken, .. } = Figures::here(0, "", "");
    let taken = format!("Written on {taken} at commit {commit}, with {machine}. Times are medians unless said.");
    let body: String = sections.iter().map(|section| markdown::section(section, &machine, &commit)).collect();
    fs::write(&page, format!("{head}{MARK}\n\n{taken}\n\n{aims}{body}").trim_end().to_owned() + "\n")?;
    Ok(sections.len())
}

/// What other programs have written, each a file.
fn read_sections(folder: &Path, sections: &mut Vec<Figures>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let in_it = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let section: Figures = serde_json::from_str(&fs::read_to_string(&path)?).map_err(|error| in_it(&error))?;
        check(&section).map_err(|error| in_it(&error))?;
        sections.push(section);
    }
    Ok(())
}

/// Whether a section can be shown.
fn check(section: &Figures) -> Result<(), String> {
    if section.tables.is_empty() && section.plots.is_empty() {
        return Err("it has neither tables nor plots".to_owned());
    }
    for table in &section.tables {
        if let Some(row) = table.rows.iter().find(|row| row.len() != table.columns.len()) {
            return Err(format!("a row of {} cells under {} columns: {row:?}", row.len(), table.columns.len()));
        }
    }
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    match section.plots.iter().find(|plot| plot.file.is_empty() || !plain(&plot.file)) {
        Some(plot) => Err(format!("{:?} is no name for a drawing: letters, digits and hyphens", plot.file)),
        None => Ok(()),
    }
}

/// Makes the drawings, and takes away those that nothing shows any more.
fn draw(sections: &[Figures], folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut drawn = BTreeSet::new();
    for plot in sections.iter().flat_map(|section| &section.plots) {
        let path = folder.join(&plot.file).with_extension("svg");
        fs::write(&path, drawing::svg(plot)?)?;
        if !drawn.insert(path.clone()) {
            return Err(format!("two drawings are called {}", plot.file).into());
        }
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "svg") && !drawn.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
