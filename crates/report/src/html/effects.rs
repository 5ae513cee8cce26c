use plimsoll_schema::{Conclusion, Effect, Experiment};

use super::table::table;
use super::{arm_index, escape, section as titled};
use crate::number::{interval, p_value, percent, ratio, significant};
use crate::svg::{forest::Axis, mark};
use crate::words;

/// The forest plot, which is the table of effects.
pub fn section(e: &Experiment) -> String {
    if e.effects.is_empty() {
        return String::new();
    }
    let axis = Axis::of(&e.effects);
    let coverage = e
        .effects
        .iter()
        .find_map(|x| x.interval)
        .map(|i| i.confidence);
    let baseline = escape(&e.design.baseline);
    let caption = format!("Each arm against {baseline} at each level");
    let mut out = format!(
        "<table class=\"forest\" role=\"table\"><caption>{caption}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">\
         <th role=\"columnheader\" scope=\"col\">Arm</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"n\">Level</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"strip\"><span class=\"ends\"><span>← slower</span><span>faster →</span></span></th>\
         <th role=\"columnheader\" scope=\"col\" class=\"n\">Ratio</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"n\">p</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"n\">Blocks</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"n\">Detects</th>\
         <th role=\"columnheader\" scope=\"col\">Conclusion</th></tr></thead>\n\
         <tbody role=\"rowgroup\">\n"
    );
    for effect in &e.effects {
        out += &row(e, effect, &axis);
    }
    out += &format!(
        "</tbody><tfoot role=\"rowgroup\" aria-hidden=\"true\"><tr role=\"row\"><td role=\"cell\"></td>\
         <td role=\"cell\"></td><td role=\"cell\" class=\"strip\">{}</td>\
         <td role=\"cell\" colspan=\"5\"></td></tr></tfoot></table>\n",
        axis.axis()
    );
    let coverage = coverage.map_or(String::new(), |c| {
        format!(
            " Bars are {} intervals, wide enough that all claims together are wrong in at most {} \
             of experiments.",
            percent_fine(c),
            percent(e.design.error_rate)
        )
    });
    titled(
        "effects",
        "What each placement does",
        &format!(
            "Work per second as a multiple of <b>{baseline}</b>; a bar that crosses the line at 1 \
             is no claim.{coverage} <i>Detects</i> is the smallest true difference that so many \
             blocks find with 90&nbsp;% probability."
        ),
        &out,
    )
}

fn row(e: &Experiment, effect: &Effect, axis: &Axis) -> String {
    let arm = arm_index(e, &effect.arm);
    let (sign, class) = match effect.conclusion {
        Conclusion::Faster => ("▲", "faster"),
        Conclusion::Slower => ("▼", "slower"),
        Conclusion::NoDifferenceSeen => ("○", "same"),
        Conclusion::TooFewBlocks => ("–", "same"),
    };
    let ends = effect
        .interval
        .as_ref()
        .map_or("no interval".to_owned(), interval);
    format!(
        "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" class=\"arm\">{key}{arm}</th>\
         <td role=\"cell\" class=\"n level\" data-name=\"level\">{level}</td>\
         <td role=\"cell\" class=\"strip\">{strip}</td>\
         <td role=\"cell\" class=\"n ratio\"><b>{ratio}</b> <span class=\"ci\">{ends}</span></td>\
         <td role=\"cell\" class=\"n\" data-name=\"p\">{p}</td>\
         <td role=\"cell\" class=\"n\" data-name=\"blocks\">{blocks}</td>\
         <td role=\"cell\" class=\"n\" data-name=\"detects\">{detects}</td>\
         <td role=\"cell\" class=\"conclusion {class}\"><span aria-hidden=\"true\">{sign}</span> {conclusion}</td></tr>\n",
        key = mark::key(arm),
        arm = escape(&words::compared(e, effect)),
        level = effect.level,
        strip = axis.strip(effect, arm),
        ratio = ratio(effect.ratio, effect.interval.as_ref()),
        p = escape(&p_value(effect.p_adjusted)),
        blocks = effect.blocks,
        detects = words::detects(effect),
        conclusion = words::conclusion(effect.conclusion),
    )
}

/// A coverage such as 98.3 %: rounding it to 98 % would claim less than was computed.
fn percent_fine(share: f64) -> String {
    format!(
        "{}&nbsp;%",
        significant(share * 100.0, 3).trim_end_matches(".0")
    )
}

/// The counters beside each effect.
pub fn mechanisms(e: &Experiment) -> String {
    let rows: Vec<Vec<String>> = e
        .effects
        .iter()
        .flat_map(|effect| effect.mechanisms.iter().map(move |m| (effect, m)))
        .map(|(effect, m)| {
            vec![
                format!(
                    "{}{} at&nbsp;{}",
                    mark::key(arm_index(e, &effect.arm)),
                    escape(&effect.arm),
                    effect.level
                ),
                format!("{} <small>{}</small>", escape(&m.counter), escape(&m.unit)),
                significant(m.arm, 3),
                significant(m.baseline, 3),
                if m.explains {
                    "<span class=\"yes\">✓ yes</span>".to_owned()
                } else {
                    "<span class=\"no\">no</span>".to_owned()
                },
            ]
        })
        .collect();
    let claimed = e
        .effects
        .iter()
        .filter(|x| matches!(x.conclusion, Conclusion::Faster | Conclusion::Slower));
    let unexplained: Vec<String> = claimed
        .filter(|x| !x.mechanisms.iter().any(|m| m.explains))
        .map(|x| format!("{} at {}", escape(&x.arm), x.level))
        .collect();
    if rows.is_empty() && unexplained.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    if !rows.is_empty() {
        body += &table(
            "mechanisms",
            "Counters beside each effect, medians over runs",
            &["Effect", "Counter", ">Arm", ">Baseline", "Explains it"],
            &rows,
        );
    }
    if !unexplained.is_empty() {
        body += &format!(
            "<p>No counter explains the effect of {}: it is real, its cause is not known from this \
             experiment.</p>\n",
            unexplained.join(", ")
        );
    }
    titled(
        "mechanisms",
        "Why: the counters beside each effect",
        "An effect is put down to a cause only where a counter moved with it, beyond chance and in \
         the direction that would explain it.",
        &body,
    )
}
