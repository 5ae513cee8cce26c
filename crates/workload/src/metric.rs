use std::str::FromStr;

use regex::{Regex, RegexBuilder};

use crate::WorkloadError;
use crate::error::excerpt;

/// `--metric REGEX`: where the figure stands in the output of a command that does not speak the
/// protocol.
///
/// `^` and `$` mean the beginning and end of a line. The last match counts, because programs print
/// their result at the end. The search takes time linear in the output, whatever the pattern.
#[derive(Debug, Clone)]
pub struct Metric {
    pattern: Regex,
}

impl Metric {
    /// Reads the option's value.
    ///
    /// # Errors
    /// [`WorkloadError::BadMetric`] when it is not a regular expression of the `regex` crate.
    pub fn new(pattern: &str) -> Result<Self, WorkloadError> {
        RegexBuilder::new(pattern)
            .multi_line(true)
            .build()
            .map(|pattern| Self { pattern })
            .map_err(|error| WorkloadError::BadMetric {
                pattern: pattern.to_owned(),
                // A syntax error is drawn over several lines, with the cause on the last.
                why: error
                    .to_string()
                    .lines()
                    .last()
                    .map_or_else(String::new, |line| {
                        line.trim_start_matches("error: ").to_owned()
                    }),
            })
    }

    /// The option's value, as given.
    pub fn as_str(&self) -> &str {
        self.pattern.as_str()
    }

    /// The number in the first group (or, without a group, in the whole) of the last match.
    ///
    /// # Errors
    /// [`WorkloadError::NoMatch`]; [`WorkloadError::NotAFigure`] when the match is not a finite
    /// number above 0, which a ratio needs.
    pub fn figure(&self, output: &str) -> Result<f64, WorkloadError> {
        let last = self.pattern.captures_iter(output).last();
        let Some(last) = last else {
            return Err(WorkloadError::NoMatch {
                pattern: self.as_str().to_owned(),
            });
        };
        let found = if last.len() > 1 {
            last.get(1)
        } else {
            last.get(0)
        };
        let found = found.map_or("", |group| group.as_str().trim());
        match found.parse::<f64>() {
            Ok(figure) if figure.is_finite() && figure > 0.0 => Ok(figure),
            _ => Err(WorkloadError::NotAFigure {
                pattern: self.as_str().to_owned(),
                found: excerpt(found),
            }),
        }
    }
}

impl FromStr for Metric {
    type Err = WorkloadError;

    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        Self::new(pattern)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figure(pattern: &str, output: &str) -> Result<f64, WorkloadError> {
        Metric::new(pattern)?.figure(output)
    }

    #[test]
    fn the_first_group_of_the_last_match_counts() {
        let output = "rate: 1.5 op/s\nrate: 2.5e3 op/s\nbye\n";
        assert_eq!(figure("rate: (\\S+) (\\S+)", output), Ok(2500.0));
    }

    #[test]
    fn without_a_group_the_whole_match_counts() {
        assert_eq!(figure("[0-9]+$", "a 1\nb 22\nc"), Ok(22.0));
    }

    #[test]
    fn a_pattern_that_is_no_regex_names_the_option() {
        let error = Metric::new("rate: (").unwrap_err().to_string();
        assert_eq!(
            error,
            "--metric \"rate: (\" is not a regular expression: unclosed group"
        );
    }

    #[test]
    fn a_pattern_that_matches_nothing_names_the_option() {
        let error = figure("x", "y").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("--metric \"x\" matches nothing")
        );
    }

    #[test]
    fn what_is_not_a_positive_number_is_shown() {
        for (pattern, output) in [
            ("rate: (.*)", "rate: fast"),
            ("rate: (.*)", "rate: inf"),
            ("rate: (.*)", "rate: NaN"),
            ("rate: (.*)", "rate: 0"),
            ("rate: (.*)", "rate: -3"),
            ("rate: ([0-9]+)?", "rate: 1\nrate: x"),
            ("[0-9]*", "12\n"),
        ] {
            let error = figure(pattern, output);
            assert!(
                matches!(error, Err(WorkloadError::NotAFigure { .. })),
                "{output}: {error:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_patterns_and_output_never_panic(pattern in ".{0,12}", output in ".{0,40}") {
            if let Ok(metric) = Metric::new(&pattern) {
                let _ = metric.figure(&output);
            }
        }

        #[test]
        fn any_positive_number_is_found(figures in prop::collection::vec(1e-9..1e9f64, 1..5)) {
            let output: String = figures.iter().map(|f| format!("rate={f}\nnoise 7\n")).collect();
            prop_assert_eq!(
                Metric::new("^rate=(.+)$").unwrap().figure(&output).ok(),
                figures.last().copied()
            );
        }
    }
}
