//! `oncemore check`: explores scenarios, and says of each what holds and what does not.

mod bless;
mod traces;

use std::path::PathBuf;
use std::time::Instant;

use oncemore_model::explore::{BreadthFirst, Coverage};
use oncemore_model::judge::{JudgeError, JudgeOptions, Judgement, Pinned, Question, judge, pinned};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::property::Property;

use self::traces::TraceWish;
use super::{conclude, limits};
use crate::cli::CheckArgs;
use crate::exit::Exit;
use crate::output::{Output, complain};
use crate::progress::Progress;
use crate::report::check_json::CheckJson;
use crate::report::totals::{Totals, untaken};
use crate::report::{Layout, check_text};
use crate::select::{Origin, Selected, Selection};
use crate::sink::{Sink, json_text};
use crate::{interrupt, memory};

/// A scenario that was run.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) selected: Selected,
    pub(crate) judgement: Judgement,
    pub(crate) pin: PinCheck,
}

/// A scenario that was not run, since the command was to end.
#[derive(Debug)]
pub(crate) struct NotRun {
    pub(crate) name: String,
    /// What it was to be asked.
    pub(crate) questions: Vec<Question>,
}

impl NotRun {
    fn new(selected: &Selected, args: &CheckArgs) -> Self {
        Self { name: selected.scenario.name.clone(), questions: questions(selected, args) }
    }
}

/// Whether a scenario has as many states as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinCheck {
    /// Nobody knows how many it should have, or not all were seen.
    NotAsked,
    /// It should be known, and is not.
    Missing,
    /// It has.
    Same(Pinned),
    /// It has not.
    Differs { pinned: Pinned, found: Pinned },
}

impl Checked {
    /// How the command ends, as far as this scenario has a say.
    pub(crate) fn exit(&self) -> Exit {
        let is_pinned = matches!(self.pin, PinCheck::NotAsked | PinCheck::Same(_));
        if !is_pinned || !self.judgement.is_as_expected() {
            Exit::NotAsExpected
        } else if self.judgement.is_unanswered() {
            Exit::Cut
        } else {
            Exit::AsExpected
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Exit {
    args.report.color.apply();
    let prepared = match Prepared::new(args) {
        Ok(prepared) => prepared,
        Err(problems) => {
            complain(problems);
            return Exit::Unusable;
        }
    };
    let exit = prepared.run(args);
    exit.unwrap_or_else(|trouble| {
        complain([trouble]);
        Exit::Unusable
    })
}

/// Everything that can be wrong with a command line has been looked at, and is not.
struct Prepared {
    selection: Selection,
    models: Vec<Model>,
    json: Option<Sink>,
    traces: TraceWish,
    /// The file for the counts, if it is to be written.
    blessed: Option<PathBuf>,
    output: Output,
}

impl Prepared {
    fn new(args: &CheckArgs) -> Result<Self, Vec<String>> {
        let selection = Selection::of(&args.scenarios).map_err(|errors| all(&errors))?;
        let models = selection.scenarios.iter().map(|selected| Model::new(&selected.scenario, Broken(None)));
        let models = models.collect::<Result<_, _>>().map_err(|error| all(&[error]))?;
        let blessed = if args.bless { Some(bless::file().map_err(|error| vec![error])?) } else { None };
        let json = args.report.json.as_deref().map(Sink::open).transpose().map_err(|error| all(&[error]))?;
        let traces = TraceWish::new(args.trace, args.trace_out.as_deref()).map_err(|error| all(&[error]))?;
        let is_json_on_stdout = json.as_ref().is_some_and(Sink::is_stdout);
        if is_json_on_stdout && traces.is_on_stdout() {
            return Err(vec![
                "both --json and --trace would write to standard output: give one of them a file".to_owned(),
            ]);
        }
        let output = Output::new(is_json_on_stdout || traces.is_on_stdout());
        Ok(Self { selection, models, json, traces, blessed, output })
    }

    fn run(mut self, args: &CheckArgs) -> Result<Exit, String> {
        let layout = Layout::new(self.selection.scenarios.iter().map(|selected| selected.scenario.name.as_str()));
        let began = Instant::now();
        let deadline = args.explore.timeout.and_then(|timeout| began.checked_add(timeout));
        let mut progress = Progress::new();
        let mut checked = Vec::new();
        let all = self.selection.scenarios.len();
        self.output.print(&check_text::head(layout));
        for (index, (selected, model)) in self.selection.scenarios.iter().zip(&self.models).enumerate() {
            if interrupt::is_set() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
            progress.begin(index, all, &selected.scenario.name);
            let judged = examine(selected, model, args, deadline, &mut progress);
            progress.end();
            match judged {
                Ok(one) => {
                    let with_traces = !self.selection.is_suite && self.traces.is_in_report();
                    self.output.print(&check_text::block(&one, layout, with_traces));
                    checked.push(one);
                }
                Err(error) => {
                    complain([format!("{}: {error}", selected.scenario.name)]);
                    return Ok(Exit::NotAsExpected);
                }
            }
        }
        self.conclude(args, &checked, layout, began)
    }

    /// Says what it all comes to.
    fn conclude(
        mut self,
        args: &CheckArgs,
        checked: &[Checked],
        layout: Layout,
        began: Instant,
    ) -> Result<Exit, String> {
        let not_run: Vec<_> =
            self.selection.scenarios[checked.len()..].iter().map(|selected| NotRun::new(selected, args)).collect();
        for NotRun { name, .. } in &not_run {
            self.output.print(&check_text::not_run(name, layout));
        }
        let is_whole = self.selection.is_suite && not_run.is_empty() && args.properties.is_empty();
        let totals = Totals {
            is_suite: self.selection.is_suite,
            checked,
            not_run: &not_run,
            threads: args.explore.threads().get(),
            elapsed: began.elapsed(),
            untaken: if is_whole { untaken(checked) } else { None },
        };
        self.output.print(&totals.text(layout));
        let written = self.traces.write(&mut self.output, checked, &args.properties, layout);
        self.output.print(&written.map_err(|error| error.to_string())?);
        if let Some(file) = &self.blessed {
            self.output.print(&bless::bless(file, checked)?);
        }
        if let Some(sink) = self.json {
            let json = json_text(&CheckJson::new(&totals));
            sink.write(&mut self.output, &json).map_err(|error| error.to_string())?;
        }
        Ok(conclude(&self.output, totals.exit()))
    }
}

/// Explores one scenario and judges it.
fn examine(
    selected: &Selected,
    model: &Model,
    args: &CheckArgs,
    deadline: Option<Instant>,
    progress: &mut Progress,
) -> Result<Checked, JudgeError> {
    let mut options = JudgeOptions {
        limits: limits(&args.explore, deadline),
        meter: Some(memory::METER),
        observe: &mut |phase, status| progress.observe(phase, status),
    };
    let judgement = judge(model, questions(selected, args), &BreadthFirst, &mut options)?;
    let pin = if args.bless { PinCheck::NotAsked } else { pin(selected, &judgement) };
    Ok(Checked { selected: selected.clone(), judgement, pin })
}

/// What is asked of a scenario: in one of the user's own, P and L should hold, however large it is.
fn questions(selected: &Selected, args: &CheckArgs) -> Vec<Question> {
    let cycle_states_max = match selected.origin {
        Origin::Library => args.max_cycle_states,
        Origin::File => u64::MAX,
    };
    let is_asked =
        |id| args.properties.is_empty() || args.properties.iter().any(|property: &Property| property.name() == id);
    let questions = Question::all_of(&selected.scenario, cycle_states_max).into_iter();
    questions.filter(|question| is_asked(question.id)).collect()
}

fn pin(selected: &Selected, judgement: &Judgement) -> PinCheck {
    if selected.origin == Origin::File || judgement.coverage != Coverage::Exhausted {
        return PinCheck::NotAsked;
    }
    let found = Pinned::from(judgement.counts);
    match pinned().get(&selected.scenario.name) {
        None => PinCheck::Missing,
        Some(&pinned) if pinned == found => PinCheck::Same(pinned),
        Some(&pinned) => PinCheck::Differs { pinned, found },
    }
}

fn all<T: ToString>(problems: &[T]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
