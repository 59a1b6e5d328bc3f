//! The matrix: its cells are scenarios, its expected data is what thinking says, and a part of it is worked off here.
//!
//! All of it takes more than a test should; `oncemore matrix` does it.
#![allow(clippy::expect_used, reason = "a test stops at the first thing that is not as it should be")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use oncemore_model::explore::Limits;
use oncemore_model::matrix::{Cell, Expected, Matrix, Outcome, PROPERTIES, Setting, Summary, Trouble, run};
use oncemore_model::scenario::Scenario;
use oncemore_protocol::design::Design;

fn applicable() -> impl Iterator<Item = Cell> {
    Cell::all().into_iter().filter(|cell| cell.does_not_apply().is_none())
}

fn worked_off(cells: &[Cell]) -> Matrix {
    let threads = NonZeroUsize::new(2).expect("two is not zero");
    run(cells, threads, &Limits::default(), &|_| {}).expect("an exploration backs its findings")
}

#[test]
fn each_cell_that_applies_is_a_scenario_of_its_own() {
    let mut seen: BTreeMap<String, Cell> = BTreeMap::new();
    for cell in applicable() {
        let scenario = cell.scenario();
        assert!(scenario.check().is_ok(), "{cell}: {:?}", scenario.check());
        let nameless = Scenario { name: String::new(), about: String::new(), ..scenario.clone() };
        let text = nameless.to_toml().expect("a scenario has a form as text");
        assert_eq!(seen.insert(text, cell), None, "{cell}");
    }
    let names: BTreeSet<_> = applicable().map(|cell| cell.scenario().name).collect();
    assert_eq!(names.len(), seen.len());
}

#[test]
fn each_design_meets_each_trouble_or_it_is_said_why_not() {
    for trouble in Trouble::ALL {
        for design in Design::ALL {
            let cells = Cell::all().into_iter().filter(|cell| cell.design == design && cell.trouble == trouble);
            let (asked, excused): (Vec<_>, Vec<_>) = cells.partition(|cell| cell.does_not_apply().is_none());
            assert_eq!(asked.len() + excused.len(), 16, "{} {}", design.name(), trouble.name());
            assert!(excused.iter().all(|cell| cell.does_not_apply().is_some_and(|why| why.ends_with('.'))));
        }
    }
}

#[test]
fn what_is_expected_is_what_thinking_says() {
    for cell in applicable() {
        for property in PROPERTIES {
            assert_eq!(
                Expected::shipped().is_violated(&cell, property),
                cell.why_violated(property).is_some(),
                "{cell}: {}: {:?}",
                property.name(),
                cell.why_violated(property),
            );
        }
    }
}

#[test]
fn the_default_is_expected_to_keep_everything_everywhere() {
    for cell in Setting::DEFAULT.cells() {
        assert!(PROPERTIES.into_iter().all(|property| !Expected::shipped().is_violated(&cell, property)), "{cell}");
    }
}

#[test]
fn the_file_is_as_it_is_written() {
    assert_eq!(include_str!("../expected/matrix.txt"), Expected::shipped().to_string());
}

#[test]
fn one_callers_cells_are_as_expected() {
    let small = |cell: &Cell| cell.callers == 1 && cell.trouble != Trouble::All;
    let cells: Vec<_> = applicable().filter(small).collect();
    let matrix = worked_off(&cells);
    let differences: Vec<_> = matrix.differences(Expected::shipped()).iter().map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(matrix.outcomes.len(), cells.len());
}

#[test]
fn the_default_keeps_everything_everywhere() {
    let cells: Vec<_> = Setting::DEFAULT.cells().filter(|cell| cell.trouble != Trouble::All).collect();
    let matrix = worked_off(&cells);
    assert!(Summary::of(&matrix).default.is_empty());
    for (cell, outcome) in &matrix.outcomes {
        assert_eq!(matches!(outcome, Outcome::DoesNotApply(_)), cell.does_not_apply().is_some(), "{cell}");
    }
}

/// Two settings that differ in what is never looked at have the same states, and are explored once.
#[test]
fn what_is_shared_is_the_same() {
    let pair = [false, true].map(|fresh| Cell {
        design: Design::VolatileIncarnation,
        fenced: true,
        retention: oncemore_protocol::design::Retention::Watermark,
        fresh,
        callers: 2,
        trouble: Trouble::Restart,
    });
    let together = worked_off(&pair);
    let apart = pair.map(|cell| worked_off(&[cell]));
    assert_eq!(together.states, apart[0].states);
    for (cell, alone) in pair.iter().zip(apart) {
        let verdicts = |matrix: &Matrix| matrix.outcomes[cell].verdicts().collect::<Vec<_>>();
        assert_eq!(verdicts(&together), verdicts(&alone));
        assert_eq!(together.states, alone.states);
    }
}
