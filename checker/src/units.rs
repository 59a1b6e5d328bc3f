//! Numbers as people read and write them.

use std::time::Duration;

/// `1,234,567`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits and a metric prefix: `812`, `4.12 k`, `1.30 M`.
pub(crate) fn metric(number: f64) -> String {
    let (scale, prefix) = match number {
        n if n < 999.5 => return format!("{n:.0}"),
        n if n < 999.5e3 => (1e3, "k"),
        n if n < 999.5e6 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    format!("{} {prefix}", three_digits(number / scale))
}

/// `61.2 MB`
pub(crate) fn bytes(number: u64) -> String {
    let text = metric(number as f64);
    if text.contains(' ') { format!("{text}B").replace(" k", " K") } else { format!("{text} B") }
}

/// `0.01 s`, `12.3 s`, `4 min 05 s`
pub(crate) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.995 {
        format!("{seconds:.2} s")
    } else if seconds < 99.95 {
        format!("{seconds:.1} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

/// How likely something is: `0`, or `1 in 37 million`.
pub(crate) fn odds(probability: f64) -> String {
    let one_in = 1.0 / probability;
    if probability <= 0.0 {
        return "0".to_owned();
    }
    let (scale, word) = match one_in {
        n if n >= 1e18 => return format!("1 in 10^{:.0}", n.log10().floor()),
        n if n >= 1e15 => (1e15, " quadrillion"),
        n if n >= 1e12 => (1e12, " trillion"),
        n if n >= 1e9 => (1e9, " billion"),
        n if n >= 1e6 => (1e6, " million"),
        n if n >= 1e3 => (1e3, " thousand"),
        _ => (1.0, ""),
    };
    format!("1 in {}{word}", three_digits(one_in / scale).trim_end_matches('0').trim_end_matches('.'))
}

fn three_digits(number: f64) -> String {
    if number < 9.995 {
        format!("{number:.2}")
    } else if number < 99.95 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// A time of at least a millisecond: `90`, `90s`, `1.5m`, `2h`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wanted = || "expected a number of seconds, such as 90 or 2.5, or one with a unit: ms, s, m or h".to_owned();
    let (number, unit) = split_unit(text);
    let number: f64 = number.parse().map_err(|_| wanted())?;
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wanted()),
    };
    let seconds = number * factor;
    if seconds < 0.001 {
        return Err("expected at least a millisecond".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wanted())
}

/// A number of bytes: `500000000`, `500M`, `4G`, `4GiB`.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wanted = || {
        "expected a number of bytes, such as 500M, 4G or 4GiB (K, M, G: powers of 1000; KiB, MiB, GiB: of 1024)"
            .to_owned()
    };
    let (number, unit) = split_unit(text);
    let number: f64 = number.parse().map_err(|_| wanted())?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(wanted()),
    };
    let bytes = number * factor as f64;
    if bytes.is_finite() && bytes >= 1.0 { Ok(bytes as u64) } else { Err(wanted()) }
}

/// A number of at least one: `300000`, `300_000`, `300k`, `20M`.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let wanted = || "expected a whole number of at least 1, such as 300000, 300k or 20M".to_owned();
    let plain = text.replace('_', "");
    let (digits, unit) = split_unit(&plain);
    let number: u64 = digits.parse().map_err(|_| wanted())?;
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        "g" | "G" => 1_000_000_000,
        _ => return Err(wanted()),
    };
    number.checked_mul(factor).filter(|&number| number > 0).ok_or_else(wanted)
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let metrics = [0.0, 812.4, 999.4, 999.5, 4_120.0, 99_960.0, 1_300_000.0, 999_999.0, 2e12].map(metric);
        assert_eq!(metrics, ["0", "812", "999", "1.00 k", "4.12 k", "100 k", "1.30 M", "1.00 M", "2000 G"]);
        assert_eq!([12, 61_200, 61_200_000].map(bytes), ["12 B", "61.2 KB", "61.2 MB"]);
        let times = [0.004, 9.99, 12.34, 99.94, 99.96, 245.4].map(|s| seconds(Duration::from_secs_f64(s)));
        assert_eq!(times, ["0.00 s", "9.99 s", "12.3 s", "99.9 s", "1 min 40 s", "4 min 05 s"]);
    }

    #[test]
    fn odds_read_well() {
        let odds = [0.0, 0.25, 2.710_5e-8, 1.0 / 1.23e13, 1e-20].map(odds);
        assert_eq!(odds, ["0", "1 in 4", "1 in 36.9 million", "1 in 12.3 trillion", "1 in 10^20"]);
    }

    #[test]
    fn units_are_read() {
        let seconds = |text| parse_duration(text).map(|time| time.as_secs_f64());
        assert_eq!(["90", "2.5s", "1m", "2h", "5 ms"].map(seconds), [90.0, 2.5, 60.0, 7200.0, 0.005].map(Ok));
        assert_eq!(
            ["512", "1K", "4G", "1.5GiB", "2 mb"].map(parse_bytes),
            [512, 1000, 4_000_000_000, 1_610_612_736, 2_000_000].map(Ok)
        );
        assert_eq!(["1", "300_000", "300k", "20M"].map(parse_count), [1, 300_000, 300_000, 20_000_000].map(Ok));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["", "x", "-1", "1 fortnight", "0", "1e999", "inf", "nan", "99999999999999999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["", "x", "-1", "1 XB", "0", "G", "1..2M"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["", "x", "-1", "0", "1.5k", "99999999999999999999", "18446744073709551615k"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
