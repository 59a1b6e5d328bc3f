//! The matrix for people: a row for each claim store, a column for each world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use oncemore_model::matrix::{Cell, Matrix, Outcome, PROPERTIES, Setting, Trouble, Verdict};
use oncemore_model::property::Property;

use crate::output::{BAD, GOOD, OPEN, STRONG, WEAK, styled};

/// What the letters of a cell stand for.
pub(crate) const LEGEND: &str = "\
  ·  all five promises hold          x  an unmarked call runs, or takes effect, twice (P1, P2)
  m  a marked call undoes what came  h  the history of unmarked calls is not linearizable (P13)
     after it (P14)                  n  \"it did not run\" is said of a call that ran (P11)
  ?  cut before there was an answer  (blank)  does not apply";

/// What is known of one row in one world, for one caller and for two together.
#[derive(Clone, Debug, Default)]
struct Entry {
    asked: bool,
    open: bool,
    violated: BTreeSet<Property>,
}

impl Entry {
    fn add(&mut self, outcome: &Outcome) {
        let Outcome::Explored { verdicts, .. } = outcome else { return };
        self.asked = true;
        for (property, verdict) in PROPERTIES.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Holds => {}
                Verdict::Violated { .. } => {
                    self.violated.insert(property);
                }
                Verdict::Inconclusive => self.open = true,
            }
        }
    }

    fn letters(&self) -> String {
        if !self.asked {
            return String::new();
        }
        let twice = self.violated.contains(&Property::P1) || self.violated.contains(&Property::P2);
        let has = |property| self.violated.contains(&property);
        let letters = [(twice, 'x'), (has(Property::P13), 'h'), (has(Property::P14), 'm'), (has(Property::P11), 'n')];
        let mut text: String = letters.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect();
        if self.open {
            text.push('?');
        }
        if text.is_empty() { "·".to_owned() } else { text }
    }
}

/// All rows, in the order of the designs.
fn rows(matrix: &Matrix) -> BTreeMap<Setting, BTreeMap<Trouble, Entry>> {
    let mut rows: BTreeMap<Setting, BTreeMap<Trouble, Entry>> = BTreeMap::new();
    for (cell, outcome) in &matrix.outcomes {
        rows.entry(cell.setting()).or_default().entry(cell.trouble).or_default().add(outcome);
    }
    rows.retain(|_, row| row.values().any(|entry| entry.asked));
    rows
}

/// The table: the rows that differ from the default in little, the default's own among them, or all rows.
pub(crate) fn table(matrix: &Matrix, all: bool) -> String {
    let rows = rows(matrix);
    let mut text = heading();
    let plain =
        |setting: &Setting| setting.retention == Setting::DEFAULT.retention && setting.fresh == Setting::DEFAULT.fresh;
    let mut left_out = 0;
    for (setting, row) in &rows {
        if all || plain(setting) || row.len() == 1 {
            text.push_str(&line(&setting.to_string(), row, *setting == Setting::DEFAULT));
        } else {
            left_out += 1;
        }
    }
    let _ = writeln!(text, "\n{}", styled(WEAK, LEGEND));
    if left_out > 0 {
        let _ = writeln!(
            text,
            "{left_out} rows with retention `time`, or with `fresh` after a rejected first attempt (C5): --details"
        );
    }
    text.push('\n');
    text
}

/// Two lines of column heads: `restart` over `+late`.
fn heading() -> String {
    let mut lines = [String::new(), String::new()];
    for trouble in Trouble::ALL {
        let (first, second) = trouble.name().split_once('+').map_or((trouble.name(), ""), |(a, b)| (a, b));
        let second = if second.is_empty() { String::new() } else { format!("+{}", short(second)) };
        let _ = write!(lines[0], " {:<5}", short(first));
        let _ = write!(lines[1], " {second:<5}");
    }
    lines.iter().map(|line| format!("{}\n", styled(WEAK, &format!("{:<30}{}", "", line.trim_end())))).collect()
}

/// Five letters are enough to tell the worlds apart.
fn short(name: &str) -> &str {
    match name {
        "duplication" => "dup",
        "restart" => "rst",
        "eviction" => "evict",
        name => name.get(..5).unwrap_or(name),
    }
}

fn line(name: &str, row: &BTreeMap<Trouble, Entry>, strong: bool) -> String {
    let name = format!("{name:<30}");
    let mut text = if strong { styled(STRONG, &name) } else { name };
    for trouble in Trouble::ALL {
        let letters = row.get(&trouble).map(Entry::letters).unwrap_or_default();
        let style = match letters.as_str() {
            "" | "·" => GOOD,
            letters if letters.contains('?') => OPEN,
            _ => BAD,
        };
        let padding = 5usize.saturating_sub(letters.chars().count());
        let shown = if letters.is_empty() { String::new() } else { styled(style, &letters) };
        let _ = write!(text, " {shown}{:padding$}", "");
    }
    format!("{}\n", text.trim_end())
}

/// Every cell with its verdicts, and why it does not apply.
pub(crate) fn details(matrix: &Matrix) -> String {
    let mut text = String::new();
    for (cell, outcome) in &matrix.outcomes {
        let says = match outcome {
            Outcome::DoesNotApply(why) => styled(WEAK, why),
            Outcome::Explored { verdicts, states, .. } => {
                let said = PROPERTIES.into_iter().zip(verdicts).map(|(property, verdict)| says(property, *verdict));
                format!("{}  {states} states", said.collect::<Vec<_>>().join(" "))
            }
        };
        let name = if cell.does_not_apply().is_some() { "-".to_owned() } else { cell.scenario().name };
        let _ = writeln!(text, "{name:<34} {cell}: {says}");
    }
    text.push_str("\nA cell's run: oncemore check NAME, with the name in front.\n\n");
    text
}

fn says(property: Property, verdict: Verdict) -> String {
    let name = property.name();
    match verdict {
        Verdict::Holds => styled(GOOD, &format!("{name} holds")),
        Verdict::Violated { steps } => styled(BAD, &format!("{name} violated in {steps} steps")),
        Verdict::Inconclusive => styled(OPEN, &format!("{name} inconclusive")),
    }
}

/// `docs/verdicts.md`: the same for reading, with reasons, and without a word about time.
pub(crate) fn markdown(matrix: &Matrix) -> String {
    let mut text = String::from(PREFACE);
    for design in oncemore_designs(matrix) {
        let _ = writeln!(text, "\n## {design}\n");
        text.push_str(&markdown_head());
        for (setting, row) in rows(matrix).iter().filter(|(setting, _)| setting.design.name() == design) {
            let name =
                if *setting == Setting::DEFAULT { format!("**{setting}** (the default)") } else { setting.to_string() };
            let cells = Trouble::ALL.map(|trouble| row.get(&trouble).map(Entry::letters).unwrap_or_default());
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        text.push_str(&reasons(matrix, design));
    }
    text.push_str(&does_not_apply(matrix));
    text
}

const PREFACE: &str = "\
# Verdicts

Written by `oncemore matrix --write docs/verdicts.md`; CI checks that it is current.

Every design of the claim store, fenced or not, with each way to forget and each answer to a rejected first attempt (C5), in every
world, with one caller and with two. Each cell was explored exhaustively for P1, P2, P11, P13 and P14: a letter says that a run
breaks a promise for one caller or for two, a dot that all five hold.

No window of retention `time` ends in these cells, and no cutoff falls: they ask what a window that is long enough is worth. How
long is long enough is asked by the scenarios `window-long-enough`, `window-too-short` and `case_11`.

| | |
|---|---|
| `·` | all five hold |
| `x` | an unmarked call runs, or takes effect, twice (P1, P2); with D5, fenced, a marked call takes effect twice (P2) |
| `h` | the history of what unmarked calls alone write is not linearizable (P13) |
| `m` | a marked call undoes what came after it (P14) |
| `n` | \"it did not run\" is said of a call that ran (P11) |
| `?` | cut before there was an answer |
| | does not apply |
";

fn oncemore_designs(matrix: &Matrix) -> Vec<&'static str> {
    let designs: BTreeSet<_> = matrix.outcomes.keys().map(|cell| cell.design).collect();
    designs.into_iter().map(|design| design.name()).collect()
}

fn markdown_head() -> String {
    let names = Trouble::ALL.map(Trouble::name);
    format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

/// Why promises are broken, with the worlds in which they are.
fn reasons(matrix: &Matrix, design: &str) -> String {
    let mut reasons: BTreeMap<&'static str, BTreeSet<&'static str>> = BTreeMap::new();
    let cells = matrix.outcomes.iter().filter(|(cell, _)| cell.design.name() == design);
    for (cell, outcome) in cells {
        let Outcome::Explored { verdicts, .. } = outcome else { continue };
        for (property, verdict) in PROPERTIES.into_iter().zip(verdicts) {
            if let (Verdict::Violated { .. }, Some(why)) = (verdict, cell.why_violated(property)) {
                reasons.entry(why).or_default().insert(property.name());
            }
        }
    }
    let mut text = String::new();
    if !reasons.is_empty() {
        text.push('\n');
    }
    for (why, properties) in reasons {
        let properties: Vec<_> = properties.into_iter().collect();
        let _ = writeln!(text, "* {}: {why}", properties.join(", "));
    }
    text
}

fn does_not_apply(matrix: &Matrix) -> String {
    let reasons: BTreeSet<&str> = matrix.outcomes.keys().filter_map(Cell::does_not_apply).collect();
    let mut text = String::from("\n## Where a cell does not apply\n\n");
    for reason in reasons {
        let _ = writeln!(text, "* {reason}");
    }
    text
}
