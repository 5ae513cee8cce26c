//! From a model and its data to a program: names resolved, shapes checked.

use std::collections::HashMap;

use crate::error::ModelError;
use crate::model::{Argument, Array, Data, Dimension, Model, Parameter, Support};
use crate::op::Slot;
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
    pub(crate) fn words(&self) -> String {
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
    pub(crate) fn name(&mut self, name: &'a str, value: Value) -> Result<(), ModelError> {
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

    pub(crate) fn constant(&mut self, place: &str, values: &[f64]) -> Result<Slot, ModelError> {
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
}

pub(crate) fn push_names(names: &mut Vec<String>, name: &str, shape: Shape, len: usize) {
    match shape {
        Shape::Scalar => names.push(name.into()),
        _ => names.extend((1..=len).map(|i| format!("{name}.{i}"))),
    }
}

pub(crate) fn limit(what: &str, size: usize, limit: usize) -> Result<(), ModelError> {
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

pub(crate) fn out_of_memory(what: &str, size: usize) -> ModelError {
    ModelError::OutOfMemory {
        what: what.into(),
        size,
    }
}
