//! Figures that criterion does not take: what they are taken with, and how they are shown.

use std::time::Duration;
use std::{fs, io};

pub use oncemore_benches::figures::{Aim, Figures, Plot, Series, Table, only_tried};
use rustix::time::{ClockId, clock_gettime};

/// Where in a target folder figures lie.
pub const FOLDER: &str = "oncemore-figures";

/// Writes figures to where the report looks for them; unless they were only tried, and are none.
///
/// # Errors
/// If the file cannot be written.
pub fn write(figures: &Figures, name: &str) -> io::Result<()> {
    if !only_tried() {
        println!("{}", figures.write(name)?.display());
    }
    Ok(())
}

/// What this thread has used of the processor so far.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// What this process has in memory now. Linux: the second number of `statm`, in pages.
#[must_use]
pub fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default();
    pages * rustix::param::page_size() as u64
}

/// `1.2 µs`.
#[must_use]
pub fn time(nanos: f64) -> String {
    match nanos {
        _ if nanos < 999.5 => format!("{nanos:.1} ns"),
        _ if nanos < 999.5e3 => format!("{:.2} µs", nanos / 1e3),
        _ if nanos < 999.5e6 => format!("{:.2} ms", nanos / 1e6),
        _ => format!("{:.2} s", nanos / 1e9),
    }
}

/// `1.2 M`.
#[must_use]
pub fn count(rate: f64) -> String {
    match rate {
        _ if rate < 9_999.5 => format!("{rate:.0}"),
        _ if rate < 999.5e3 => format!("{:.0} k", rate / 1e3),
        _ => format!("{:.1} M", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_may_leave_out_what_it_does_not_have() {
        let section: Figures = serde_json::from_str(r#"{"order": 3, "title": "calls"}"#).unwrap();
        assert_eq!(section, Figures { order: 3, title: "calls".into(), ..Figures::default() });
    }

    #[test]
    fn figures_are_short() {
        assert_eq!([time(3.44), time(1500.0), time(2.5e6), time(3e9)], ["3.4 ns", "1.50 µs", "2.50 ms", "3.00 s"]);
        assert_eq!([count(12.0), count(12_345.0), count(1.25e7)], ["12", "12 k", "12.5 M"]);
    }

    #[test]
    fn a_thread_s_time_goes_on() {
        let before = thread_time();
        let mut sum = 0u64;
        while thread_time() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(thread_time() > before);
    }
}
