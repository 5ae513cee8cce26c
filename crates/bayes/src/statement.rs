//! From statements to terms: checks what a family allows, and picks the kernel.

use crate::compile::{Compiler, Value, shape_error, value_error};
use crate::error::ModelError;
use crate::family::{Domain, HALF_LN_TAU};
use crate::model::{Argument, Component, Family, Statement, Support};
use crate::op::Slot;
use crate::simd::MAX_FUSED_COMPONENTS;
use crate::term::Term;

impl<'a> Compiler<'a> {
    pub(crate) fn statement(
        &mut self,
        i: usize,
        statement: &'a Statement,
    ) -> Result<(), ModelError> {
        match statement {
            Statement::Distribution {
                value,
                family,
                args,
            } => {
                let place = format!("statement {} ({} ~ {family:?})", i + 1, words(value));
                let value = self.vectors(&place, std::slice::from_ref(value))?[0];
                let args = self.family_args(&place, *family, args)?;
                self.check_value(&place, *family, &value, &args)?;
                self.distribution(&place, *family, value, &args)
            }
            Statement::Mixture {
                value,
                log_weights,
                components,
            } => {
                let place = format!("statement {} ({} ~ mixture)", i + 1, words(value));
                self.mixture(&place, value, log_weights, components)
            }
            Statement::Term { value } => {
                let place = format!("statement {} (term)", i + 1);
                let value = self.vectors(&place, std::slice::from_ref(value))?[0];
                self.program.terms.push(Term::Sum { value: value.slot });
                Ok(())
            }
        }
    }

    fn numbers(&self, slot: Slot) -> &[f64] {
        slot.read(&self.program.constants, &[])
    }

    fn family_args(
        &mut self,
        place: &str,
        family: Family,
        args: &[Argument],
    ) -> Result<Vec<Value>, ModelError> {
        if args.len() != family.arity() {
            return Err(shape_error(
                place,
                format!(
                    "{family:?} takes {} argument(s), not {}",
                    family.arity(),
                    args.len()
                ),
            ));
        }
        let values = self.vectors(place, args)?;
        for &i in family.positive_args() {
            let value = &values[i];
            let fine = match value.support {
                Some(support) => lies_in(support, Domain::Positive),
                None if value.slot.active => true, // a definition: known only when it is computed
                None => self.numbers(value.slot).iter().all(|x| *x > 0.0),
            };
            if !fine {
                return Err(value_error(
                    place,
                    format!(
                        "argument {} of {family:?} must be above 0; give {} a positive support or values",
                        i + 1,
                        words(&args[i])
                    ),
                ));
            }
        }
        Ok(values)
    }

    /// Data within the domain; a parameter whose support lies within it.
    fn check_value(
        &self,
        place: &str,
        family: Family,
        value: &Value,
        args: &[Value],
    ) -> Result<(), ModelError> {
        let domain = family.domain();
        let bounds = (family == Family::Uniform && !args[0].slot.active && !args[1].slot.active)
            .then(|| {
                let highest = self
                    .numbers(args[0].slot)
                    .iter()
                    .copied()
                    .fold(f64::MIN, f64::max);
                (
                    highest,
                    self.numbers(args[1].slot)
                        .iter()
                        .copied()
                        .fold(f64::MAX, f64::min),
                )
            });
        if let Some((low, high)) = bounds
            && low >= high
        {
            return Err(value_error(
                place,
                format!(
                    "the bounds {low} and {high} leave nothing between them; give them in rising order"
                ),
            ));
        }
        if !value.slot.active {
            let outside = |x: &f64| {
                !domain.contains(*x) || bounds.is_some_and(|(low, high)| *x < low || *x > high)
            };
            if let Some(i) = self.numbers(value.slot).iter().position(outside) {
                return Err(value_error(
                    place,
                    format!(
                        "value {} is {}, but {family:?} needs {}{}; correct the data or choose another family",
                        i + 1,
                        self.numbers(value.slot)[i],
                        domain.words(),
                        if bounds.is_some() {
                            " within its bounds"
                        } else {
                            ""
                        },
                    ),
                ));
            }
            return Ok(());
        }
        if matches!(domain, Domain::Binary | Domain::Count) {
            return Err(value_error(
                place,
                format!(
                    "{family:?} is for data; gradients need continuous unknowns: sum the discrete one out, as a mixture does"
                ),
            ));
        }
        let Some(support) = value.support else {
            return Ok(());
        };
        let within = match (bounds, support) {
            (None, _) => lies_in(support, domain),
            (Some((low, high)), Support::Interval(a, b)) => a >= low && b <= high,
            (Some(_), _) => false,
        };
        if !within {
            return Err(value_error(
                place,
                format!(
                    "the support {support:?} reaches outside of what {family:?} allows; give the parameter {}",
                    match (bounds, domain) {
                        (Some((low, high)), _) => format!("the support interval({low}, {high})"),
                        (None, Domain::Unit) => "the support interval(0, 1)".into(),
                        _ => "the support positive".into(),
                    }
                ),
            ));
        }
        Ok(())
    }

    fn distribution(
        &mut self,
        place: &str,
        family: Family,
        value: Value,
        args: &[Value],
    ) -> Result<(), ModelError> {
        let mut all = vec![value];
        all.extend_from_slice(args);
        let n = Self::common_length(place, &all)?.unwrap_or(1);
        let slot = value.slot;
        let fixed = args.iter().all(|a| !a.slot.active && a.slot.len == 1);
        if fixed && value.support.is_some() && self.prior(family, slot, args) {
            return Ok(());
        }
        let term = match family {
            Family::Normal => {
                self.program.constant_term -= n as f64 * HALF_LN_TAU;
                let (mean, scale) = (args[0].slot, args[1].slot);
                if !slot.active && mean.len == 1 && scale.len == 1 {
                    let y = self.numbers(slot);
                    let average = y.iter().sum::<f64>() / y.len() as f64;
                    let squares = y.iter().map(|y| (y - average).powi(2)).sum();
                    Term::NormalReduced {
                        n: n as f64,
                        average,
                        squares,
                        mean,
                        scale,
                    }
                } else {
                    Term::Normal {
                        value: slot,
                        mean,
                        scale,
                        n,
                    }
                }
            }
            Family::BernoulliLogit if slot.len == n && args[0].slot.len == n => {
                Term::BernoulliLogit {
                    y: slot,
                    eta: args[0].slot,
                }
            }
            _ => Term::General {
                family,
                value: slot,
                args: padded(args),
                n,
            },
        };
        self.program.terms.push(term);
        Ok(())
    }

    /// Priors with constant arguments that need no term of their own.
    fn prior(&mut self, family: Family, slot: Slot, args: &[Value]) -> bool {
        let number = |compiler: &Self, i: usize| compiler.numbers(args[i].slot)[0];
        let n = slot.len as f64;
        let (mean, scale, extra) = match family {
            Family::Normal => (number(self, 0), number(self, 1), 0.0),
            Family::HalfNormal => (0.0, number(self, 0), std::f64::consts::LN_2),
            Family::Uniform => {
                // The support was checked to lie within the bounds: a constant.
                let width = number(self, 1) - number(self, 0);
                self.program.constant_term -= n * width.ln();
                return true;
            }
            _ => return false,
        };
        let range = slot.at..slot.at + slot.len;
        if self.program.quadratic.precision[range.clone()]
            .iter()
            .any(|p| *p != 0.0)
        {
            return false; // a second prior on the same parameter
        }
        self.program.quadratic.precision[range.clone()].fill(1.0 / (scale * scale));
        self.program.quadratic.mean[range].fill(mean);
        self.program.constant_term += n * (extra - scale.ln() - HALF_LN_TAU);
        true
    }

    fn mixture(
        &mut self,
        place: &str,
        value: &Argument,
        log_weights: &Argument,
        components: &[Component],
    ) -> Result<(), ModelError> {
        let value = self.vectors(place, std::slice::from_ref(value))?[0];
        let weights = self.vectors(place, std::slice::from_ref(log_weights))?[0];
        if components.is_empty() || weights.slot.len != components.len() {
            return Err(shape_error(
                place,
                format!(
                    "{} component(s) need a vector of as many log weights, not {}",
                    components.len(),
                    weights.slot.len
                ),
            ));
        }
        let mut all = vec![value];
        let mut lowered = Vec::with_capacity(components.len());
        for Component { family, args } in components {
            let args = self.family_args(place, *family, args)?;
            self.check_value(place, *family, &value, &args)?;
            all.extend_from_slice(&args);
            lowered.push((*family, padded(&args)));
        }
        let n = Self::common_length(place, &all)?.unwrap_or(1);
        let (y, log_weights) = (value.slot, weights.slot);
        let scalar = |s: &Slot| s.len == 1;
        let fused = !y.active
            && y.len == n
            && lowered.len() > 1
            && lowered.len() <= MAX_FUSED_COMPONENTS
            && lowered
                .iter()
                .all(|(f, a)| *f == Family::Normal && scalar(&a[0]) && scalar(&a[1]));
        self.program.terms.push(if fused {
            Term::NormalMixture {
                y,
                log_weights,
                means: lowered.iter().map(|(_, a)| a[0]).collect(),
                scales: lowered.iter().map(|(_, a)| a[1]).collect(),
            }
        } else {
            Term::Mixture {
                value: y,
                log_weights,
                components: lowered,
                n,
            }
        });
        Ok(())
    }
}

/// Three arguments; those a family does not take repeat the first and are ignored.
fn padded(args: &[Value]) -> [Slot; 3] {
    std::array::from_fn(|i| args.get(i).unwrap_or(&args[0]).slot)
}

fn lies_in(support: Support, domain: Domain) -> bool {
    match domain {
        Domain::Real => true,
        Domain::Positive => match support {
            Support::Positive => true,
            Support::Above(low) | Support::Interval(low, _) => low >= 0.0,
            Support::Real | Support::Below(_) | Support::Ordered => false,
        },
        Domain::Unit => {
            matches!(support, Support::Interval(low, high) if low >= 0.0 && high <= 1.0)
        }
        Domain::Binary | Domain::Count => false,
    }
}

fn words(argument: &Argument) -> String {
    match argument {
        Argument::Name(name) => format!("`{name}`"),
        Argument::Number(x) => x.to_string(),
    }
}
