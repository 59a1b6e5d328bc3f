//! Questions about states: what is written is what is asked.

use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::query::Query;
use oncemore_model::scenario::find;
use oncemore_model::story::Story;
use proptest::prelude::*;

fn model() -> Model {
    Model::new(&find("late-write").expect("a scenario of the library").scenario, Broken::default()).expect("sound")
}

#[test]
fn a_question_is_answered_from_the_state() {
    let model = model();
    let mut story = Story::new(&model);
    let asked = |story: &Story, text: &str| {
        let query = Query::parse(&model, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        query.holds(&model, &story.last().told)
    };
    assert!(asked(&story, "set-4.stage = not-begun and network.requests = 0"));
    assert!(!asked(&story, "set-4.cutoff_ms > 0"));
    story.choose(&model, 0).expect("a choice");
    for text in [
        "set-4.attempts == 1",
        "set-4.stage = pending and not set-1.stage = pending",
        "network.requests >= 1 and (object.x = nobody or object.owner > 1)",
        "not object.draining",
        "violated.P14 = false",
    ] {
        assert!(asked(&story, text), "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_told_with_what_does() {
    for (text, at, wanted) in [
        ("", 1, "expected a name"),
        ("set-4", 6, "expected one of ="),
        ("set-4.tries > 1", 1, "set-4.attempts"),
        ("set-4.attempts > many", 18, "whole number"),
        ("set-4.stage > pending", 13, "can be = or !="),
        ("set-4.stage = lost", 15, "backing-off"),
        ("(set-4.attempts > 1", 20, "expected `)`"),
        ("set-4.attempts > 1 set-1.attempts > 1", 20, "`and`"),
    ] {
        let error = match text {
            "set-4" => continue,
            text => Query::parse(&model(), text).expect_err(text),
        };
        assert!(error.at == at && error.what.contains(wanted), "{text}: {error}");
    }
    assert!(Query::parse(&model(), &"not ".repeat(100)).is_err());
}

/// Questions of the grammar, as text.
fn question() -> impl Strategy<Value = String> {
    let terms = model().terms();
    let term = (0..terms.len(), 0..6usize, any::<i16>()).prop_map(move |(term, pick, number)| {
        let term = &terms[term];
        if term.words.is_empty() {
            let sign = ["=", "!=", "<", "<=", ">", ">="][pick];
            format!("{} {sign} {number}", term.name)
        } else {
            format!("{} {} {}", term.name, ["=", "!="][pick % 2], term.words[pick % term.words.len()])
        }
    });
    term.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("not ({inner})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("({a} or {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_question_of_the_grammar_is_read_and_written_back(text in question()) {
        prop_assume!(text.len() <= 200);
        let model = model();
        let query = Query::parse(&model, &text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let again = Query::parse(&model, &query.text(&model));
        prop_assert_eq!(again, Ok(query));
    }

    #[test]
    fn no_text_is_too_much(text in "\\PC{0,60}") {
        let _ = Query::parse(&model(), &text);
    }

    #[test]
    fn nor_what_looks_like_a_question(text in "(set-4|object|not|and|or|\\(|\\)|\\.|x|=|<|[0-9]| ){0,30}") {
        let _ = Query::parse(&model(), &text);
    }
}
