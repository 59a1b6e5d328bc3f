//! The matrix as the page shows it: what is expected of every design in every world.

use std::collections::BTreeMap;

use oncemore_model::matrix::{Cell, Expected, PROPERTIES, Trouble};
use serde_json::{Value, json};

/// Every row with its cells, and the worlds over them.
pub(crate) fn matrix() -> Value {
    let expected = Expected::shipped();
    let mut rows: BTreeMap<_, (String, Vec<Value>)> = BTreeMap::new();
    for cell in Cell::all() {
        let key = (cell.setting(), cell.callers);
        let name = format!("{}, {}", cell.setting(), if cell.callers == 1 { "one caller" } else { "two callers" });
        let row = rows.entry(key).or_insert_with(|| (name, Vec::new()));
        row.1.push(one(&cell, expected));
    }
    let row = |((setting, callers), (name, cells)): ((oncemore_model::matrix::Setting, u8), (String, Vec<Value>))| {
        json!({
            "name": name, "design": setting.design, "fenced": setting.fenced, "retention": setting.retention,
            "fresh": setting.fresh, "callers": callers, "cells": cells,
            "default": setting == oncemore_model::matrix::Setting::DEFAULT,
        })
    };
    json!({
        "worlds": Trouble::ALL.map(Trouble::name),
        "properties": PROPERTIES.map(|property| json!({ "id": property.name(), "claim": property.claim() })),
        "rows": rows.into_iter().map(row).collect::<Vec<_>>(),
    })
}

fn one(cell: &Cell, expected: &Expected) -> Value {
    if let Some(why) = cell.does_not_apply() {
        return json!({ "no": why });
    }
    let violated = PROPERTIES.into_iter().filter(|property| expected.is_violated(cell, *property));
    let why = |property| (property, cell.why_violated(property));
    let violated: BTreeMap<_, _> = violated.map(why).map(|(property, why)| (property.name(), why)).collect();
    json!({ "scenario": cell.scenario().name, "violated": violated })
}
