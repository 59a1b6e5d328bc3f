//! Which scenario a request is about.

use oncemore_model::model::Model;
use oncemore_model::mutant::{Broken, Mutant};
use oncemore_model::scenario::Scenario;
use oncemore_model::story::Story;
use serde::Deserialize;

use super::error::ApiError;
use crate::select::Selected;

/// The most steps that a run in the page may have.
pub(crate) const STEPS_MAX: usize = 2_000;

/// A scenario, as a request names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Naming {
    /// One of the library, or a cell of the matrix.
    name: Option<String>,
    /// Or one's own, as its file would have it.
    toml: Option<String>,
    /// The rule that is broken on purpose.
    #[serde(default)]
    mutant: Option<String>,
}

/// A scenario and its model.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) selected: Selected,
    pub(crate) model: Model,
    pub(crate) broken: Broken,
    pub(crate) mutant: Option<String>,
}

impl Naming {
    /// The text that it came with.
    pub(crate) fn text(&self) -> Option<String> {
        self.toml.clone()
    }

    /// Builds what is named. Nothing is read but what comes with Oncemore.
    pub(crate) fn subject(&self) -> Result<Subject, ApiError> {
        let selected = match (&self.name, &self.toml) {
            (Some(name), None) => Selected::known(name).ok_or_else(|| ApiError::UnknownScenario(name.clone()))?,
            (None, Some(toml)) => Selected::own(Scenario::from_toml("scenario", toml)?),
            (Some(_), Some(_)) | (None, None) => {
                let message = "a scenario has either a `name` or its `toml`".to_owned();
                return Err(ApiError::Malformed { line: 1, column: 1, message });
            }
        };
        Subject::new(selected, self.mutant.clone())
    }
}

impl Subject {
    pub(crate) fn new(selected: Selected, mutant: Option<String>) -> Result<Self, ApiError> {
        let known = |name: &String| {
            let found = Mutant::ALL.iter().copied().find(|mutant| mutant.name() == name);
            found.ok_or_else(|| ApiError::UnknownMutant(name.clone()))
        };
        let broken = Broken(mutant.as_ref().map(known).transpose()?);
        let model = Model::new(&selected.scenario, broken)?;
        Ok(Self { selected, model, broken, mutant })
    }

    pub(crate) const fn scenario(&self) -> &Scenario {
        &self.selected.scenario
    }

    /// The run that makes these choices.
    pub(crate) fn story(&self, path: &[usize]) -> Result<Story, ApiError> {
        if path.len() > STEPS_MAX {
            let (found, most) = (path.len() as u64, STEPS_MAX as u64);
            return Err(ApiError::OutOfRange { what: "the length of a path", found, least: 0, most });
        }
        Ok(Story::choosing(&self.model, path)?)
    }
}
