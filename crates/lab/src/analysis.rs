//! From stored runs to what they mean; the same for a fresh experiment and for one loaded again.

use plimsoll_schema::Experiment;

use crate::effects::{Figures, effects, efficiency};
use crate::findings::findings;
use crate::mechanism::explain;
use crate::verdict::verdict;

/// Fills in effects, efficiency, findings and verdict from the runs.
pub fn analyse(experiment: &mut Experiment) {
    let figures = Figures::of(experiment);
    let mut found = effects(experiment, &figures);
    explain(experiment, &mut found);
    experiment.effects = found;
    experiment.efficiency = efficiency(experiment, &figures);
    experiment.findings = findings(experiment, &figures);
    experiment.verdict = Some(verdict(experiment));
}
