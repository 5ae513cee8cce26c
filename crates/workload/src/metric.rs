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
