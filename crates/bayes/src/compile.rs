//! From a model and its data to a program: names resolved, shapes checked, constants folded.

use std::collections::HashMap;

use crate::error::ModelError;
use crate::model::{
    Argument, Array, Data, Definition, Dimension, Model, Operation, Parameter, Support,
};
use crate::op::{Op, Slot};
use crate::program::{Program, Quadratic, zeros};
use crate::simd::InstructionSet;
use crate::transform::Block;

/// Numbers a program may hold (data, or values of one evaluation): 2 GiB each.
pub const MAX_NUMBERS: usize = 1 << 28;
/// Parameters, definitions, statements, arguments or data names in one model.
pub const MAX_ITEMS: usize = 1 << 14;
/// Elements of all parameters together, and numbers in one draw.
pub const MAX_DIMENSION: usize = 1 << 20;

/// The shape of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Scalar,
    Vector,
    Matrix { rows: usize, columns: usize },
}

/// A resolved name or literal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) slot: Slot,
    pub(crate) shape: Shape,
    /// Of parameters only: where the values may lie.
    pub(crate) support: Option<Support>,
}

impl Value {
    fn words(&self) -> String {
        match self.shape {
            Shape::Scalar => "a scalar".into(),
            Shape::Vector => format!("a vector of {}", self.slot.len),
            Shape::Matrix { rows, columns } => format!("a {rows} × {columns} matrix"),
        }
    }
}

/// What is being compiled so far.
pub(crate) struct Compiler<'a> {
    names: HashMap<&'a str, Value>,
    pub(crate) program: Program,
    data: &'a Data,
}

impl Program {
    /// Compiles `model` with `data` for this processor.
    ///
    /// # Errors
    /// Whatever is wrong with names, shapes, supports, values or sizes, naming the place. Data
    /// that the model does not declare are ignored.
    pub fn compile(model: &Model, data: &Data) -> Result<Program, ModelError> {
        let items = [
            ("the list of data", model.data.len()),
            ("the list of parameters", model.parameters.len()),
            ("the list of definitions", model.definitions.len()),
            ("the list of statements", model.statements.len()),
        ];
        for (what, size) in items {
            limit(what, size, MAX_ITEMS)?;
        }
        let mut compiler = Compiler {
            names: HashMap::new(),
            program: Program {
                set: InstructionSet::detect(),
                dimension: 0,
                blocks: Vec::new(),
                constants: Vec::new(),
                active: 0,
                ops: Vec::new(),
                quadratic: Quadratic::default(),
                constant_term: 0.0,
                terms: Vec::new(),
                scratch: 0,
                names: Vec::new(),
                kept: Vec::new(),
            },
            data,
        };
        for name in &model.data {
            compiler.data(name)?;
        }
        for parameter in &model.parameters {
            compiler.parameter(parameter)?;
        }
        let dimension = compiler.program.dimension;
        let memory = || out_of_memory("the parameters", dimension);
        compiler.program.quadratic = Quadratic {
            mean: zeros(dimension).ok_or_else(memory)?,
            precision: zeros(dimension).ok_or_else(memory)?,
        };
        for definition in &model.definitions {
            compiler.definition(definition)?;
        }
        for (i, statement) in model.statements.iter().enumerate() {
            compiler.statement(i, statement)?;
        }
        let mut program = compiler.program;
        program.scratch = program.terms.iter().map(|t| t.scratch()).max().unwrap_or(0);
        limit(
            "the program",
            program.active.max(program.scratch),
            MAX_NUMBERS,
        )?;
        Ok(program)
    }
}

impl<'a> Compiler<'a> {
    fn name(&mut self, name: &'a str, value: Value) -> Result<(), ModelError> {
        if name.is_empty() {
            return Err(value_error(
                "a name",
                "is empty; give it a letter at least".into(),
            ));
        }
        match self.names.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(ModelError::Duplicate { name: name.into() }),
        }
    }

    fn constant(&mut self, place: &str, values: &[f64]) -> Result<Slot, ModelError> {
        let constants = &mut self.program.constants;
        let at = constants.len();
        limit(place, at.saturating_add(values.len()), MAX_NUMBERS)?;
        constants
            .try_reserve(values.len())
            .map_err(|_| out_of_memory(place, values.len()))?;
        constants.extend_from_slice(values);
        Ok(Slot {
            active: false,
            at,
            len: values.len(),
        })
    }

    fn data(&mut self, name: &'a str) -> Result<(), ModelError> {
        let Array { shape, values } = self
            .data
            .get(name)
            .ok_or_else(|| ModelError::MissingData { name: name.into() })?;
        let place = format!("data `{name}`");
        let size = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if size != Some(values.len()) || values.is_empty() {
            return Err(shape_error(
                &place,
                format!(
                    "the shape {shape:?} does not describe its {} values; give one value for every element, and at least one",
                    values.len()
                ),
            ));
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(value_error(
                &place,
                format!(
                    "value {} is {}; remove or replace what is missing",
                    i + 1,
                    values[i]
                ),
            ));
        }
        let slot = self.constant(&place, values)?;
        let shape = match *shape.as_slice() {
            [] => Shape::Scalar,
            [_] => Shape::Vector,
            [rows, columns] => {
                // Column by column from here on: both products with a matrix want that.
                let target = &mut self.program.constants[slot.at..];
                for (i, v) in values.iter().enumerate() {
                    target[(i % columns) * rows + i / columns] = *v;
                }
                Shape::Matrix { rows, columns }
            }
            _ => {
                return Err(shape_error(
                    &place,
                    format!("has {} dimensions; use at most two", shape.len()),
                ));
            }
        };
        self.name(
            name,
            Value {
                slot,
                shape,
                support: None,
            },
        )
    }

    fn dimension(&self, place: &str, dimension: &Dimension) -> Result<usize, ModelError> {
        let (name, columns) = match dimension {
            Dimension::Size(n) => return Ok(*n),
            Dimension::Rows(name) => (name, false),
            Dimension::Columns(name) => (name, true),
        };
        let value = self.lookup(place, name)?;
        match (value.shape, columns) {
            (Shape::Vector, false) => Ok(value.slot.len),
            (Shape::Matrix { rows, .. }, false) => Ok(rows),
            (Shape::Matrix { columns, .. }, true) => Ok(columns),
            _ => Err(shape_error(
                place,
                format!(
                    "`{name}` is {} and has no such dimension; name a vector or a matrix of the data",
                    value.words()
                ),
            )),
        }
    }

    fn parameter(&mut self, parameter: &'a Parameter) -> Result<(), ModelError> {
        let place = format!("parameter `{}`", parameter.name);
        let (shape, len) = match parameter.shape.as_slice() {
            [] => (Shape::Scalar, 1),
            [dimension] => (Shape::Vector, self.dimension(&place, dimension)?),
            _ => {
                return Err(shape_error(
                    &place,
                    "has more than one dimension; use a vector".into(),
                ));
            }
        };
        if len == 0 {
            return Err(shape_error(
                &place,
                "has no elements; give it at least one".into(),
            ));
        }
        let bounds_are_fine = match parameter.support {
            Support::Interval(low, high) => low < high && (high - low).is_finite(),
            Support::Above(bound) | Support::Below(bound) => bound.is_finite(),
            Support::Real | Support::Positive | Support::Ordered => true,
        };
        if !bounds_are_fine {
            return Err(value_error(
                &place,
                format!(
                    "the support {:?} is empty or unbounded; give finite bounds in rising order",
                    parameter.support
                ),
            ));
        }
        if parameter.support == Support::Ordered && shape == Shape::Scalar {
            return Err(shape_error(
                &place,
                "an ordered parameter must be a vector; give it a shape".into(),
            ));
        }
        let program = &mut self.program;
        let at = program.dimension;
        limit(&place, at.saturating_add(len), MAX_DIMENSION)?;
        program.dimension += len;
        program.active = program.dimension;
        match program.blocks.last_mut() {
            // Neighbours with the same elementwise transform are one vector.
            Some(last) if last.support == parameter.support && last.support != Support::Ordered => {
                last.len += len;
            }
            _ => program.blocks.push(Block {
                support: parameter.support,
                at,
                len,
            }),
        }
        push_names(&mut program.names, &parameter.name, shape, len);
        let slot = Slot {
            active: true,
            at,
            len,
        };
        self.name(
            &parameter.name,
            Value {
                slot,
                shape,
                support: Some(parameter.support),
            },
        )
    }

    fn lookup(&self, place: &str, name: &str) -> Result<Value, ModelError> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| ModelError::Unknown {
                place: place.into(),
                name: name.into(),
            })
    }

    pub(crate) fn argument(
        &mut self,
        place: &str,
        argument: &Argument,
    ) -> Result<Value, ModelError> {
        match argument {
            Argument::Name(name) => self.lookup(place, name),
            Argument::Number(x) if x.is_finite() => {
                let slot = self.constant(place, &[*x])?;
                Ok(Value {
                    slot,
                    shape: Shape::Scalar,
                    support: None,
                })
            }
            Argument::Number(x) => Err(value_error(
                place,
                format!("{x} is not a number; use a finite one"),
            )),
        }
    }

    /// The arguments of an operation or family, not matrices.
    pub(crate) fn vectors(
        &mut self,
        place: &str,
        args: &[Argument],
    ) -> Result<Vec<Value>, ModelError> {
        limit(place, args.len(), MAX_ITEMS)?;
        args.iter()
            .map(|a| {
                let value = self.argument(place, a)?;
                match value.shape {
                    Shape::Matrix { .. } => Err(shape_error(
                        place,
                        format!(
                            "takes scalars and vectors, not {}; use `matvec` with a matrix",
                            value.words()
                        ),
                    )),
                    _ => Ok(value),
                }
            })
            .collect()
    }

    /// The one length of scalars and vectors together; `None` if all are scalars.
    pub(crate) fn common_length(
        place: &str,
        values: &[Value],
    ) -> Result<Option<usize>, ModelError> {
        let mut common: Option<usize> = None;
        for value in values.iter().filter(|v| v.shape == Shape::Vector) {
            match common {
                Some(n) if n != value.slot.len => {
                    return Err(shape_error(
                        place,
                        format!(
                            "a vector of {n} meets a vector of {}; make them as long as each other",
                            value.slot.len
                        ),
                    ));
                }
                _ => common = Some(value.slot.len),
            }
        }
        Ok(common)
    }

    fn definition(&mut self, definition: &'a Definition) -> Result<(), ModelError> {
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

fn push_names(names: &mut Vec<String>, name: &str, shape: Shape, len: usize) {
    match shape {
        Shape::Scalar => names.push(name.into()),
        _ => names.extend((1..=len).map(|i| format!("{name}.{i}"))),
    }
}

fn limit(what: &str, size: usize, limit: usize) -> Result<(), ModelError> {
    if size > limit {
        return Err(ModelError::TooLarge {
            what: what.into(),
            size,
            limit,
        });
    }
    Ok(())
}

pub(crate) fn shape_error(place: &str, reason: String) -> ModelError {
    ModelError::Shape {
        place: place.into(),
        reason,
    }
}

pub(crate) fn value_error(place: &str, reason: String) -> ModelError {
    ModelError::Value {
        place: place.into(),
        reason,
    }
}

fn out_of_memory(what: &str, size: usize) -> ModelError {
    ModelError::OutOfMemory {
        what: what.into(),
        size,
    }
}
