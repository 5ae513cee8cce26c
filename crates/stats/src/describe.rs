//! Figures that describe one list of values. Values that are not finite are left out.

/// The finite values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Quantile of `sorted`, which is not empty.
fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (position.floor() as usize, position.ceil() as usize);
    sorted[low] + (position - low as f64) * (sorted[high] - sorted[low])
}

/// The quantile `q` (0 to 1) by linear interpolation between order statistics: type 7 of Hyndman and
/// Fan, "Sample quantiles in statistical packages", The American Statistician 50(4), 1996. `None`
/// without values.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = sorted(values);
    (!sorted.is_empty() && !q.is_nan()).then(|| quantile_of_sorted(&sorted, q))
}

/// The median; of an even number the mean of the middle two. `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median absolute deviation from the median, not scaled (times 1.4826 it estimates the standard
/// deviation of normal data). `None` without values.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations)
}

/// The geometric mean. `None` without values, or when any is not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let values = sorted(values);
    if *values.first()? <= 0.0 {
        return None;
    }
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// Standard deviation (divisor n − 1) ÷ mean. `None` with fewer than two values, or when the mean is
/// not above zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let values = sorted(values);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (n - 1.0)).sqrt() / mean)
}

/// An interval for the median that covers it with at least `confidence`, whatever the distribution:
/// the order statistics that invert the sign test (Hollander, Wolfe and Chicken, "Nonparametric
/// Statistical Methods", 3rd ed., § 3.6). `None` when so few values cannot give that confidence: 95 %
/// needs six.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    let n = sorted.len();
    let error = 1.0 - confidence;
    // The order statistics r and n + 1 − r miss the median with probability 2·P(Binomial(n, ½) < r).
    let (mut r, mut below) = (0, 0.0);
    // In logarithms, because ½ⁿ leaves the range of a double at n = 1 075.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    while r < n {
        below += log_term.exp();
        // Written so that a confidence that is not a number ends here too.
        let within = 2.0 * below <= error;
        if !within {
            break;
        }
        log_term += ((n - r) as f64 / (r + 1) as f64).ln();
        r += 1;
    }
    (r > 0 && r <= n.div_ceil(2)).then(|| (sorted[r - 1], sorted[n - r]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_of_type_7() {
        // Worked by hand from the definition: position (n − 1)·q = 0.75, between 1 and 2.
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.25), Some(1.75));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN, 1.0, f64::INFINITY]), Some(1.0));
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn spread_and_means_follow_their_definitions() {
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert!((geometric_mean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        // Sum of squares 32, n − 1 = 7, mean 5.
        let cv = coefficient_of_variation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((cv - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(coefficient_of_variation(&[1.0]), None);
    }

    #[test]
    fn a_median_interval_needs_six_values_for_95_percent() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(median_interval(&five, 0.95), None);
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(median_interval(&six, 0.95), Some((1.0, 6.0)));
        assert_eq!(median_interval(&six, 1.0), None);
        assert_eq!(median_interval(&six, f64::NAN), None);
        assert_eq!(median_interval(&[], 0.5), None);
    }

    #[test]
    fn median_intervals_use_the_order_statistics_of_the_tables() {
        // Critical values of the sign test, two-sided 5 %: n = 10 → 1, 20 → 5, 50 → 17.
        for (n, critical) in [(10, 1), (20, 5), (50, 17)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = (f64::from(critical + 1), f64::from(n - critical));
            assert_eq!(median_interval(&values, 0.95), Some(expected));
        }
    }

    proptest! {
        #[test]
        fn a_median_interval_contains_the_median(
            values in proptest::collection::vec(-1e3..1e3f64, 0..40),
            confidence in 0.0..1.0f64,
        ) {
            if let Some((low, high)) = median_interval(&values, confidence) {
                let median = median(&values).unwrap();
                prop_assert!(low <= median && median <= high);
            }
        }
    }
}
