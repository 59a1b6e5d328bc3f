//! `oncemore list`: what there is to check, and by what.

use oncemore_model::judge::Branch;
use oncemore_model::mutant::Mutant;
use oncemore_model::property::Property;
use oncemore_model::scenario::{Scenario, library};
use serde_json::{Value, json};

use super::{begin, conclude, write};
use crate::cli::{ListArgs, Listing};
use crate::exit::Exit;
use crate::output::{OPEN, Output, STRONG, styled};
use crate::report::{Layout, hang};
use crate::sink::{Sink, json_text};

/// Runs the command.
pub(crate) fn run(args: &ListArgs) -> Exit {
    let sink = match begin(&args.report) {
        Ok(sink) => sink,
        Err(exit) => return exit,
    };
    let mut output = Output::new(sink.as_ref().is_some_and(Sink::is_stdout));
    let items = items(args.what);
    let layout = Layout::new(items.iter().map(|item| item.name));
    for item in &items {
        output.print(&item.text(layout));
    }
    let (key, values) = (key(args.what), items.iter().map(|item| item.json.clone()).collect::<Vec<_>>());
    let exit = write(sink, &mut output, || json_text(&json!({ key: values })));
    conclude(&output, exit)
}

/// One of what is listed.
struct Item {
    name: &'static str,
    about: String,
    /// What is expected of it that is not a matter of course.
    expected: Option<String>,
    json: Value,
}

impl Item {
    fn text(&self, layout: Layout) -> String {
        let width = layout.name;
        let first = format!("{:width$}  ", self.name);
        let hung = hang(&first, &self.about, layout.width);
        // The name is styled where it stands, so that its width is that of the plain text.
        let mut text = hung.replacen(self.name, &styled(STRONG, self.name), 1);
        if let Some(expected) = &self.expected {
            text.push_str(&styled(OPEN, &hang(&" ".repeat(width + 2), expected, layout.width)));
        }
        text
    }
}

const fn key(what: Listing) -> &'static str {
    match what {
        Listing::Scenarios => "scenarios",
        Listing::Properties => "properties",
        Listing::Branches => "branches",
        Listing::Mutants => "mutants",
    }
}

fn items(what: Listing) -> Vec<Item> {
    match what {
        Listing::Scenarios => library().iter().map(|entry| scenario(&entry.scenario)).collect(),
        Listing::Properties => Property::ALL.iter().map(|&item| property(item)).collect(),
        Listing::Branches => Branch::ALL.iter().map(|&item| branch(item)).collect(),
        Listing::Mutants => Mutant::ALL.iter().map(|&item| mutant(item)).collect(),
    }
}

fn scenario(scenario: &'static Scenario) -> Item {
    let Scenario { name, about, suite, expect, .. } = scenario;
    let violated = (!expect.violated.is_empty()).then(|| format!("violates {}", expect.violated.join(", ")));
    let apart = (!suite).then(|| "not in the standard suite".to_owned());
    let notes: Vec<_> = violated.into_iter().chain(apart).collect();
    Item {
        name,
        about: about.clone(),
        expected: (!notes.is_empty()).then(|| notes.join("; ")),
        json: json!({
            "name": name, "about": about, "suite": suite,
            "violated": expect.violated, "reached": expect.reached, "unreached": expect.unreached,
        }),
    }
}

fn property(property: Property) -> Item {
    let (name, about) = (property.name(), property.claim());
    Item { name, about: about.to_owned(), expected: None, json: json!({ "id": name, "claim": about }) }
}

fn branch(branch: Branch) -> Item {
    let (name, rule, text) = (branch.name(), branch.rule(), branch.text());
    let json = json!({ "name": name, "rule": rule, "text": text });
    Item { name, about: format!("{rule}: {text}"), expected: None, json }
}

fn mutant(mutant: Mutant) -> Item {
    let (name, rule, about) = (mutant.name(), mutant.rule(), mutant.about());
    let json = json!({ "name": name, "rule": rule, "about": about });
    Item { name, about: format!("{rule}: {about}"), expected: None, json }
}
