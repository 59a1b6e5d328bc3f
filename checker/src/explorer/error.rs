//! What is wrong with a request, for people and for programs.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use oncemore_model::judge::{JudgeError, ReplayError};
use oncemore_model::query::QueryError;
use oncemore_model::scenario::{ReadError, ScenarioError};
use oncemore_model::story::StoryError;
use serde_json::{Value, json};
use thiserror::Error;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub(crate) enum ApiError {
    #[error("the request is not of the right form, at line {line}, column {column}: {message}")]
    Malformed { line: usize, column: usize, message: String },
    #[error("the request is larger than {most} bytes, which is the most that is read")]
    TooLarge { most: usize },
    #[error("a request is sent as `application/json`")]
    NotJson,
    #[error("{what} is {found}, but must be a whole number from {least} to {most}")]
    OutOfRange { what: &'static str, found: u64, least: u64, most: u64 },
    #[error("there is no scenario `{0}`: the library lists them, and the cells of the matrix have names too")]
    UnknownScenario(String),
    #[error("there is no mutant `{0}`")]
    UnknownMutant(String),
    #[error("there is no property `{0}` that could be asked for")]
    UnknownProperty(String),
    #[error("there is no branch of a rule `{0}`")]
    UnknownBranch(String),
    #[error("the question makes no sense {0}")]
    Query(#[from] QueryError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("{0}")]
    Story(#[from] StoryError),
    #[error("this link leads to another state than the one it was made for: it is from another version of Oncemore")]
    OtherVersion { found: String },
    #[error("the trace cannot be shown: {0}")]
    Trace(#[from] ReplayError),
    #[error("there is no job {0}; finished ones are forgotten after a while")]
    NoSuchJob(u64),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error("there is nothing at this address")]
    NotFound,
    #[error("this address takes {allowed}")]
    Method { allowed: &'static str },
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("the answer could not be made: {0}")]
    Internal(String),
}

impl ApiError {
    /// What programs call it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::TooLarge { .. } => "too-large",
            Self::NotJson => "not-json",
            Self::OutOfRange { .. } => "out-of-range",
            Self::UnknownScenario(_) => "unknown-scenario",
            Self::UnknownMutant(_) => "unknown-mutant",
            Self::UnknownProperty(_) => "unknown-property",
            Self::UnknownBranch(_) => "unknown-branch",
            Self::Query(_) => "bad-query",
            Self::Read(_) | Self::Scenario(_) => "bad-scenario",
            Self::Story(_) => "bad-path",
            Self::OtherVersion { .. } => "other-version",
            Self::Trace(_) => "bad-trace",
            Self::NoSuchJob(_) => "no-such-job",
            Self::Judge(_) => "not-trusted",
            Self::NotFound => "not-found",
            Self::Method { .. } => "method",
            Self::Forbidden(_) => "forbidden",
            Self::Internal(_) => "internal",
        }
    }

    const fn status(&self) -> StatusCode {
        match self {
            Self::Malformed { .. } | Self::OutOfRange { .. } => StatusCode::BAD_REQUEST,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnknownScenario(_) | Self::NoSuchJob(_) | Self::NotFound => StatusCode::NOT_FOUND,
            Self::UnknownMutant(_)
            | Self::UnknownProperty(_)
            | Self::UnknownBranch(_)
            | Self::Query(_)
            | Self::Read(_)
            | Self::Scenario(_)
            | Self::Story(_)
            | Self::Trace(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::OtherVersion { .. } => StatusCode::CONFLICT,
            Self::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Judge(_) | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Where in a scenario's text something is wrong, and what; empty for all else.
    fn complaints(&self) -> Vec<Value> {
        if let Self::Read(ReadError::Text { complaints, .. }) = self {
            let complaint = |it: &oncemore_model::scenario::Complaint| json!({ "line": it.at.line, "column": it.at.column, "message": it.about.to_string() });
            return complaints.iter().map(complaint).collect();
        }
        let Self::Scenario(ScenarioError(problems)) = self else { return Vec::new() };
        problems.iter().map(|problem| json!({ "message": problem.to_string() })).collect()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut error = json!({ "kind": self.kind(), "message": self.to_string() });
        let complaints = self.complaints();
        if !complaints.is_empty() {
            error["complaints"] = complaints.into();
        }
        (self.status(), Json(json!({ "error": error }))).into_response()
    }
}
