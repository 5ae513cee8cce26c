//! Numbers as people read them: no more digits than the interval supports, units, and `not
//! available` instead of a made-up zero.
//!
//! Thousands and units are set apart by no-break spaces, so that no line ends inside a number.

use plimsoll_schema::Interval;

/// What is printed for a figure that does not exist.
pub const NOT_AVAILABLE: &str = "not available";

const NBSP: char = '\u{a0}';

/// Decimals after the point that `half_width` supports, 0 to 9: two significant digits of it when
/// it begins with 1 or 2, one otherwise, so that rounding adds at most about a fifth of it (the
/// rule of GUM 7.2.6, in the spirit of the Particle Data Group's).
pub fn decimals(half_width: f64) -> usize {
    if !half_width.is_finite() || half_width <= 0.0 {
        return 3;
    }
    let magnitude = half_width.log10().floor();
    let leading = half_width / 10f64.powf(magnitude);
    let digits = if leading < 3.0 { 1.0 } else { 0.0 };
    (digits - magnitude).clamp(0.0, 9.0) as usize
}

/// `x` with so many digits after the point and thousands set apart.
pub fn fixed(x: f64, decimals: usize) -> String {
    if !x.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let text = format!("{x:.decimals$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("−", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // A figure that rounds to zero has no sign.
    let zero = digits.bytes().all(|b| b == b'0' || b == b'.');
    let mut out = String::from(if zero { "" } else { sign });
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) && whole.len() > 3 {
            out.push(NBSP);
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `x` with so many significant digits (at least 1), never in exponent form; digits before the
/// point are always complete.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return fixed(x, 0);
    }
    let magnitude = x.abs().log10().floor() as i64;
    fixed(x, (digits as i64 - 1 - magnitude).clamp(0, 9) as usize)
}

/// A ratio with as many digits as its interval supports; three decimals without one.
pub fn ratio(x: f64, interval: Option<&Interval>) -> String {
    fixed(x, interval.map_or(3, interval_decimals))
}

/// An interval as `0.982 to 1.014`, both ends with as many digits as its width supports.
pub fn interval(i: &Interval) -> String {
    let decimals = interval_decimals(i);
    format!("{} to {}", fixed(i.low, decimals), fixed(i.high, decimals))
}

fn interval_decimals(i: &Interval) -> usize {
    decimals((i.high - i.low) / 2.0)
}

/// A ratio as a change: 1.034 is `+3.4 %`, 0.98 is `−2.0 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if !percent.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let text = fixed(percent, if percent.abs() < 10.0 { 1 } else { 0 });
    let zero = text.bytes().all(|b| b == b'0' || b == b'.');
    let sign = if percent > 0.0 && !zero { "+" } else { "" };
    format!("{sign}{text}{NBSP}%")
}

/// A share (0 to 1) in percent: two significant digits, at most two decimals.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let percent = share * 100.0;
    let decimals = match percent.abs() {
        p if p == 0.0 || p >= 9.95 => 0,
        p if p >= 0.995 => 1,
        _ => 2,
    };
    // 5.0 % and 10 %, but 2 % rather than 2.0 % where the figure is a whole number.
    let decimals = if (percent - percent.round()).abs() < 1e-9 {
        0
    } else {
        decimals
    };
    format!("{}{NBSP}%", fixed(percent, decimals))
}

/// A probability: `< 0.001`, otherwise two significant digits.
pub fn p_value(p: f64) -> String {
    if !p.is_finite() {
        NOT_AVAILABLE.to_owned()
    } else if p < 0.001 {
        format!("<{NBSP}0.001")
    } else {
        fixed(p, if p < 0.1 { 3 } else { 2 })
    }
}

/// A duration in seconds with the unit that fits: `310 ms`, `1.5 s`, `2 min 5 s`.
pub fn seconds(s: f64) -> String {
    if !s.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    match s.abs() {
        0.0 => format!("0{NBSP}s"),
        a if a < 0.001 => format!("{}{NBSP}µs", significant(s * 1e6, 2)),
        a if a < 1.0 => format!("{}{NBSP}ms", significant(s * 1e3, 2)),
        a if a < 100.0 => {
            let text = significant(s, 2);
            format!("{}{NBSP}s", text.strip_suffix(".0").unwrap_or(&text))
        }
        _ => format!(
            "{}{NBSP}min{NBSP}{}{NBSP}s",
            fixed((s / 60.0).trunc(), 0),
            fixed((s % 60.0).abs().trunc(), 0)
        ),
    }
}

/// Bytes in binary units: `55 MiB`, `1.5 TiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 99.95 && (value - value.round()).abs() >= 0.05);
    format!("{}{NBSP}{}", fixed(value, decimals), UNITS[unit])
}

/// `1 run`, `90 runs`.
pub fn count(n: usize, singular: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{}{NBSP}{singular}{plural}", fixed(n as f64, 0))
}

/// Milliseconds since the Unix epoch as `2026-11-21 07:30 UTC`.
pub fn utc(ms: u64) -> String {
    let minutes = ms / 60_000;
    let (hour, minute) = (minutes / 60 % 24, minutes % 60);
    let (year, month, day) = civil(minutes / (24 * 60));
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}{NBSP}UTC")
}

/// Days since 1970-01-01 to a proleptic Gregorian date (H. Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", `civil_from_days`, for days not before the epoch).
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: String) -> String {
        text.replace(NBSP, " ")
    }

    #[test]
    fn an_interval_decides_how_many_digits_its_estimate_gets() {
        let wide = Interval {
            low: 0.9,
            high: 1.3,
            confidence: 0.95,
        };
        let narrow = Interval {
            low: 1.0312,
            high: 1.0368,
            confidence: 0.95,
        };
        assert_eq!(ratio(1.0342, Some(&wide)), "1.03");
        assert_eq!(ratio(1.0342, Some(&narrow)), "1.0342");
        assert_eq!(interval(&narrow), "1.0312 to 1.0368");
    }

    #[test]
    fn what_does_not_exist_is_never_shown_as_zero() {
        for text in [
            fixed(f64::NAN, 2),
            significant(f64::INFINITY, 2),
            change(f64::NAN),
            percent(f64::NAN),
            p_value(f64::NAN),
            seconds(f64::NAN),
        ] {
            assert_eq!(text, NOT_AVAILABLE);
        }
    }

    #[test]
    fn units_fit_the_size() {
        assert_eq!(plain(bytes(55 << 20)), "55 MiB");
        assert_eq!(plain(bytes(1023)), "1 023 B");
        assert_eq!(plain(bytes((1 << 40) + (1 << 39))), "1.5 TiB");
        assert_eq!(plain(bytes(u64::MAX)), "16 EiB");
        assert_eq!(plain(seconds(0.31)), "310 ms");
        assert_eq!(plain(seconds(1.5)), "1.5 s");
        assert_eq!(plain(seconds(2.0)), "2 s");
        assert_eq!(plain(seconds(125.0)), "2 min 5 s");
        assert_eq!(plain(count(1, "run")), "1 run");
        assert_eq!(plain(count(1234, "run")), "1 234 runs");
    }

    #[test]
    fn changes_and_probabilities_read_as_people_write_them() {
        assert_eq!(plain(change(1.034)), "+3.4 %");
        assert_eq!(plain(change(0.98)), "−2.0 %");
        assert_eq!(plain(change(0.99999)), "0.0 %");
        assert_eq!(plain(change(1.5)), "+50 %");
        assert_eq!(plain(percent(0.05)), "5 %");
        assert_eq!(plain(percent(0.0123)), "1.2 %");
        assert_eq!(plain(percent(0.975)), "98 %");
        assert_eq!(plain(p_value(0.0004)), "< 0.001");
        assert_eq!(p_value(0.0421), "0.042");
    }

    #[test]
    fn dates_agree_with_the_calendar() {
        assert_eq!(plain(utc(0)), "1970-01-01 00:00 UTC");
        assert_eq!(plain(utc(951_782_400_000)), "2000-02-29 00:00 UTC");
        assert_eq!(plain(utc(4_107_542_399_000)), "2100-02-28 23:59 UTC");
        assert_eq!(plain(utc(4_107_542_400_000)), "2100-03-01 00:00 UTC");
    }

    proptest! {
        #[test]
        fn a_printed_number_reads_back_within_half_its_last_digit(x in -1e9f64..1e9, d in 0usize..5) {
            let text = fixed(x, d).replace(NBSP, "").replace('−', "-");
            let back: f64 = text.parse().unwrap();
            prop_assert!((back - x).abs() <= 0.5 * 10f64.powi(-(d as i32)) + 1e-6);
        }

        #[test]
        fn no_time_stamp_panics(ms in any::<u64>()) {
            prop_assert!(utc(ms).ends_with("UTC"));
        }
    }
}
