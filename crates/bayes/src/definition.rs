//! From definitions to operations: arity and shapes checked, constants folded.

use crate::compile::{
    Compiler, MAX_DIMENSION, MAX_ITEMS, MAX_NUMBERS, Shape, Value, limit, out_of_memory,
    push_names, shape_error, value_error,
};
use crate::error::ModelError;
use crate::model::{Argument, Definition, Operation};
use crate::op::{Op, Slot};
use crate::program::zeros;

impl<'a> Compiler<'a> {
    pub(crate) fn definition(&mut self, definition: &'a Definition) -> Result<(), ModelError> {
        use Operation::*;
        let place = format!("definition `{}`", definition.name);
        let arity = match definition.op {
            Add | Sub | Mul | Div | Pow | Dot | Matvec | Index | Ar1 | StationaryAr1 => 2..=2,
            Concat => 1..=MAX_ITEMS,
            _ => 1..=1,
        };
        if !arity.contains(&definition.args.len()) {
            return Err(shape_error(
                &place,
                format!(
                    "{:?} takes {} argument(s), not {}",
                    definition.op,
                    arity.start(),
                    definition.args.len()
                ),
            ));
        }
        let (op, shape, len) = self.operation(&place, definition)?;
        let active = op.inputs().iter().any(|s| s.active);
        let slot = if active {
            let at = self.program.active;
            self.program.active = at.saturating_add(len);
            limit(&place, self.program.active, MAX_NUMBERS)?;
            let slot = Slot { active, at, len };
            self.program.ops.push((op, slot));
            slot
        } else {
            // From data alone: once, now.
            let mut out = zeros(len).ok_or_else(|| out_of_memory(&place, len))?;
            op.forward(self.program.set, &self.program.constants, &[], &mut out);
            self.constant(&place, &out)?
        };
        if definition.keep {
            let width = self.program.names.len().saturating_add(len);
            limit(&place, width, MAX_DIMENSION)?;
            push_names(&mut self.program.names, &definition.name, shape, len);
            self.program.kept.push(slot);
        }
        self.name(
            &definition.name,
            Value {
                slot,
                shape,
                support: None,
            },
        )
    }

    fn operation(
        &mut self,
        place: &str,
        definition: &Definition,
    ) -> Result<(Op, Shape, usize), ModelError> {
        use Operation::*;
        let f = definition.op;
        if f == Matvec {
            return self.matvec(place, &definition.args);
        }
        let args = self.vectors(place, &definition.args)?;
        let expect = |ok: bool, what: &str| {
            if ok {
                return Ok(());
            }
            let found: Vec<String> = args.iter().map(Value::words).collect();
            Err(shape_error(
                place,
                format!("{f:?} takes {what}, not {}", found.join(" and ")),
            ))
        };
        let vector = |v: &Value| v.shape == Shape::Vector;
        let like = |v: &Value| (v.shape, v.slot.len);
        let a = args[0];
        Ok(match f {
            Add | Sub | Mul | Div | Pow => {
                let length = Self::common_length(place, &args)?;
                let shape = if length.is_some() {
                    Shape::Vector
                } else {
                    Shape::Scalar
                };
                (
                    Op::Binary {
                        f,
                        a: a.slot,
                        b: args[1].slot,
                    },
                    shape,
                    length.unwrap_or(1),
                )
            }
            Neg | Exp | Log | Log1p | Sqrt | Square | Tanh | InvLogit | Logit | Log1pExp => {
                (Op::Unary { f, x: a.slot }, a.shape, a.slot.len)
            }
            Sum => (Op::Sum { x: a.slot }, Shape::Scalar, 1),
            Dot => {
                expect(
                    args.iter().all(vector) && a.slot.len == args[1].slot.len,
                    "two vectors of one length",
                )?;
                (
                    Op::Dot {
                        a: a.slot,
                        b: args[1].slot,
                    },
                    Shape::Scalar,
                    1,
                )
            }
            Concat => {
                let parts: Vec<Slot> = args.iter().map(|v| v.slot).collect();
                let len = parts.iter().fold(0usize, |n, s| n.saturating_add(s.len));
                limit(place, len, MAX_NUMBERS)?;
                (Op::Concat { parts }, Shape::Vector, len)
            }
            Index => {
                expect(
                    vector(&a) && !args[1].slot.active,
                    "a vector and positions that are data",
                )?;
                let positions = args[1].slot.read(&self.program.constants, &[]);
                let mut index = Vec::new();
                index
                    .try_reserve_exact(positions.len())
                    .map_err(|_| out_of_memory(place, positions.len()))?;
                for p in positions {
                    if !(p.fract() == 0.0 && *p >= 0.0 && *p < a.slot.len as f64) {
                        return Err(value_error(
                            place,
                            format!(
                                "the position {p} is not in a vector of {}; positions count from 0",
                                a.slot.len
                            ),
                        ));
                    }
                    index.push(*p as usize);
                }
                let len = index.len();
                (Op::Index { x: a.slot, index }, args[1].shape, len)
            }
            LogSoftmax | Softmax | CumulativeSum => {
                expect(vector(&a), "a vector")?;
                let x = a.slot;
                let op = match f {
                    LogSoftmax => Op::LogSoftmax { x },
                    Softmax => Op::Softmax { x },
                    _ => Op::CumulativeSum { x },
                };
                (op, a.shape, x.len)
            }
            Ar1 | StationaryAr1 => {
                expect(!vector(&a) && vector(&args[1]), "a scalar and a vector")?;
                let (phi, innovations) = (a.slot, args[1].slot);
                let op = Op::Ar1 {
                    phi,
                    innovations,
                    stationary: f == StationaryAr1,
                };
                let (shape, len) = like(&args[1]);
                (op, shape, len)
            }
            Matvec => unreachable!("handled above"),
        })
    }

    fn matvec(&mut self, place: &str, args: &[Argument]) -> Result<(Op, Shape, usize), ModelError> {
        let (matrix, x) = (
            self.argument(place, &args[0])?,
            self.argument(place, &args[1])?,
        );
        match (matrix.shape, x.shape) {
            (Shape::Matrix { rows, columns }, Shape::Vector) if x.slot.len == columns => Ok((
                Op::Matvec {
                    columns: matrix.slot,
                    x: x.slot,
                },
                Shape::Vector,
                rows,
            )),
            _ => Err(shape_error(
                place,
                format!(
                    "Matvec takes a matrix of data and a vector as long as its rows, not {} and {}",
                    matrix.words(),
                    x.words()
                ),
            )),
        }
    }
}
