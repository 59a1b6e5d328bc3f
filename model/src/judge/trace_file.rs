//! Runs in files: everything that is needed to run them again elsewhere, later.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::replay::replay_alone;
use super::{Answer, Divergence, Ending, Finding, Question, Run, replay};
use crate::model::Model;
use crate::mutant::{Broken, Mutant};
use crate::property::Property;
use crate::scenario::{Scenario, ScenarioError};

/// The one version that there is of the format.
const FORMAT: &str = "oncemore-trace/1";

/// A run, its scenario and what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// The format and its version.
    pub format: String,
    /// The scenario, in full.
    pub scenario: Scenario,
    /// The mutant whose rule was broken; none if it was the specification.
    pub mutant: Option<String>,
    /// The property.
    pub property: String,
    /// What it claims.
    pub claim: String,
    /// What the run shows of it.
    pub verdict: Answer,
    /// The run.
    pub run: Run,
}

/// Why a trace does not say the same again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It is not of a form that can be replayed.
    #[error("its format is `{found}`, but must be `{FORMAT}`")]
    Format {
        /// What it says of its format.
        found: String,
    },
    /// Its scenario makes no sense.
    #[error("its scenario makes no sense: {0}")]
    Scenario(#[from] ScenarioError),
    /// There is no such mutant.
    #[error("there is no mutant `{0}`")]
    UnknownMutant(String),
    /// Its scenario does not raise such a question.
    #[error("its scenario does not ask `{0}`")]
    UnknownProperty(String),
    /// It goes another way.
    #[error(transparent)]
    Divergence(#[from] Divergence),
}

impl ReplayError {
    /// Whether the trace was run and said something else, rather than being none that could be run.
    #[must_use]
    pub const fn is_divergence(&self) -> bool {
        matches!(self, Self::Divergence(_))
    }
}

impl TraceFile {
    /// The file for a finding, if it has a run.
    #[must_use]
    pub fn new(scenario: &Scenario, broken: Broken, finding: &Finding) -> Option<Self> {
        Some(Self {
            format: FORMAT.to_owned(),
            scenario: scenario.clone(),
            mutant: broken.0.map(|mutant| mutant.name().to_owned()),
            property: finding.question.id.to_owned(),
            claim: finding.question.claim.to_owned(),
            verdict: finding.answer,
            run: finding.run.clone()?,
        })
    }

    /// The file for a run that somebody made by hand, and what it shows.
    #[must_use]
    pub fn of_run(scenario: &Scenario, broken: Broken, run: Run, shown: Option<(Property, Answer)>) -> Self {
        let (property, verdict) = shown.map_or((None, Answer::Inconclusive), |(it, verdict)| (Some(it), verdict));
        Self {
            format: FORMAT.to_owned(),
            scenario: scenario.clone(),
            mutant: broken.0.map(|mutant| mutant.name().to_owned()),
            property: property.map_or("", Property::name).to_owned(),
            claim: property.map_or("", Property::claim).to_owned(),
            verdict,
            run,
        }
    }

    /// Runs it again.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] if it cannot be run, or does not say the same.
    pub fn replay(&self) -> Result<(), ReplayError> {
        if self.format != FORMAT {
            return Err(ReplayError::Format { found: self.format.clone() });
        }
        let broken = Broken(self.mutant.as_deref().map(mutant).transpose()?);
        let model = Model::new(&self.scenario, broken)?;
        if self.run.ending == Ending::Here {
            return Ok(replay_alone(&model, &self.run)?);
        }
        let question = Question::all_of(&self.scenario, 0).into_iter().find(|question| question.id == self.property);
        let question = question.ok_or_else(|| ReplayError::UnknownProperty(self.property.clone()))?;
        Ok(replay(&model, &question, &self.run)?)
    }
}

fn mutant(name: &str) -> Result<Mutant, ReplayError> {
    let found = Mutant::ALL.iter().copied().find(|mutant| mutant.name() == name);
    found.ok_or_else(|| ReplayError::UnknownMutant(name.to_owned()))
}
