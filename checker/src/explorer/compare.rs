//! Two scenarios side by side on the same steps and the same faults.

use oncemore_model::action::Action;
use oncemore_model::story::{Lane, Story, walk};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::ApiError;
use super::subject::{Naming, Subject};
use super::views::{PropertyReply, SightReply, StepReply, Summary, properties, sights, steps};

/// Two scenarios, and a way through the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareWish {
    pub(crate) scenario: Naming,
    pub(crate) other: Naming,
    #[serde(default)]
    pub(crate) path: Vec<usize>,
}

/// One line of the comparison: the steps, counted from one, that stand beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Row {
    left: Option<usize>,
    right: Option<usize>,
    same: bool,
}

#[derive(Serialize)]
struct Side<'a> {
    scenario: Summary<'a>,
    lanes: &'a [Lane],
    steps: Vec<StepReply<'a>>,
    path: &'a [usize],
    properties: Vec<PropertyReply>,
    sights: Vec<SightReply>,
    account: Vec<String>,
}

/// Takes the same steps in both, as far as they can be taken there.
pub(crate) fn compare(wish: &CompareWish) -> Result<Value, ApiError> {
    let (left, right) = (wish.scenario.subject()?, wish.other.subject()?);
    let story = left.story(&wish.path)?;
    let (_, actions) = walk(&left.model, &wish.path)?;
    let mut beside = Beside { subject: &right, story: Story::new(&right.model), path: Vec::new(), rows: Vec::new() };
    for (index, action) in actions.iter().enumerate() {
        beside.follow(&story, index, action);
    }
    let Beside { story: other, path, rows, .. } = beside;
    // That a claim is stored, or need not be, is no difference that a person looks for.
    let stores = |row: &Row| {
        let is_storing = |story: &Story, step: Option<usize>| {
            step.is_some_and(|step| matches!(story.scenes()[step - 1].action, Action::Stored { .. }))
        };
        is_storing(&story, row.left) || is_storing(&other, row.right)
    };
    let first = rows.iter().position(|row| !row.same && !stores(row));
    let left = side(&left, &story, &wish.path);
    let right = side(&right, &other, &path);
    Ok(json!({ "left": left, "right": right, "rows": rows, "first_difference": first }))
}

struct Beside<'a> {
    subject: &'a Subject,
    story: Story,
    path: Vec<usize>,
    rows: Vec<Row>,
}

impl Beside<'_> {
    fn follow(&mut self, left: &Story, index: usize, action: &Action) {
        if !self.can(action) {
            self.store_first(action);
        }
        let took = self.take(action);
        let right = took.then_some(self.path.len());
        let same = took && {
            let (left, right) = (&left.scenes()[index], &self.story.scenes()[self.path.len() - 1]);
            (&left.event.who, &left.event.text) == (&right.event.who, &right.event.text)
        };
        self.rows.push(Row { left: Some(index + 1), right, same });
    }

    fn can(&self, action: &Action) -> bool {
        self.story.clone().take(&self.subject.model, action).is_ok()
    }

    fn place(&self, action: &Action) -> Option<usize> {
        self.story.actions(&self.subject.model).iter().position(|other| other == action)
    }

    fn take(&mut self, action: &Action) -> bool {
        let Some(choice) = self.place(action) else { return false };
        let took = self.story.take(&self.subject.model, action).is_ok();
        if took {
            self.path.push(choice);
        }
        took
    }

    /// A design that stores claims has to, before what the other does at once.
    fn store_first(&mut self, action: &Action) {
        let stored = self.story.actions(&self.subject.model).into_iter().find(|it| matches!(it, Action::Stored { .. }));
        let Some(stored) = stored else { return };
        let mut then = self.story.clone();
        let helps =
            then.take(&self.subject.model, &stored).is_ok() && then.actions(&self.subject.model).contains(action);
        if helps && self.take(&stored) {
            self.rows.push(Row { left: None, right: Some(self.path.len()), same: false });
        }
    }
}

fn side<'a>(subject: &'a Subject, story: &'a Story, path: &'a [usize]) -> Side<'a> {
    Side {
        scenario: Summary::new(subject.scenario(), subject.mutant.as_deref()),
        lanes: story.lanes(),
        steps: steps(subject, story, path),
        path,
        properties: properties(subject, story),
        sights: sights(subject, story),
        account: subject.model.account(&story.last().told),
    }
}
