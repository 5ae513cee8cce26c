use super::n;

/// A mark for arm number `arm` at `x` percent, `y` pixels: shape and colour both tell arms apart.
/// `hollow` draws its outline only.
pub fn mark(arm: usize, x: f64, y: f64, hollow: bool) -> String {
    let shape = match arm % 4 {
        0 => "<circle r=\"4\"/>",
        1 => "<path d=\"M-3.7-3.7h7.4v7.4h-7.4z\"/>",
        2 => "<path d=\"M0-4.9 4.6 3.4h-9.2z\"/>",
        _ => "<path d=\"M0-5.2 5.2 0 0 5.2-5.2 0z\"/>",
    };
    let hollow = if hollow { " hollow" } else { "" };
    format!(
        "<svg x=\"{}%\" y=\"{}\" class=\"mark {}{hollow}\">{shape}</svg>",
        n(x),
        n(y),
        class(arm)
    )
}

/// The class that colours arm number `arm`.
pub fn class(arm: usize) -> String {
    format!("a{}", arm % 7)
}

/// A mark to stand in running text.
pub fn key(arm: usize) -> String {
    format!(
        "<svg class=\"key\" width=\"14\" height=\"14\" aria-hidden=\"true\">{}</svg>",
        mark(arm, 50.0, 7.0, false)
    )
}
