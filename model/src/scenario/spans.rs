use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::place::{Place, Step};

/// A file as TOML, which knows where in the text each thing stands.
pub(super) struct Document<'a> {
    text: &'a str,
    top: Spanned<DeTable<'a>>,
}

/// Where something begins; both numbers count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The position of the byte at `offset`, or of the end of the text.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, column: in_line.chars().count() + 1 }
    }
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Error> {
        Ok(Self { text, top: DeTable::parse(text)? })
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Where a place stands. What is not written down stands where its nearest written ancestor does.
    pub(super) fn position(&self, place: &Place) -> Position {
        let mut found = 0;
        let mut table = Some(self.top.get_ref());
        let mut value = None::<&Spanned<DeValue<'_>>>;
        for step in place.steps() {
            let next = match step {
                Step::Key(name) => table.and_then(|table| {
                    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
                    Some((key.span(), value))
                }),
                Step::Index(index) => value.and_then(|value| {
                    let item = value.get_ref().as_array()?.get(index)?;
                    Some((item.span(), item))
                }),
            };
            let Some((span, next)) = next else { break };
            found = span.start;
            value = Some(next);
            table = next.get_ref().as_table();
        }
        Position::of(self.text, found)
    }

    /// The keys on the way to the value that stands exactly at `span`, lists left out.
    pub(super) fn keys_to(&self, span: &Range<usize>) -> Option<Vec<&str>> {
        let mut keys = Vec::new();
        in_table(self.top.get_ref(), span, &mut keys).then_some(keys)
    }
}

fn in_table<'a>(table: &'a DeTable<'_>, span: &Range<usize>, keys: &mut Vec<&'a str>) -> bool {
    table.iter().any(|(key, value)| {
        keys.push(key.get_ref());
        let found = in_value(value, span, keys);
        if !found {
            keys.pop();
        }
        found
    })
}

fn in_value<'a>(value: &'a Spanned<DeValue<'_>>, span: &Range<usize>, keys: &mut Vec<&'a str>) -> bool {
    let inside = match value.get_ref() {
        DeValue::Array(items) => items.iter().any(|item| in_value(item, span, keys)),
        DeValue::Table(table) => in_table(table, span, keys),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            false
        }
    };
    inside || value.span() == *span
}
