//! The matrix as a person reads it: the default first, then each design with what is the same said once.

use std::collections::BTreeMap;
use std::fmt;

use oncemore_protocol::design::{Design, Retention};

use super::{Cell, Matrix, Outcome, PROPERTIES, Setting, Trouble, Verdict};
use crate::property::Property;

/// The matrix, told in as few lines as it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What the default design, with the default settings, does not keep, and where. Hopefully nothing.
    pub default: Vec<Exception>,
    /// Whether the default was asked in all of its cells.
    pub default_is_complete: bool,
    /// By design, the settings that are alike in every world.
    pub designs: Vec<(Design, Vec<Group>)>,
    /// Cells that have no answer.
    pub undecided: usize,
}

/// Settings that keep and break the same promises in the same worlds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The settings, all of one design.
    pub settings: Vec<Setting>,
    /// What they do not keep, and where.
    pub exceptions: Vec<Exception>,
}

/// Promises that are broken together, and the worlds where they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exception {
    /// The promises.
    pub properties: Vec<Property>,
    /// The worlds.
    pub places: Vec<Place>,
}

/// A world, with one caller, two, or either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What goes wrong.
    pub trouble: Trouble,
    /// How many callers there must be for it; none if it makes no difference, or is not asked.
    pub callers: Option<u8>,
}

impl Summary {
    /// Sums up a matrix, which need not have all cells.
    #[must_use]
    pub fn of(matrix: &Matrix) -> Self {
        let mut designs: Vec<(Design, Vec<Group>)> = Vec::new();
        for setting in Setting::all() {
            if !setting.cells().any(|cell| matrix.explored(&cell)) {
                continue;
            }
            if designs.last().is_none_or(|(design, _)| *design != setting.design) {
                designs.push((setting.design, Vec::new()));
            }
            let Some((_, groups)) = designs.last_mut() else { continue };
            let exceptions = exceptions(matrix, setting);
            match groups.iter_mut().find(|group| group.exceptions == exceptions) {
                Some(group) => group.settings.push(setting),
                None => groups.push(Group { settings: vec![setting], exceptions }),
            }
        }
        let asked = |cell: Cell| cell.does_not_apply().is_some() || matrix.decided(&cell);
        let undecided = |outcome: &&Outcome| outcome.verdicts().any(|(_, verdict)| verdict == Verdict::Inconclusive);
        Self {
            default: exceptions(matrix, Setting::DEFAULT),
            default_is_complete: Setting::DEFAULT.cells().all(asked),
            designs,
            undecided: matrix.outcomes.values().filter(undecided).count(),
        }
    }
}

impl Matrix {
    fn explored(&self, cell: &Cell) -> bool {
        matches!(self.outcomes.get(cell), Some(Outcome::Explored { .. }))
    }

    /// Whether every promise has an answer there: a cut leaves those open that it did not see broken.
    fn decided(&self, cell: &Cell) -> bool {
        let open = |outcome: &Outcome| outcome.verdicts().any(|(_, verdict)| verdict == Verdict::Inconclusive);
        self.explored(cell) && !self.outcomes.get(cell).is_some_and(open)
    }

    fn violated(&self, cell: &Cell) -> Vec<Property> {
        let verdicts = self.outcomes.get(cell).into_iter().flat_map(Outcome::verdicts);
        verdicts
            .filter(|(_, verdict)| matches!(verdict, Verdict::Violated { .. }))
            .map(|(property, _)| property)
            .collect()
    }
}

/// What a setting does not keep, the worst first.
fn exceptions(matrix: &Matrix, setting: Setting) -> Vec<Exception> {
    let mut by_properties: BTreeMap<Vec<Property>, Vec<Place>> = BTreeMap::new();
    let cells: Vec<_> = setting.cells().filter(|cell| matrix.explored(cell)).collect();
    for trouble in Trouble::ALL {
        let asked: Vec<_> = cells.iter().filter(|cell| cell.trouble == trouble).collect();
        let mut violated: Vec<_> = asked.iter().map(|cell| (matrix.violated(cell), Some(cell.callers))).collect();
        violated.dedup_by(|second, first| {
            let same = first.0 == second.0;
            if same {
                first.1 = None;
            }
            same
        });
        if asked.len() == 1 {
            violated.iter_mut().for_each(|(_, callers)| *callers = None);
        }
        for (properties, callers) in violated.into_iter().filter(|(properties, _)| !properties.is_empty()) {
            by_properties.entry(properties).or_default().push(Place { trouble, callers });
        }
    }
    let mut exceptions: Vec<_> =
        by_properties.into_iter().map(|(properties, places)| Exception { properties, places }).collect();
    exceptions.sort_by_key(|exception| (std::cmp::Reverse(exception.properties.len()), exception.places.clone()));
    exceptions
}

impl Summary {
    /// What may be said of the default, in a sentence or a few lines.
    #[must_use]
    pub fn headline(&self) -> String {
        let names: Vec<_> = PROPERTIES.iter().map(|property| property.name()).collect();
        let (names, default) = (names.join(", "), Setting::DEFAULT);
        match (self.default_is_complete, self.default.is_empty()) {
            (true, true) => format!("The default, {default}, keeps {names} in every world."),
            (false, true) => format!("The default, {default}, has no answer in every world."),
            (_, false) => {
                let exceptions = self.default.iter().map(|exception| format!("\n    {exception}"));
                format!("The default, {default}, does not keep{}", exceptions.collect::<String>())
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        for (design, groups) in &self.designs {
            writeln!(f, "\n{} {}", design.name(), about(*design))?;
            for group in groups {
                writeln!(f, "  {}", Settings(&group.settings))?;
                if group.exceptions.is_empty() {
                    writeln!(f, "      holds everywhere")?;
                }
                group.exceptions.iter().try_for_each(|exception| writeln!(f, "      {exception}"))?;
            }
        }
        if self.undecided > 0 {
            writeln!(f, "\n{} cells are not decided.", self.undecided)?;
        }
        Ok(())
    }
}

const fn about(design: Design) -> &'static str {
    match design {
        Design::None => "remembers nothing",
        Design::VolatileOpen => "remembers in memory, and lets in what it does not know",
        Design::VolatileClock => "remembers in memory, and refuses what was made before it began",
        Design::VolatileIncarnation => "remembers in memory, and refuses what was meant for another incarnation",
        Design::Durable => "remembers in storage",
        Design::DurableResults => "remembers in storage, with results",
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.properties.iter().map(|property| property.name()).collect();
        let places: Vec<_> = self.places.iter().map(Place::to_string).collect();
        write!(f, "{:<16} violated: {}", names.join(" "), places.join(", "))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trouble.name())?;
        match self.callers {
            None => Ok(()),
            Some(1) => f.write_str(" (one caller)"),
            Some(_) => f.write_str(" (two callers)"),
        }
    }
}

/// Some settings of one design in as few words as they can be told apart from the others.
struct Settings<'a>(&'a [Setting]);

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choices = |choose: fn(&Setting) -> &'static str| {
            let mut words: Vec<_> = self.0.iter().map(choose).collect();
            words.sort_unstable();
            words.dedup();
            words
        };
        let choices = [
            choices(|setting| if setting.fenced { "fenced" } else { "unfenced" }),
            choices(|setting| match setting.retention {
                Retention::Watermark => "watermark",
                Retention::Time => "time",
            }),
            choices(|setting| if setting.fresh { "fresh" } else { "fail" }),
        ];
        if self.0.iter().any(|setting| setting.design == Design::None) {
            return f.write_str("as it is");
        }
        if choices.iter().map(Vec::len).product::<usize>() != self.0.len() {
            let each: Vec<_> = self.0.iter().map(|setting| Self(std::slice::from_ref(setting)).to_string()).collect();
            return f.write_str(&each.join("; "));
        }
        let told: Vec<_> =
            choices.iter().filter_map(|words| if let [word] = words[..] { Some(word) } else { None }).collect();
        if told.is_empty() { f.write_str("however it is set") } else { f.write_str(&told.join(", ")) }
    }
}
