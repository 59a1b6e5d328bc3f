//! How wide things are, and how they are fitted in.

use terminal_size::{Width, terminal_size};

/// As wide as lines are where nobody says how wide they may be.
const WIDTH: usize = 120;

/// No terminal is so narrow that lines were better broken more often.
const WIDTH_MIN: usize = 60;

/// The measures that the parts of a report share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// How many characters a line has.
    pub(crate) width: usize,
    /// How many the longest name has.
    pub(crate) name: usize,
}

impl Layout {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let name = names.map(|name| name.chars().count()).max().unwrap_or_default().max("scenario".len());
        let width = terminal_size().map_or(WIDTH, |(Width(width), _)| usize::from(width).clamp(WIDTH_MIN, WIDTH));
        Self { width, name }
    }
}

/// The text in lines of at most `width` characters, broken between words. A word that is longer has a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if used + 1 + length <= width => {
                line.push(' ');
                line.push_str(word);
                used += 1 + length;
            }
            _ => {
                lines.push(word.to_owned());
                used = length;
            }
        }
    }
    lines
}

/// The text, wrapped, with `first` before its first line and as much space before the others.
pub(crate) fn hang(first: &str, text: &str, width: usize) -> String {
    let indent = first.chars().count();
    let lines = wrap(text, width.saturating_sub(indent).max(20));
    let mut hung = first.to_owned();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            hung.push_str(&" ".repeat(indent));
        }
        hung.push_str(line);
        hung.push('\n');
    }
    hung
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word b", 5), ["a-very-long-word", "b"]);
        assert_eq!(wrap(" ", 5), [""; 0]);
        let text = "a sentence that does not fit into one line of thirty";
        assert_eq!(hang("P1  ", text, 34), "P1  a sentence that does not fit\n    into one line of thirty\n");
    }
}
