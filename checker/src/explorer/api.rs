//! The JSON API: one function an address.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use oncemore_model::judge::{Branch, TraceFile, pinned};
use oncemore_model::property::Property;
use oncemore_model::query::Query;
use oncemore_model::scenario::fields::{FIELDS, FieldInfo, Takes};
use oncemore_model::scenario::{Scenario, Table, library as all};
use oncemore_model::story::path_of;
use serde::Deserialize;
use serde_json::{Value, json};

use super::around::{self, GraphWish, SampleWish};
use super::body::Said;
use super::compare::{self, CompareWish};
use super::error::ApiError;
use super::export::{self, Format};
use super::jobs::Wish;
use super::server::Shared;
use super::subject::{Naming, Subject};
use super::views::{Start, StartScenario, StateReply, Summary};

type Reply = Result<Response, ApiError>;

/// Does what takes a moment where it does not hold up other requests.
async fn beside(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(ApiError::Internal(error.to_string())))
}

/// What there is to know of the protocol and of this version.
pub(crate) async fn about() -> Json<Value> {
    let properties = Property::ALL.iter().map(|property| json!({ "id": property.name(), "claim": property.claim() }));
    let branches =
        Branch::ALL.iter().map(|branch| json!({ "name": branch.name(), "rule": branch.rule(), "text": branch.text() }));
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "properties": properties.collect::<Vec<_>>(),
        "branches": branches.collect::<Vec<_>>(),
    }))
}

/// Where the page begins.
pub(crate) async fn start(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({ "start": shared.start }))
}

/// The library, with what is expected and what was found.
pub(crate) async fn library(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let entry = |scenario: &Scenario| {
        let mut entry = serde_json::to_value(Summary::new(scenario, None)).unwrap_or_default();
        entry["pinned"] = json!(pinned().get(&scenario.name));
        entry["found"] = json!(shared.jobs.found(&scenario.name));
        entry
    };
    Json(json!({ "scenarios": all().iter().map(|it| entry(&it.scenario)).collect::<Vec<_>>() }))
}

/// A scenario, in either of its forms.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum ScenarioForm {
    Scenario(Naming),
    /// As data, for the form.
    Value(Value),
}

/// A scenario as text and as data.
pub(crate) async fn scenario(Said(form): Said<ScenarioForm>) -> Reply {
    let (scenario, text) = match form {
        ScenarioForm::Scenario(naming) => {
            let subject = naming.subject()?;
            let entry = all().iter().find(|entry| entry.scenario == *subject.scenario());
            (subject.scenario().clone(), naming.text().or_else(|| entry.map(|entry| entry.text.to_owned())))
        }
        ScenarioForm::Value(value) => {
            let scenario: Scenario = serde_json::from_value(value).map_err(|error| ApiError::Malformed {
                line: 1,
                column: 1,
                message: error.to_string(),
            })?;
            scenario.check()?;
            (scenario, None)
        }
    };
    let toml = match text {
        Some(text) => text,
        None => scenario.to_toml().map_err(|error| ApiError::Internal(error.to_string()))?,
    };
    Ok(Json(json!({ "toml": toml, "value": scenario })).into_response())
}

/// A place in a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateQuery {
    scenario: Naming,
    #[serde(default)]
    path: Vec<usize>,
    /// Which state of the way; the last, if it is not said.
    at: Option<usize>,
    /// The fingerprint that the last state of the way is to have.
    check: Option<String>,
}

/// A state, the way there and what may happen next.
pub(crate) async fn state(Said(query): Said<StateQuery>) -> Reply {
    beside(move || {
        let subject = query.scenario.subject()?;
        let whole = match subject.story(&query.path) {
            // A link whose choices are not there is as much of another version as one that leads elsewhere.
            Err(ApiError::Story(_)) if query.check.is_some() => {
                return Err(ApiError::OtherVersion { found: String::new() });
            }
            whole => whole?,
        };
        let found = subject.model.fingerprint(&whole.last().world);
        if query.check.as_ref().is_some_and(|check| *check != found) {
            return Err(ApiError::OtherVersion { found });
        }
        let (at, most) = (query.at.unwrap_or(query.path.len()), query.path.len());
        if at > most {
            return Err(ApiError::OutOfRange { what: "`at`", found: at as u64, least: 0, most: most as u64 });
        }
        let here = whole.until(at);
        Ok(Json(StateReply::new(&subject, &whole, &here, &query.path)).into_response())
    })
    .await
}

/// A trace, as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Import {
    text: String,
}

/// Where a trace leads.
pub(crate) async fn import(Said(import): Said<Import>) -> Reply {
    beside(move || {
        let trace: TraceFile = serde_json::from_str(&import.text).map_err(|error| ApiError::Malformed {
            line: error.line(),
            column: error.column(),
            message: format!("no trace, such as `oncemore check --trace json` writes: {error}"),
        })?;
        Ok(Json(begin_at(&trace)?).into_response())
    })
    .await
}

/// Where a page begins that shows this trace.
pub(crate) fn begin_at(trace: &TraceFile) -> Result<Start, ApiError> {
    trace.replay()?;
    let scenario = StartScenario::of(&trace.scenario, trace.mutant.clone())?;
    let subject = Subject::new(crate::select::Selected::own(trace.scenario.clone()), trace.mutant.clone())?;
    let actions = trace.run.actions().map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(Start { scenario, path: path_of(&subject.model, &actions)? })
}

/// A run, to be written in another form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Export {
    scenario: Naming,
    #[serde(default)]
    path: Vec<usize>,
    format: Format,
}

/// A run in another form.
pub(crate) async fn export(Said(export): Said<Export>) -> Reply {
    beside(move || {
        let subject = export.scenario.subject()?;
        let story = subject.story(&export.path)?;
        let text = export::export(&subject, &story, &export.path, export.format)?;
        Ok(Json(json!({ "text": text, "name": subject.scenario().name })).into_response())
    })
    .await
}

/// Runs made at random.
pub(crate) async fn sample(Said(wish): Said<SampleWish>) -> Reply {
    beside(move || Ok(Json(json!({ "runs": around::sample(&wish)? })).into_response())).await
}

/// The states a few steps away.
pub(crate) async fn graph(Said(wish): Said<GraphWish>) -> Reply {
    beside(move || Ok(Json(around::graph(&wish)?).into_response())).await
}

/// Two scenarios side by side.
pub(crate) async fn compare(Said(wish): Said<CompareWish>) -> Reply {
    beside(move || Ok(Json(compare::compare(&wish)?).into_response())).await
}

/// Every design in every world.
pub(crate) async fn matrix() -> Reply {
    beside(|| Ok(Json(super::matrix::matrix()).into_response())).await
}

/// A question that somebody writes, or none yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    scenario: Naming,
    #[serde(default)]
    path: Vec<usize>,
    query: Option<String>,
}

/// What a question can name, and whether the one that is written is so in this state.
pub(crate) async fn terms(Said(said): Said<Terms>) -> Reply {
    beside(move || {
        let subject = said.scenario.subject()?;
        let here = match &said.query {
            Some(text) => {
                let query = Query::parse(&subject.model, text)?;
                Some(query.holds(&subject.model, &subject.story(&said.path)?.last().told))
            }
            None => None,
        };
        Ok(Json(json!({ "terms": subject.model.terms(), "here": here })).into_response())
    })
    .await
}

/// Every field of a scenario, for the form.
pub(crate) async fn fields() -> Json<Value> {
    let field = |info: &FieldInfo| {
        let takes = match info.takes {
            Takes::Whole(least, greatest, unit) => json!({ "least": least, "greatest": greatest, "unit": unit }),
            Takes::Flag => json!({ "flag": true }),
            Takes::Word(words) => json!({ "word": words }),
            Takes::Words(words) => json!({ "words": words }),
            Takes::Other(text) => json!({ "text": text }),
        };
        let table = match info.table {
            Table::Scenario => "",
            Table::Store => "store",
            Table::Limits => "limits",
            Table::World => "world",
            Table::Faults => "faults",
            Table::Caller(_) => "caller",
            Table::Call(..) => "call",
            Table::Inner(..) => "inner",
            Table::Expect => "expect",
        };
        json!({ "table": table, "key": info.key, "takes": takes, "about": info.about, "default": info.default })
    };
    Json(json!({ "fields": FIELDS.iter().map(field).collect::<Vec<_>>() }))
}

/// Begins a job.
pub(crate) async fn begin_job(State(shared): State<Arc<Shared>>, Said(wish): Said<Wish>) -> Reply {
    beside(move || Ok(Json(json!({ "id": shared.jobs.begin(wish)? })).into_response())).await
}

/// How far a job has come.
pub(crate) async fn job(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Reply {
    Ok(Json(shared.jobs.status(number(&id)?)?).into_response())
}

/// Asks a job to end.
pub(crate) async fn cancel_job(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Reply {
    shared.jobs.cancel(number(&id)?)?;
    Ok(Json(shared.jobs.status(number(&id)?)?).into_response())
}

fn number(id: &str) -> Result<u64, ApiError> {
    id.parse().map_err(|_| ApiError::NotFound)
}
