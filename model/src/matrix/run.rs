use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use oncemore_protocol::rule::Branch;
use oncemore_protocol::store::ClaimStore;

use super::still::Still;
use super::{Cell, Matrix, Outcome, PROPERTIES, Trouble, Verdict};
use crate::explore::{BreadthFirst, Coverage, Engine, ExploreError, Limits};
use crate::model::Model;
use crate::mutant::Broken;
use crate::property::Judged;
use crate::scenario::{Scenario, ScenarioError};

/// Makes the model of a cell's scenario.
pub type Build<'a, S> = dyn Fn(&Scenario) -> Result<Model<S>, ScenarioError> + Sync + 'a;

/// What has been worked off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cells that have their verdicts.
    pub cells: usize,
    /// Cells in all.
    pub cells_max: usize,
    /// States explored for them.
    pub states: u64,
}

/// Why there is no matrix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// An exploration may not be trusted.
    #[error("{cell}: {source}")]
    Explore {
        /// The cell.
        cell: Cell,
        /// Why not.
        source: ExploreError,
    },
    /// A store's author has built a model that its scenario does not allow.
    #[error("{cell}: {source}")]
    Scenario {
        /// The cell.
        cell: Cell,
        /// What is wrong.
        source: ScenarioError,
    },
}

/// Works off the cells with the designs of Oncemore.
///
/// # Errors
///
/// [`MatrixError::Explore`] if a finding cannot be backed by a run.
pub fn run(
    cells: &[Cell],
    threads: NonZeroUsize,
    limits: &Limits<'_>,
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<Matrix, MatrixError> {
    run_with(cells, threads, limits, &|scenario| Model::new(scenario, Broken::default()), observe)
}

/// Works off the cells with models of another's making, as for a claim store of one's own.
///
/// `threads` cells are explored at a time, each by one thread; `limits` hold for each cell.
///
/// # Errors
///
/// [`MatrixError`], for the first cell that has no answer.
///
/// # Panics
///
/// If a model does.
pub fn run_with<S>(
    cells: &[Cell],
    threads: NonZeroUsize,
    limits: &Limits<'_>,
    model: &Build<'_, S>,
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<Matrix, MatrixError>
where
    S: ClaimStore<Plan: Send + Sync> + Send + Sync,
{
    let jobs = jobs(cells);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Done {
        outcomes: BTreeMap::new(),
        progress: Progress { cells_max: cells.len(), ..Progress::default() },
    });
    let work = || -> Result<(), MatrixError> {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcomes = job.work(limits, model).inspect_err(|_| next.store(jobs.len(), Ordering::Relaxed))?;
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            done.add(outcomes);
            observe(done.progress);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get()).map(|_| scope.spawn(work)).collect();
        let results =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.collect::<Result<(), _>>()
    })?;
    let Done { outcomes, progress } = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Matrix { outcomes, states: progress.states })
}

struct Done {
    outcomes: BTreeMap<Cell, Outcome>,
    progress: Progress,
}

impl Done {
    fn add(&mut self, outcomes: Vec<(Cell, Outcome)>) {
        for (cell, outcome) in outcomes {
            if let Outcome::Explored { states, shared: false, .. } = outcome {
                self.progress.states += states;
            }
            self.outcomes.insert(cell, outcome);
        }
        self.progress.cells = self.outcomes.len();
    }
}

/// Cells that differ in what callers make of a rejected first attempt (C5) and in nothing else.
///
/// The first exploration tells whether the second is needed: if no first attempt was ever rejected, the setting was never
/// read, and the two are the same transition system.
struct Job {
    cells: Vec<Cell>,
}

/// The large ones first, so that no thread is left alone with one in the end.
fn jobs(cells: &[Cell]) -> Vec<Job> {
    let mut jobs: BTreeMap<Cell, Vec<Cell>> = BTreeMap::new();
    for &cell in cells {
        jobs.entry(Cell { fresh: false, ..cell }).or_default().push(cell);
    }
    let mut jobs: Vec<_> = jobs.into_iter().collect();
    jobs.sort_by_key(|(cell, _)| (std::cmp::Reverse((cell.trouble == Trouble::All, cell.callers)), *cell));
    jobs.into_iter().map(|(_, cells)| Job { cells }).collect()
}

impl Job {
    fn work<S>(&self, limits: &Limits<'_>, model: &Build<'_, S>) -> Result<Vec<(Cell, Outcome)>, MatrixError>
    where
        S: ClaimStore<Plan: Send + Sync> + Send + Sync,
    {
        let mut outcomes = Vec::new();
        let mut same = None;
        for &cell in &self.cells {
            let outcome = match (cell.does_not_apply(), same) {
                (Some(why), _) => Outcome::DoesNotApply(why),
                (None, Some(same)) => same,
                (None, None) => {
                    let (outcome, reads_setting) = explore(cell, limits, model)?;
                    same = (!reads_setting).then_some(outcome.shared());
                    outcome
                }
            };
            outcomes.push((cell, outcome));
        }
        Ok(outcomes)
    }
}

/// The outcome of a cell, and whether a first attempt was rejected in it (or might have been beyond a cut).
fn explore<S>(cell: Cell, limits: &Limits<'_>, model: &Build<'_, S>) -> Result<(Outcome, bool), MatrixError>
where
    S: ClaimStore<Plan: Send + Sync> + Send + Sync,
{
    let system = Still(model(&cell.scenario()).map_err(|source| MatrixError::Scenario { cell, source })?);
    let exploration =
        BreadthFirst.explore(&system, limits, &mut |_| {}).map_err(|source| MatrixError::Explore { cell, source })?;
    let verdicts = PROPERTIES.map(|property| {
        let Judged::InEveryState(bit) = property.judged() else {
            return Verdict::Inconclusive;
        };
        match exploration.verdict(bit) {
            crate::explore::Verdict::Holds => Verdict::Holds,
            crate::explore::Verdict::Violated => {
                let steps = exploration.violation(bit).map_or(0, |trace| trace.steps.len());
                Verdict::Violated { steps: u32::try_from(steps).unwrap_or(u32::MAX) }
            }
            crate::explore::Verdict::Inconclusive => Verdict::Inconclusive,
        }
    });
    let cut = match exploration.coverage {
        Coverage::Exhausted => None,
        Coverage::Cut(reason) => Some(reason),
    };
    let rejected = [Branch::FirstRejectionEnds, Branch::FirstRejectionFresh];
    let reads_setting = cut.is_some() || rejected.iter().any(|&branch| exploration.fired.contains(branch as u8));
    Ok((Outcome::Explored { verdicts, states: exploration.counts.states, cut, shared: false }, reads_setting))
}
