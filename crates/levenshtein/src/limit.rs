//! Which results are of interest.

use crate::Error;

/// Results beyond it are reported as "above the limit", which costs less to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Limit {
    /// The distance, whatever it is.
    #[default]
    None,
    /// Distances up to this one.
    Distance(u64),
    /// Similarities (0 to 1) from this one up.
    Similarity(f64),
}

/// 1 − distance / longest; 1 for two empty strings.
pub(crate) fn similarity(distance: u64, longest: u64) -> f64 {
    if longest == 0 {
        1.0
    } else {
        1.0 - distance as f64 / longest as f64
    }
}

impl Limit {
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::Similarity(least) if !(0.0..=1.0).contains(&least) => Err(Error::BadSimilarity),
            _ => Ok(()),
        }
    }

    /// The largest distance of interest for strings of which the longer has this length.
    pub(crate) fn distance(self, longest: u64) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Distance(limit) => Some(limit),
            Self::Similarity(least) => {
                // Rounding may put the quotient on either side of the true border.
                let near = ((1.0 - least) * longest as f64) as u64 + 2;
                (0..=near.min(longest))
                    .rev()
                    .take(5)
                    .find(|d| similarity(*d, longest) >= least)
            }
        }
    }
}
