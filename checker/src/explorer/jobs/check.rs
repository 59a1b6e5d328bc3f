//! A check of a scenario, told while it goes on.

use oncemore_model::explore::{BreadthFirst, Coverage, Limits};
use oncemore_model::judge::{Finding, JudgeOptions, Phase, Pinned, Question, judge, pinned};
use oncemore_model::story::path_of;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::subject::Subject;
use super::Job;
use super::watched::Watched;
use crate::report::check_json::cut;

/// Checks a scenario.
pub(super) fn check(
    subject: &Subject,
    limits: &Limits<'_>,
    cycle_states_max: u64,
    job: &Job,
) -> Result<Value, ApiError> {
    let watched = Watched::new(&subject.model);
    let questions = Question::all_of(subject.scenario(), cycle_states_max);
    let mut observe = |phase, status: &_| {
        let phase = match phase {
            Phase::Exploring => "exploring",
            Phase::LookingForCycles => "looking for cycles",
        };
        job.observe(phase, status, watched.seen());
    };
    let mut options = JudgeOptions { limits: *limits, meter: None, observe: &mut observe };
    let judgement = judge(&watched, questions, &BreadthFirst, &mut options)?;
    let counts = judgement.counts;
    let pin = pinned().get(&subject.scenario().name).copied();
    let findings = judgement.findings.iter().map(|finding| found(subject, finding));
    Ok(json!({
        "exhausted": judgement.coverage == Coverage::Exhausted,
        "cut": cut(judgement.coverage),
        "unique_states": counts.states,
        "generated_states": counts.generated,
        "max_depth": counts.depth,
        "seconds": counts.elapsed.as_secs_f64(),
        "collision_odds": judgement.collision_odds,
        "as_expected": judgement.is_as_expected(),
        "as_pinned": pin.map(|pin| pin == Pinned::from(counts)),
        "properties": findings.collect::<Result<Vec<_>, _>>()?,
    }))
}

fn found(subject: &Subject, finding: &Finding) -> Result<Value, ApiError> {
    let path = match &finding.run {
        Some(run) => {
            let actions = run.actions().map_err(|error| ApiError::Internal(error.to_string()))?;
            Some(path_of(&subject.model, &actions)?)
        }
        None => None,
    };
    Ok(json!({
        "id": finding.question.id,
        "verdict": finding.answer,
        "expected": finding.question.expected,
        "trace_length": finding.trace_length(),
        "note": finding.reservation,
        "path": path,
    }))
}

/// What the library shows of it.
pub(super) fn summary(result: &Value) -> Value {
    let of = |verdict: &str| -> Vec<&Value> {
        let all = result["properties"].as_array().into_iter().flatten();
        all.filter(|property| property["verdict"] == verdict).map(|property| &property["id"]).collect()
    };
    json!({
        "exhausted": result["exhausted"], "cut": result["cut"], "as_expected": result["as_expected"],
        "unique_states": result["unique_states"], "seconds": result["seconds"],
        "violated": of("violated"), "reached": of("reached"),
    })
}
