use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::criterion::{Group, Groups, Parameter, collect};
use super::{MARK, check, drawing, known, markdown, write_from};
use crate::figures::{Aim, FOLDER, Figures, Plot, Series, Table};

/// Leaves what criterion leaves of a benchmark.
fn measured(target: &Path, group: &str, name: &str, value: Option<&str>, nanos: f64, elements: Option<u64>) {
    let folder =
        target.join("criterion").join(group).join(name.replace('/', "_")).join(value.unwrap_or("-")).join("new");
    fs::create_dir_all(&folder).unwrap();
    let throughput = elements.map(|elements| serde_json::json!({"Elements": elements}));
    let benchmark = serde_json::json!({
        "group_id": group, "function_id": name, "value_str": value, "throughput": throughput,
    });
    let estimates = serde_json::json!({"median": {"point_estimate": nanos, "standard_error": 0.1}});
    fs::write(folder.join("benchmark.json"), benchmark.to_string()).unwrap();
    fs::write(folder.join("estimates.json"), estimates.to_string()).unwrap();
}

/// A target folder with two groups and a section, and a page to write.
fn measurements() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    for (name, each) in [("one-cache-line", 10.0), ("D3-32-a-caller", 40.0), ("moka", 300.0)] {
        for live in [1024_u64, 1 << 20] {
            measured(&target, "gate-new", name, Some(&live.to_string()), each, None);
        }
    }
    for (name, each) in
        [("limit-exact", 30.0), ("limit-coarse", 2.0), ("engine-alone-exact", 36.0), ("engine-alone-coarse", 12.0)]
    {
        measured(&target, "caller-success", name, None, each, None);
    }
    measured(&target, "gate-storage", "one-page-to-disk", Some("1024"), 1000.0, Some(1));
    measured(&target, "gate-storage", "D4-commit-64", Some("1024"), 64_000.0, Some(64));
    measured(&target, "of somebody else", "one/word", None, 5.0, None);
    measured(&target, "of somebody else", "another/word", None, 10.0, None);
    let section = serde_json::json!({
        "order": 30, "title": "Load", "note": "How it was measured.", "machine": "a large one", "commit": "abc",
        "taken": "2026-01-02",
        "tables": [{"caption": "Over time", "columns": ["", "a"], "rows": [["full|jitter", "1.0"]]}],
        "plots": [{"file": "load-over-time", "title": "Load over time", "x": "seconds", "y": "attempts per second",
            "log_x": false, "log_y": false, "series": [{"name": "full jitter", "points": [[0.0, 1.0], [1, 2]]}]}],
    });
    fs::create_dir_all(target.join(FOLDER)).unwrap();
    fs::write(target.join(FOLDER).join("load.json"), section.to_string()).unwrap();
    fs::create_dir_all(folder.path().join("docs/benchmarks")).unwrap();
    fs::write(folder.path().join("docs/benchmarks.md"), format!("# By hand\n\n{MARK}\n\nold figures\n")).unwrap();
    fs::write(folder.path().join("docs/benchmarks/old.svg"), "").unwrap();
    folder
}

#[test]
fn the_page_is_written_below_its_head() {
    let folder = measurements();
    let docs = folder.path().join("docs");
    assert_eq!(write_from(&[folder.path().join("target")], &docs).unwrap(), 5);
    let page = fs::read_to_string(docs.join("benchmarks.md")).unwrap();
    assert!(page.starts_with(&format!("# By hand\n\n{MARK}\n\nWritten on ")), "{page}");
    for part in [
        "| a call that succeeds at once, driven by hand, with a coarse clock | 12.0 ns | 10.0 ns | 20 % |",
        "| a new call in D3 with 1 Mi claims live, beside one cache line at random | 4.00× | 3.00× | 33 % |",
        "| a call that succeeds at once, driven by hand, beside an identity and one reading of an exact clock | 1.20× | 1.30× |  |",
        "|  | 1 Ki | 1 Mi |\n|---|---|---|\n| one-cache-line | 10.0 ns (1.00×) | 10.0 ns (1.00×) |\n| D3-32-a-caller |",
        "| engine-alone-coarse | 12.0 ns (6.00×) |",
        "| D4-commit-64 | 1.00 µs, 1.0 M/s (1.00×) |",
        "| another | 10.0 ns (2.00×) |",
        "Taken on 2026-01-02 at commit abc, with a large one.",
        "| full\\|jitter | 1.0 |",
        "![Load over time](benchmarks/load-over-time.svg)",
        "![Admission of new calls](benchmarks/gate-new.svg)",
    ] {
        assert!(page.contains(part), "{part}\nis not in\n{page}");
    }
    assert!(!page.contains("old figures"));
    let mut drawings: Vec<_> =
        fs::read_dir(docs.join("benchmarks")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    drawings.sort();
    assert_eq!(drawings, ["gate-new.svg", "load-over-time.svg"]);
    // Once more, and nothing is added.
    write_from(&[folder.path().join("target")], &docs).unwrap();
    assert_eq!(fs::read_to_string(docs.join("benchmarks.md")).unwrap(), page);
}

#[test]
fn nothing_is_written_without_figures() {
    let folder = measurements();
    let error = write_from(&[folder.path().join("nowhere")], &folder.path().join("docs")).unwrap_err();
    assert!(error.to_string().contains("cargo bench"), "{error}");
    fs::write(folder.path().join("docs/benchmarks.md"), "no line").unwrap();
    assert!(write_from(&[folder.path().join("target")], &folder.path().join("docs")).is_err());
}

#[test]
fn a_section_that_cannot_be_shown_is_refused_by_name() {
    let folder = measurements();
    let file = folder.path().join("target").join(FOLDER).join("broken.json");
    for broken in [
        r#"{"order": 1}"#,
        r#"{"order": 1, "title": "nothing to show"}"#,
        r#"{"order": 1, "title": "", "tables": [{"columns": ["a", "b"], "rows": [["1"]]}]}"#,
        r#"{"order": 1, "title": "", "plots": [{"file": "../x", "title": "", "x": "", "y": "", "series": []}]}"#,
    ] {
        fs::write(&file, broken).unwrap();
        let error = write_from(&[folder.path().join("target")], &folder.path().join("docs")).unwrap_err();
        assert!(error.to_string().contains("broken.json"), "{broken}: {error}");
    }
}

#[test]
fn names_carry_parameters() {
    let folder = measurements();
    let mut groups = Groups::new();
    collect(&folder.path().join("target/criterion"), &mut groups).unwrap();
    let parameters: Vec<String> = groups["gate-new"].keys().map(|(_, parameter)| parameter.show()).collect();
    assert_eq!(parameters[..2], ["1 Ki", "1 Mi"]);
    let somebody: Group = groups["of somebody else"].clone();
    assert!(somebody.contains_key(&("one".into(), Parameter::Word("word".into()))));
    assert_eq!(known::section("of somebody else", &somebody).title, "of somebody else");
    assert_eq!(Parameter::Number(1000).show(), "1000");
}

#[test]
fn a_failed_attempt_is_what_nine_more_cost() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first, last) in [("engine-exact", 100.0, 460.0), ("by-hand-exact", 50.0, 230.0)] {
        measured(folder.path(), "caller-fails", name, Some("1"), first, None);
        measured(folder.path(), "caller-fails", name, Some("10"), last, None);
    }
    let mut groups = Groups::new();
    collect(&folder.path().join("criterion"), &mut groups).unwrap();
    let aims = known::aims(&groups);
    let expected = Aim::at_most("", 2.0, 1.5, |ratio| format!("{ratio:.2}×"));
    assert_eq!(aims.len(), 1);
    assert_eq!((&aims[0].figure, &aims[0].missed), (&expected.figure, &"33 %".to_owned()));
}

#[test]
fn paragraphs_are_wrapped_and_lists_are_not() {
    let note = format!("{}\n\n* one\n* two", "word ".repeat(60));
    let text = markdown::section(&Figures { note, title: "T".into(), ..Figures::default() }, "", "");
    assert!(text.lines().all(|line| line.len() <= 130) && text.contains("\n\n* one\n* two\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("word")).count(), 3);
    let table = Table { columns: vec!["a".into()], rows: vec![vec!["1".into()]], ..Table::default() };
    assert_eq!(markdown::table(&table), "| a |\n|---|\n| 1 |\n\n");
}

#[test]
fn drawings_have_axes_names_and_a_white_ground() {
    let line = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.to_vec() };
    for (log_x, log_y) in [(false, false), (false, true), (true, false), (true, true)] {
        let series =
            vec![line("one & two", &[(1.0, 10.0), (1e6, 2e7)]), line("no point", &[]), line("nought", &[(0.0, 0.0)])];
        let (x, y) = ("seconds".to_owned(), "calls a second".to_owned());
        let plot = Plot { file: "f".into(), title: "A title".into(), x, y, log_x, log_y, series };
        let svg = drawing::svg(&plot).unwrap();
        for part in ["<svg", "A title", "seconds", "calls a second", "one &amp; two", "no point", "#FFFFFF"] {
            assert!(svg.contains(part), "{part} is not in\n{svg}");
        }
    }
    assert!(drawing::svg(&Plot::default()).is_ok());
}

#[test]
fn a_drawing_is_wide_enough_for_its_longest_name() {
    let width = |name: &str| {
        let series = vec![Series { name: name.into(), points: vec![(0.0, 1.0)] }];
        let svg = drawing::svg(&Plot { series, ..Plot::default() }).unwrap();
        let (_, rest) = svg.split_once("width=\"").unwrap();
        rest.split_once('"').unwrap().0.parse::<usize>().unwrap()
    };
    assert_eq!(width("short"), width("shorter"));
    assert!(width(&"long".repeat(20)) >= width("short") - 220 + 42 + 80 * 8);
}

#[test]
fn a_section_needs_something_to_show() {
    assert!(check(&Figures::default()).is_err());
    let plots = vec![Plot { file: "a-plot".into(), ..Plot::default() }];
    assert!(check(&Figures { plots, ..Figures::default() }).is_ok());
}
