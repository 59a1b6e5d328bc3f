//! `oncemore mutants`: the rules, each broken on purpose, and what catches them.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use oncemore_model::explore::{Coverage, ExploreError};
use oncemore_model::mutant::{Broken, Counterexample, Findings, Hunt, Mutant, examine, hunt};
use oncemore_model::property::{Judged, Property};
use serde_json::{Value, json};

use super::{begin, conclude, limits_each, write};
use crate::cli::MutantsArgs;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{BAD, GOOD, OPEN, Output, STRONG, WEAK, complain, styled};
use crate::sink::{Sink, json_text};

/// What is known of one mutant: the hunt, and what the unbroken rules do in the same scenario.
struct Trial {
    hunt: Hunt,
    control: Findings,
}

/// What became of a mutant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Caught,
    /// The search was cut before it found anything.
    Unknown,
    Missed,
    /// The unbroken rules break the same promise there, so that the catch proves nothing.
    NoProof,
}

impl Trial {
    fn fate(&self) -> Fate {
        let property = self.hunt.mutant.property();
        if self.control.violated.contains_key(&property) {
            Fate::NoProof
        } else if !self.hunt.caught() {
            if self.hunt.findings.coverage == Coverage::Exhausted { Fate::Missed } else { Fate::Unknown }
        } else if self.control.coverage == Coverage::Exhausted {
            Fate::Caught
        } else {
            Fate::Unknown
        }
    }

    const fn exit(fate: Fate) -> Exit {
        match fate {
            Fate::Caught => Exit::AsExpected,
            Fate::Unknown => Exit::Cut,
            Fate::Missed | Fate::NoProof => Exit::NotAsExpected,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &MutantsArgs) -> Exit {
    let sink = match begin(&args.report) {
        Ok(sink) => sink,
        Err(exit) => return exit,
    };
    let mut output = Output::new(sink.as_ref().is_some_and(Sink::is_stdout));
    let began = Instant::now();
    let trials = match trials(args) {
        Ok(trials) => trials,
        Err(problem) => {
            complain([problem]);
            return Exit::NotAsExpected;
        }
    };
    output.print(&table(&trials));
    output.print(&by_property(&trials));
    output.print(&totals(&trials, began));
    let written =
        write(sink, &mut output, || json_text(&json!({ "mutants": trials.iter().map(to_json).collect::<Vec<_>>() })));
    let exit = trials.iter().map(|trial| Trial::exit(trial.fate())).max().unwrap_or_default();
    // A cut search may still have found the mutant that breaks a promise: then it is open whether there is none.
    let is_cut = interrupt::is_set() || trials.iter().any(|trial| trial.fate() == Fate::Unknown);
    let exit = match (unguarded(&trials).is_empty(), is_cut) {
        (_, true) => exit.max(Exit::Cut),
        (false, false) => exit.max(Exit::NotAsExpected),
        (true, false) => exit,
    };
    conclude(&output, exit.max(written))
}

/// Hunts all mutants, several at a time, each by one thread.
fn trials(args: &MutantsArgs) -> Result<Vec<Trial>, ExploreError> {
    let limits = limits_each(&args.explore);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || -> Result<(), ExploreError> {
        while let Some(&mutant) = Mutant::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let trial = Trial {
                hunt: hunt(mutant, &limits)?,
                control: examine(&mutant.scenario(), Broken::default(), &limits)?,
            };
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(trial);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..args.explore.threads().get()).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let mut trials = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    trials.sort_by_key(|trial| trial.hunt.mutant);
    Ok(trials)
}

/// A line for each mutant.
fn table(trials: &[Trial]) -> String {
    let width = trials.iter().map(|trial| trial.hunt.mutant.name().len()).max().unwrap_or(0);
    let heading = format!(
        "       {:width$}  {:<9}  {:<3}  {:>5}  {:>8}  what it does\n",
        "mutant", "breaks", "by", "steps", "states"
    );
    let mut text = styled(WEAK, &heading);
    for trial in trials {
        let mutant = trial.hunt.mutant;
        let fate = match trial.fate() {
            Fate::Caught => styled(GOOD, "ok    "),
            Fate::Unknown => styled(OPEN, "cut   "),
            Fate::Missed => styled(BAD, "MISSED"),
            Fate::NoProof => styled(BAD, "VOID  "),
        };
        let steps = trial.hunt.catch().map_or_else(|| "-".to_owned(), |catch| catch.len().to_string());
        let name = styled(STRONG, &format!("{:width$}", mutant.name()));
        let _ = writeln!(
            text,
            "{fate} {name}  {:<9}  {:<3}  {steps:>5}  {:>8}  {}",
            mutant.rule(),
            mutant.property().name(),
            trial.hunt.findings.states,
            mutant.about(),
        );
    }
    text.push('\n');
    text
}

/// The promises that a mutant can break: those that are judged in every state, and L1.
fn breakable() -> impl Iterator<Item = Property> {
    Property::ALL.iter().copied().filter(|property| match property.judged() {
        Judged::InEveryState(_) | Judged::OnTheGraph => true,
        Judged::ByTransition(_) | Judged::ByCoverage => false,
    })
}

/// For each promise, which mutants break it.
fn by_property(trials: &[Trial]) -> String {
    let mut text = String::new();
    for property in breakable() {
        let breaking: Vec<&str> = trials
            .iter()
            .filter(|trial| trial.hunt.findings.violated.contains_key(&property))
            .map(|trial| trial.hunt.mutant.name())
            .collect();
        let first = format!("{:<4}{:>3}  ", property.name(), breaking.len());
        let names = if breaking.is_empty() {
            "by none: nothing shows that this check can fail".to_owned()
        } else {
            breaking.join(", ")
        };
        text.push_str(&crate::report::hang(&first, &names, 118));
    }
    text.push('\n');
    text
}

/// The promises that no mutant breaks: nothing shows that their checks can fail.
fn unguarded(trials: &[Trial]) -> Vec<Property> {
    breakable()
        .filter(|property| !trials.iter().any(|trial| trial.hunt.findings.violated.contains_key(property)))
        .collect()
}

fn totals(trials: &[Trial], began: Instant) -> String {
    let caught = trials.iter().filter(|trial| trial.fate() == Fate::Caught).count();
    let states: u64 = trials.iter().map(|trial| trial.hunt.findings.states + trial.control.states).sum();
    let guarded = breakable().count() - unguarded(trials).len();
    format!(
        "{caught} of {} mutants caught, in scenarios in which the unbroken rules keep the promise; {guarded} of {} promises \
         are broken by some mutant\n{states} states in {:.1} s\n",
        Mutant::ALL.len(),
        breakable().count(),
        began.elapsed().as_secs_f64(),
    )
}

fn to_json(trial: &Trial) -> Value {
    let mutant = trial.hunt.mutant;
    json!({
        "name": mutant.name(),
        "rule": mutant.rule(),
        "caught": trial.fate() == Fate::Caught,
        "property": mutant.property().name(),
        "scenario": mutant.scenario().name,
        "trace_length": trial.hunt.catch().map(Counterexample::len),
        "violated": trial.hunt.findings.violated.keys().map(|property| property.name()).collect::<Vec<_>>(),
    })
}
