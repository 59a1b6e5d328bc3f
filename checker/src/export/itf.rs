//! The Informal Trace Format, which Apalache and Quint write and other tools show.
//!
//! Its variables are those of the model's state, and two more that tell the step that led there: `action`, as data, and
//! `event`, in words. Whole numbers are written as `#bigint`, as the format asks, and what is absent as the variant `None`.

use oncemore_model::judge::{Ending, Run, TraceFile};
use serde_json::{Map, Value, json};

/// The trace as an ITF object.
pub(crate) fn itf(trace: &TraceFile) -> Value {
    let states: Vec<_> =
        trace.run.states.iter().enumerate().map(|(index, state)| one(&trace.run, index, state)).collect();
    let vars: Vec<_> = states
        .first()
        .and_then(Value::as_object)
        .map_or_else(Vec::new, |state| state.keys().filter(|key| *key != "#meta").cloned().collect());
    let mut itf = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": format!("oncemore {}, scenario {}", env!("CARGO_PKG_VERSION"), trace.scenario.name),
            "description": format!("{} {}: {}", trace.property, trace.verdict.word(), trace.claim),
        },
        "params": [],
        "vars": vars,
        "states": states,
    });
    if let Ending::Cycle { from, .. } = trace.run.ending {
        itf["loop"] = json!(from);
    }
    itf
}

fn one(run: &Run, index: usize, state: &Value) -> Value {
    let mut vars = Map::new();
    vars.insert("#meta".to_owned(), json!({ "index": index }));
    let step = index.checked_sub(1).and_then(|before| run.steps.get(before));
    let event = step.map(|step| format!("{}: {}", step.event.who, step.event.text));
    vars.insert("action".to_owned(), encode(step.map_or(&Value::Null, |step| &step.action)));
    vars.insert("event".to_owned(), json!(event.unwrap_or_else(|| "the beginning".to_owned())));
    match encode(state) {
        Value::Object(fields) => vars.extend(fields),
        whole @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            vars.insert("state".to_owned(), whole);
        }
    }
    Value::Object(vars)
}

/// JSON as an ITF expression.
fn encode(value: &Value) -> Value {
    match value {
        Value::Null => json!({ "tag": "None", "value": { "#tup": [] } }),
        Value::Number(number) if number.is_f64() => json!({ "#unserializable": number.to_string() }),
        Value::Number(number) => json!({ "#bigint": number.to_string() }),
        Value::Bool(_) | Value::String(_) => value.clone(),
        Value::Array(items) => items.iter().map(encode).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.trim_start_matches('#').to_owned(), encode(value)));
            Value::Object(fields.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_data_becomes_expressions() {
        let plain = json!({ "n": -3, "none": null, "list": [true, "x", 18_446_744_073_709_551_615_u64] });
        let encoded = json!({
            "n": { "#bigint": "-3" },
            "none": { "tag": "None", "value": { "#tup": [] } },
            "list": [true, "x", { "#bigint": "18446744073709551615" }],
        });
        assert_eq!(encode(&plain), encoded);
        let read: itf::Value = serde_json::from_value(encoded).expect("an ITF expression");
        assert!(matches!(read, itf::Value::Record(_)), "{read:?}");
    }
}
