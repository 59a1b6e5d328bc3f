//! What a run leaves behind: tables to read at once, and a file from which a page can be written.

use std::error::Error;

pub(crate) use oncemore_benches::figures::{Aim, Figures as Report, Plot, Series, Table};

/// Shows the tables and writes the figures where the page is made from; those not to be relied on go elsewhere.
pub(crate) fn publish(report: &Report, name: &str, quick: bool) -> Result<(), Box<dyn Error>> {
    println!("\n{}: {}, {}, commit {}\n", report.title, report.taken, report.machine, report.commit);
    for table in &report.tables {
        println!("{}", table.text());
    }
    println!("{}\n", report.note);
    let name = if quick { format!("quick/{name}") } else { name.into() };
    println!("written to {}", report.write(&name)?.display());
    Ok(())
}

/// Three significant digits, and more before the point if there are more.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// With a space between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.split_at(usize::from(value < 0.0));
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|start| &digits[start..start + 3]));
    format!("{sign}{}", groups.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_groups_of_thousands() {
        let shown = [0.0, 0.1234, 1.005, 12.34, 123.4, 1234.5, 1_234_567.0, -4321.0].map(figure);
        assert_eq!(shown, ["0", "0.123", "1.00", "12.3", "123", "1 234", "1 234 567", "-4 321"]);
    }
}
