//! Work that takes longer than a click: checks and searches, beside those who look around.
//!
//! Checks wait in line for each other, and use one core less than there are. A search begins at once on a thread of its own,
//! and takes the place of the one before it.

mod check;
mod search;
mod watched;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use oncemore_model::explore::{Limits, MemoryLimit, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::ApiError;
use super::server::JobLimits;
use super::subject::{Naming, Subject};
use crate::{interrupt, memory};

pub(crate) use search::Goal;

/// How many jobs are remembered.
const JOBS_MAX: usize = 256;

/// What is to be done.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Wish {
    /// Check a scenario, all of it.
    Check { scenario: Naming },
    /// Look for something from where one stands.
    Search {
        scenario: Naming,
        #[serde(default)]
        path: Vec<usize>,
        goal: Goal,
        /// How many states to look at.
        #[serde(default = "states_default")]
        states_max: u64,
        /// How long to look.
        #[serde(default = "seconds_default")]
        seconds: u64,
    },
}

const fn states_default() -> u64 {
    1_000_000
}

const fn seconds_default() -> u64 {
    10
}

/// All jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    threads: NonZeroUsize,
    limits: JobLimits,
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<Job>>>,
    /// Whoever holds it may check.
    turn: Mutex<()>,
    /// The search that is under way, if one is.
    searching: Mutex<Option<Arc<Job>>>,
    /// What checks of the library's scenarios found, by name.
    found: Mutex<BTreeMap<String, Value>>,
}

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    stop: AtomicBool,
    state: Mutex<State>,
}

/// How far a job has come.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct State {
    /// `waiting`, `running`, `done`, `cancelled` or `failed`.
    stage: &'static str,
    scenario: String,
    /// What is being done, in words.
    phase: &'static str,
    states: u64,
    generated: u64,
    depth: u32,
    frontier: u64,
    states_per_second: f64,
    seconds: f64,
    /// What is violated or reached so far.
    seen: Vec<&'static str>,
    result: Value,
}

/// Ends a job whose thread has broken off.
struct Ending(Arc<Job>);

impl Drop for Ending {
    fn drop(&mut self) {
        if matches!(self.0.state().stage, "waiting" | "running") {
            self.0.end(Err(ApiError::Internal("the job broke off: this is a fault of the program".to_owned())));
        }
    }
}

impl Job {
    fn new(scenario: &str) -> Arc<Self> {
        let state = State {
            stage: "waiting",
            scenario: scenario.to_owned(),
            phase: "",
            states: 0,
            generated: 0,
            depth: 0,
            frontier: 0,
            states_per_second: 0.0,
            seconds: 0.0,
            seen: Vec::new(),
            result: Value::Null,
        };
        Arc::new(Self { stop: AtomicBool::new(false), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how far a search has come, and passes an interrupt on.
    fn observe(&self, phase: &'static str, status: &Status, seen: Vec<&'static str>) {
        if interrupt::is_set() {
            self.stop.store(true, Ordering::Relaxed);
        }
        let seconds = status.elapsed.as_secs_f64();
        let mut state = self.state();
        state.phase = phase;
        (state.states, state.generated) = (status.states, status.generated);
        (state.depth, state.frontier) = (status.depth, status.frontier);
        (state.seconds, state.states_per_second) = (seconds, status.states as f64 / seconds.max(1e-3));
        state.seen = seen;
    }

    fn end(&self, result: Result<Value, ApiError>) {
        let mut state = self.state();
        match result {
            Ok(result) => {
                state.stage = if self.stop.load(Ordering::Relaxed) && result["cut"] == "interrupt" {
                    "cancelled"
                } else {
                    "done"
                };
                state.result = result;
            }
            Err(error) => {
                state.stage = "failed";
                state.result = json!({ "error": { "kind": error.kind(), "message": error.to_string() } });
            }
        }
    }
}

impl Jobs {
    pub(crate) fn new(threads: NonZeroUsize, limits: JobLimits) -> Arc<Self> {
        Arc::new(Self {
            threads,
            limits,
            next: AtomicU64::new(1),
            all: Mutex::default(),
            turn: Mutex::default(),
            searching: Mutex::default(),
            found: Mutex::default(),
        })
    }

    /// Begins what is wished for, and says under which number.
    pub(crate) fn begin(self: &Arc<Self>, wish: Wish) -> Result<u64, ApiError> {
        match wish {
            Wish::Check { scenario } => {
                let subject = scenario.subject()?;
                let job = Job::new(&subject.scenario().name);
                let (jobs, doing) = (Arc::clone(self), Arc::clone(&job));
                self.spawn("check", &job, move || jobs.check(&doing, &subject))?;
                Ok(self.remember(job))
            }
            Wish::Search { scenario, path, goal, states_max, seconds } => {
                in_range("`states_max`", states_max, 1, 100_000_000)?;
                in_range("`seconds`", seconds, 1, 3600)?;
                let subject = scenario.subject()?;
                let search = search::Search::new(&subject, &path, &goal)?;
                let job = Job::new(&subject.scenario().name);
                self.replace_search(&job);
                let limits = JobLimits {
                    states_max: Some(states_max),
                    timeout: Some(Duration::from_secs(seconds)),
                    depth_max: None,
                    ..self.limits
                };
                let doing = Arc::clone(&job);
                self.spawn("search", &job, move || {
                    doing.state().stage = "running";
                    let limits = limits_of(&limits, NonZeroUsize::MIN, &doing.stop);
                    doing.end(search.run(&subject, &limits, &doing));
                })?;
                Ok(self.remember(job))
            }
        }
    }

    /// Does a job on a thread of its own. Whatever becomes of that thread, the job ends.
    fn spawn(&self, name: &str, job: &Arc<Job>, work: impl FnOnce() + Send + 'static) -> Result<(), ApiError> {
        let ending = Ending(Arc::clone(job));
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _ending = ending;
            work();
        });
        spawned.map(|_| ()).map_err(|error| ApiError::Internal(error.to_string()))
    }

    fn check(&self, job: &Arc<Job>, subject: &Subject) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if job.stop.load(Ordering::Relaxed) {
            job.state().stage = "cancelled";
            return;
        }
        job.state().stage = "running";
        self.forget_peak();
        let limits = limits_of(&self.limits, self.threads, &job.stop);
        let result = check::check(subject, &limits, self.limits.cycle_states_max, job);
        if let Ok(result) = &result
            && subject.mutant.is_none()
            && oncemore_model::scenario::find(&subject.scenario().name)
                .is_some_and(|it| it.scenario == *subject.scenario())
        {
            let found = check::summary(result);
            let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(subject.scenario().name.clone(), found);
        }
        job.end(result);
    }

    /// What jobs before took at most is no matter of the next one, unless one of them is still at it.
    fn forget_peak(&self) {
        let searching = self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        if searching.as_ref().is_none_or(|search| search.state().stage != "running") {
            (memory::METER.reset)();
        }
    }

    fn replace_search(&self, job: &Arc<Job>) {
        let mut searching = self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = searching.replace(Arc::clone(job)) {
            before.stop.store(true, Ordering::Relaxed);
        }
    }

    fn remember(&self, job: Arc<Job>) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= JOBS_MAX {
            if let Some((_, oldest)) = all.pop_first() {
                oldest.stop.store(true, Ordering::Relaxed);
            }
        }
        all.insert(id, job);
        id
    }

    fn job(&self, id: u64) -> Result<Arc<Job>, ApiError> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&id).cloned().ok_or(ApiError::NoSuchJob(id))
    }

    /// How far a job has come.
    pub(crate) fn status(&self, id: u64) -> Result<State, ApiError> {
        Ok(self.job(id)?.state().clone())
    }

    /// Asks a job to end.
    pub(crate) fn cancel(&self, id: u64) -> Result<(), ApiError> {
        let job = self.job(id)?;
        job.stop.store(true, Ordering::Relaxed);
        let mut state = job.state();
        if state.stage == "waiting" {
            state.stage = "cancelled";
        }
        Ok(())
    }

    /// What a check of this scenario of the library found.
    pub(crate) fn found(&self, name: &str) -> Option<Value> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

fn limits_of<'a>(limits: &JobLimits, threads: NonZeroUsize, stop: &'a AtomicBool) -> Limits<'a> {
    Limits {
        threads,
        states_max: limits.states_max,
        depth_max: limits.depth_max,
        deadline: limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
        memory: limits.bytes_max.map(|bytes_max| MemoryLimit { in_use: memory::in_use, bytes_max }),
        stop: Some(stop),
        stop_at: 0,
    }
}

fn in_range(what: &'static str, found: u64, least: u64, most: u64) -> Result<(), ApiError> {
    if (least..=most).contains(&found) { Ok(()) } else { Err(ApiError::OutOfRange { what, found, least, most }) }
}
