//! What is asked of a scenario, what is expected, and what was found.

use serde::{Deserialize, Serialize};

use super::Run;
use crate::explore::Verdict;
use crate::property::{Judged, Property};
use crate::scenario::Scenario;

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is called, such as `P1`.
    pub id: &'static str,
    /// What it claims, in one sentence.
    pub claim: &'static str,
    /// How it is answered.
    pub ask: Ask,
    /// The answer that is expected; none if every answer is fine.
    pub expected: Option<Answer>,
    /// Why that is expected, if it needs saying.
    pub because: Option<String>,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// By whether some state violates the safety property with this number.
    Safety {
        /// Its bit in [`System::violated`](crate::explore::System::violated).
        property: u32,
    },
    /// By whether some run gets stuck, or goes round for ever, with a goal pending.
    Progress {
        /// Cycles are looked for in spaces of at most so many states.
        cycle_states_max: u64,
    },
    /// By whether some transition fires this tag.
    Reach {
        /// The tag.
        tag: u8,
    },
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// No run violates it, and every run was looked at.
    Holds,
    /// Some run violates it.
    Violated,
    /// Some run reaches it.
    Reached,
    /// No run reaches it, and every run was looked at.
    Unreached,
    /// Nothing was found, and not everything was looked at.
    Inconclusive,
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Violated => Self::Violated,
            Verdict::Inconclusive => Self::Inconclusive,
        }
    }
}

impl Answer {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Reached => "reached",
            Self::Unreached => "unreached",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The answer that was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// To what.
    pub question: Question,
    /// The answer.
    pub answer: Answer,
    /// The run that shows it: a shortest one, but for a cycle.
    pub run: Option<Run>,
    /// What was not looked at, where the answer would otherwise be misread.
    pub reservation: Option<String>,
}

impl Finding {
    /// Whether another answer was expected than the one found. No answer is no surprise.
    #[must_use]
    pub fn is_surprise(&self) -> bool {
        self.answer != Answer::Inconclusive && self.question.expected.is_some_and(|expected| expected != self.answer)
    }

    /// Whether no answer could be given.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer == Answer::Inconclusive
    }

    /// How many steps the run has that shows it.
    #[must_use]
    pub fn trace_length(&self) -> Option<usize> {
        self.run.as_ref().map(|run| run.steps.len())
    }
}

impl Question {
    /// Everything that a scenario raises, in the order of the specification, with what it expects.
    ///
    /// P13 and P14 speak of the object's history, and are asked where the scenario keeps it. L1 is answered in full in
    /// spaces of at most `cycle_states_max` states, and wherever the scenario expects it to be violated; elsewhere no
    /// answer is expected of it. R6 is a matter of all scenarios together.
    #[must_use]
    pub fn all_of(scenario: &Scenario, cycle_states_max: u64) -> Vec<Self> {
        let asked = Property::ALL.iter().filter(|&&property| is_raised(scenario, property));
        asked.filter_map(|&property| Self::of(scenario, property, cycle_states_max)).collect()
    }

    fn of(scenario: &Scenario, property: Property, cycle_states_max: u64) -> Option<Self> {
        let expect = &scenario.expect;
        let id = property.name();
        let is_in = |names: &[String]| names.iter().any(|name| name == id);
        let expects_violation = is_in(&expect.violated);
        let promised = if expects_violation { Answer::Violated } else { Answer::Holds };
        let (ask, expected) = match property.judged() {
            Judged::InEveryState(property) => (Ask::Safety { property }, Some(promised)),
            Judged::OnTheGraph => {
                let cycle_states_max = if expects_violation { u64::MAX } else { cycle_states_max };
                (Ask::Progress { cycle_states_max }, Some(promised))
            }
            Judged::ByTransition(tag) => {
                let reached = is_in(&expect.reached).then_some(Answer::Reached);
                let unreached = is_in(&expect.unreached).then_some(Answer::Unreached);
                (Ask::Reach { tag }, reached.or(unreached))
            }
            Judged::ByCoverage => return None,
        };
        let because = expect.because.get(id).cloned();
        Some(Self { id, claim: property.claim(), ask, expected, because })
    }
}

/// Whether the scenario can violate or reach it at all.
fn is_raised(scenario: &Scenario, property: Property) -> bool {
    !matches!(property, Property::P13 | Property::P14) || scenario.world.history
}
