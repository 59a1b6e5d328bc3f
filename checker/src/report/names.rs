//! Names of properties, many at once.

use oncemore_model::property::Property;

/// The names with spaces between; three or more that follow each other are written as a span: `P1–P12 P15 P16 L1`.
pub(crate) fn spans(names: &[&str]) -> String {
    let places: Vec<_> = names.iter().filter_map(|name| place(name)).collect();
    let mut text: Vec<String> = Vec::new();
    let mut rest = &places[..];
    while let [first, ..] = rest {
        let length =
            rest.iter().enumerate().take_while(|(i, place)| **place == first + i && is_kin(**place, *first)).count();
        let (span, after) = rest.split_at(length);
        match span {
            [first, .., last] if length > 2 => text.push(format!("{}–{}", name(*first), name(*last))),
            _ => text.extend(span.iter().map(|&place| name(place).to_owned())),
        }
        rest = after;
    }
    text.join(" ")
}

fn place(name: &str) -> Option<usize> {
    Property::ALL.iter().position(|property| property.name() == name)
}

fn name(place: usize) -> &'static str {
    Property::ALL[place].name()
}

/// Whether both are of one kind: P, L or R.
fn is_kin(one: usize, other: usize) -> bool {
    name(one).as_bytes().first() == name(other).as_bytes().first()
}

#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    fn neighbours_are_drawn_together() {
        assert_eq!(spans(&["P1", "P2", "P3", "P5", "P6", "P15", "P16", "L1", "L2"]), "P1–P3 P5 P6 P15 P16 L1 L2");
        assert_eq!(spans(&["P14", "P15", "P16", "L1", "L2", "R1", "R2", "R3"]), "P14–P16 L1 L2 R1–R3");
        assert_eq!(spans(&["R2"]), "R2");
        assert_eq!(spans(&[]), "");
    }
}
