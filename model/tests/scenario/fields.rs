//! The list of fields says what the types do, and the manual says what the list does.

use std::fs;
use std::path::Path;

use oncemore_model::scenario::fields::{FIELDS, FieldInfo, Takes, markdown};
use oncemore_model::scenario::{Scenario, Table};

const TABLES: [Table; 9] = [
    Table::Scenario,
    Table::Store,
    Table::Limits,
    Table::World,
    Table::Faults,
    Table::Caller(0),
    Table::Call(0, 0),
    Table::Inner(0, 0, 0),
    Table::Expect,
];

/// What a table cannot do without.
const REQUIRED: [(Table, &str, &str); 3] =
    [(Table::Scenario, "name", "\"s\""), (Table::Call(0, 0), "name", "\"a\""), (Table::Inner(0, 0, 0), "object", "1")];

/// A scenario with one of each table, and `line` in one of them; what the field needs is there.
fn with(table: Table, line: &str, needs: &str) -> String {
    let mut text = String::new();
    for each in TABLES {
        text.push_str(&format!("{}\n", each.heading()));
        let given = |key: &str| each == table && line.starts_with(key);
        for (at, key, value) in REQUIRED {
            if each == at && !given(key) {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        if each == table {
            text.push_str(&format!("{line}\n"));
        }
        if needs.starts_with(each.heading()) && each != Table::Scenario {
            text.push_str(&format!("{}\n", &needs[each.heading().len()..]));
        }
    }
    text
}

/// What has to be there besides, lest the value be ignored.
fn needs(field: &FieldInfo) -> &'static str {
    match field.key {
        "window_ms" | "lifetime_ms" | "waiting_ms" => "[store]retention = \"time\"",
        "margin_ms" | "skew_ms" => "[store]design = \"D2\"",
        "max" => "[faults]cut = 1",
        "stale" => "[faults]restart = 1",
        _ => "",
    }
}

#[test]
fn a_number_is_accepted_exactly_in_its_range() {
    for field in FIELDS {
        let Takes::Whole(least, greatest, _) = field.takes else { continue };
        for value in [least - 1, least, greatest, greatest + 1] {
            let written = format!("{} = {value}", field.key);
            let text = with(field.table, &written, needs(field));
            let error = Scenario::from_toml("s.toml", &text).err().map(|error| error.to_string()).unwrap_or_default();
            // It may make no sense for another reason.
            let by_range = error.contains(&field.takes.to_string());
            assert_eq!(by_range, !(least..=greatest).contains(&value), "{error}\nof\n{text}");
            let line = 1 + text.lines().position(|line| line == written).expect("it is there");
            assert!(!by_range || error.contains(&format!("s.toml:{line}:")), "{error}\nof\n{text}");
        }
    }
}

#[test]
fn every_word_is_accepted_and_no_other() {
    for field in FIELDS {
        let (words, line): (_, fn(&str, &str) -> String) = match field.takes {
            Takes::Word(words) => (words, |key, word| format!("{key} = \"{word}\"")),
            Takes::Words(words) => (words, |key, word| format!("{key} = [\"{word}\"]")),
            Takes::Whole(..) | Takes::Flag | Takes::Other(_) => continue,
        };
        for word in words {
            let text = with(field.table, &line(field.key, word), "[world]history = true");
            assert!(Scenario::from_toml("s.toml", &text).is_ok(), "{} in {}", word, field.key);
        }
        let text = with(field.table, &line(field.key, "nonsense"), "");
        let error = Scenario::from_toml("s.toml", &text).expect_err("it is nonsense").to_string();
        assert!(error.contains(&field.takes.to_string()), "{error}");
    }
}

/// The parser lists the fields of a type when it meets one that it does not know.
#[test]
fn the_list_has_every_field_of_the_types_in_their_order() {
    for table in TABLES {
        let error = Scenario::from_toml("s.toml", &with(table, "nonsense = 1", "")).expect_err("it is nonsense");
        let listed: String =
            FIELDS.iter().filter(|field| field.table == table).map(|field| format!(", `{}`", field.key)).collect();
        // Of what the parser lists only the order differs: here `caller` comes first of all, there last.
        let mut known: Vec<_> = error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect();
        let mut listed: Vec<_> = listed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        if table == Table::Scenario {
            known.retain(|key| !TABLES.iter().any(|table| table.heading() == format!("[{key}]")));
            known.sort();
            listed.sort();
        }
        assert_eq!(known, listed, "{table:?}");
    }
}

#[test]
fn a_default_that_is_written_out_changes_nothing() {
    let plain = Scenario::from_toml("s.toml", &with(Table::Scenario, "", "")).expect("it is right");
    for field in FIELDS {
        let Some(default) = field.default.filter(|default| !default.contains(' ')) else { continue };
        if matches!(field.key, "inner" | "because") {
            continue;
        }
        let text = with(field.table, &format!("{} = {default}", field.key), "");
        let scenario = Scenario::from_toml("s.toml", &text).unwrap_or_else(|error| panic!("{error}\nof\n{text}"));
        assert_eq!(scenario, plain, "{} = {default}", field.key);
    }
}

#[test]
fn the_manual_has_the_tables_of_the_list() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let manual = fs::read_to_string(manual).expect("the manual is there");
    for table in TABLES {
        let expected = markdown(table);
        assert!(manual.contains(&expected), "docs/scenarios.md must have, under `{}`:\n{expected}", table.heading());
    }
}

/// The first example can be copied and runs; it is a scenario of the library.
#[test]
fn the_examples_of_the_manual_are_scenarios() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let manual = fs::read_to_string(manual).expect("the manual is there");
    let examples: Vec<_> = manual.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        if let Err(error) = Scenario::from_toml("example", example) {
            panic!("{error}\nof\n{example}");
        }
    }
}
