//! Edits of `Function`, the same as those of plugins.

use passdock::sdk::{
    self, ConstantSpec, EditError, FunctionKind, LocId, Position, TypeId, TypeSpec, ValueId,
};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::crossing::convert::Mapping;
use crate::crossing::gil;
use crate::ir::attr;
use crate::ir::constant::Constant;
use crate::ir::definition;
use crate::ir::function::{self, Function};
use crate::ir::new_op::NewOp;
use crate::ir::op::Op;
use crate::ir::part::Part;
use crate::ir::region::Region;
use crate::ir::types::TypeArgument;
use crate::ir::value::Value;

/// An operand argument.
pub(crate) type Operand = Option<Py<Value>>;

/// Returns the ids of values, which have to belong to this function.
pub(crate) fn ids_of(slf: &Bound<'_, Function>, values: &[Operand]) -> PyResult<Vec<ValueId>> {
    let id = |value: &Operand| match value {
        None => Ok(ValueId::NONE),
        Some(value) => value.get().0.id_in(slf),
    };
    values.iter().map(id).collect()
}

/// Converts the arguments `before`, `after` and `end_of` to a position.
pub(crate) fn position(
    slf: &Bound<'_, Function>,
    before: Option<&Op>,
    after: Option<&Op>,
    end_of: Option<&Region>,
) -> PyResult<Position> {
    match (before, after, end_of) {
        (Some(op), None, None) => Ok(Position::before(op.0.id_in(slf)?)),
        (None, Some(op), None) => {
            let op = op.0.id_in(slf)?;
            slf.get().read(|f| match f.next_op(op) {
                Some(next) => Position::before(next),
                None => Position::end_of(f.parent_region(op)),
            })
        }
        (None, None, Some(region)) => Ok(Position::end_of(region.0.id_in(slf)?)),
        (None, None, None) => slf.get().read(|f| Position::end_of(f.body())),
        _ => Err(PyTypeError::new_err(
            "expected only one of `before`, `after` and `end_of`",
        )),
    }
}

/// Converts an index, which may not be negative here.
pub(crate) fn counted(index: isize) -> PyResult<usize> {
    usize::try_from(index).map_err(|_| {
        PyIndexError::new_err("negative operand index; the last operand is `op.operands[-1]`")
    })
}

/// Names the unnamed results of a function after their values, and sets their types.
fn name_results(f: &mut sdk::Function, values: &[ValueId]) -> Result<(), EditError> {
    let body = f.body();
    let ports: Vec<_> = f.ports(body).collect();
    if ports.iter().all(|port| port.name.is_some()) {
        return Ok(());
    }
    let used = ports.iter().filter(|port| port.name.is_some());
    let mut used: Vec<String> = used.map(|port| f.text(port.name).to_owned()).collect();
    let mut named = Vec::new();
    for (port, &value) in ports.iter().zip(values) {
        let own = f.value_name(value).filter(|_| port.name.is_none());
        let name = own.filter(|name| !used.iter().any(|known| known == name));
        let name = name.unwrap_or_default().to_owned();
        used.push(name.clone());
        let ty = match port.name.is_none() {
            true => f.type_id(value),
            false => TypeId::NONE,
        };
        named.push((name, ty, value));
    }
    let named: Vec<_> = named
        .iter()
        .map(|(name, ty, value)| (name.as_str(), *ty, *value))
        .collect();
    f.set_named_results(body, &named)
}

/// An argument that is an op or a value.
#[derive(FromPyObject)]
enum OpOrValue {
    Op(Py<Op>),
    Value(Py<Value>),
}

#[pymethods]
impl Function {
    /// Creates an op: ``func.create_op("onnx.Add", [x, y], before=op)``.
    ///
    /// ``ctx.infer`` infers the types of its results; ``ctx.create_value`` creates an op and infers its types.
    ///
    /// Args:
    ///     name: The name, including the domain.
    ///     operands: The operands; None for an omitted one.
    ///     attrs: The attributes by name.
    ///     results: The number of results, 1 by default, or their types: ``["f32[n,3]"]``.
    ///     before, after, end_of: The insertion point: before or after an op, or at the end of a region. By default,
    ///         the end of the body.
    ///     custom: Whether to allow an operator that no plugin defines. Not needed for a domain without definitions if
    ///         the function imports it.
    ///
    /// Raises EditError if the edit would make the IR invalid, no plugin defines the operator, or the definition
    /// doesn't allow the operands or attributes.
    #[pyo3(signature = (
        name, operands, *, attrs = None, results = None, before = None, after = None, end_of = None,
        custom = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
    fn create_op(
        slf: &Bound<'_, Self>,
        name: &str,
        operands: Vec<Operand>,
        attrs: Option<Mapping<'_>>,
        results: Option<&Bound<'_, PyAny>>,
        before: Option<&Op>,
        after: Option<&Op>,
        end_of: Option<&Region>,
        custom: bool,
    ) -> PyResult<Op> {
        let op = NewOp::new(slf, name, &operands, attrs.as_ref(), results, custom, None)?;
        let at = position(slf, before, after, end_of)?;
        let id = function::edit(slf, |f| {
            let types = op.types(f)?.unwrap_or_else(|| vec![TypeId::NONE]);
            f.create_op(op.builder(Some(types)), at)
        })?;
        Ok(Op(Part::new(slf, id)))
    }

    /// Replaces an op and its results with a new op: ``func.replace_op(op, "acme.Relu", [x])``.
    ///
    /// The new op has the old one's location. Its results have the old types unless ``results`` has others.
    ///
    /// Args:
    ///     keep_attrs: Whether the new op starts with the attributes of the old one.
    ///     custom: As for ``create_op``.
    ///
    /// Raises EditError if the edit would make the IR invalid, no plugin defines the operator, or the definition
    /// doesn't allow the operands or attributes.
    #[pyo3(signature = (op, name, operands, *, attrs = None, results = None, keep_attrs = false, custom = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
    fn replace_op(
        slf: &Bound<'_, Self>,
        op: &Op,
        name: &str,
        operands: Vec<Operand>,
        attrs: Option<Mapping<'_>>,
        results: Option<&Bound<'_, PyAny>>,
        keep_attrs: bool,
        custom: bool,
    ) -> PyResult<Op> {
        let old = op.0.id_in(slf)?;
        let (like, attrs) = (keep_attrs.then_some(old), attrs.as_ref());
        let new = NewOp::new(slf, name, &operands, attrs, results, custom, like)?;
        let id = function::edit(slf, |f| {
            let types = new.types(f)?;
            let builder = new.builder(types);
            let builder = match keep_attrs {
                true => builder.take_attrs(),
                false => builder,
            };
            f.replace_op(old, builder)
        })?;
        Ok(Op(Part::new(slf, id)))
    }

    /// Replaces an op's results with values and erases the op: ``func.replace_op_with(op, [x])``.
    ///
    /// Args:
    ///     erase_dead: Whether to erase ops and constants that become dead, too.
    ///
    /// Raises EditError if the number of values isn't the number of results, or the edit would make the IR invalid.
    #[pyo3(signature = (op, values, *, erase_dead = false))]
    fn replace_op_with(
        slf: &Bound<'_, Self>,
        op: &Op,
        values: Vec<Operand>,
        erase_dead: bool,
    ) -> PyResult<()> {
        let (op, values) = (op.0.id_in(slf)?, ids_of(slf, &values)?);
        function::edit(slf, |f| match erase_dead {
            true => f.replace_with_and_erase_dead(op, &values).map(drop),
            false => f.replace_op_with(op, &values),
        })
    }

    /// Erases an op without used results.
    ///
    /// Raises EditError if a result is used.
    fn erase_op(slf: &Bound<'_, Self>, op: &Op) -> PyResult<()> {
        let op = op.0.id_in(slf)?;
        function::edit(slf, |f| f.erase_op(op))
    }

    /// Moves an op before or after another one, or to the end of a region.
    ///
    /// Raises EditError if a definition would no longer dominate its uses.
    #[pyo3(signature = (op, *, before = None, after = None, end_of = None))]
    fn move_op(
        slf: &Bound<'_, Self>,
        op: &Op,
        before: Option<&Op>,
        after: Option<&Op>,
        end_of: Option<&Region>,
    ) -> PyResult<()> {
        let (op, at) = (op.0.id_in(slf)?, position(slf, before, after, end_of)?);
        function::edit(slf, |f| f.move_op(op, at))
    }

    /// Sets an operand; None omits it.
    ///
    /// Raises EditError if the value isn't visible to the op or there is no such operand, and IndexError for a negative
    /// index.
    fn set_operand(slf: &Bound<'_, Self>, op: &Op, index: isize, value: Operand) -> PyResult<()> {
        let index = counted(index)?;
        let (op, value) = (op.0.id_in(slf)?, ids_of(slf, &[value])?[0]);
        function::edit(slf, |f| f.set_operand(op, index, value))
    }

    /// Replaces all uses of a value with another value.
    ///
    /// Raises EditError if the new value isn't visible at all uses, or the types contradict.
    fn replace_uses(slf: &Bound<'_, Self>, value: &Value, by: &Value) -> PyResult<()> {
        let (from, to) = (value.0.id_in(slf)?, by.0.id_in(slf)?);
        function::edit(slf, |f| f.replace_uses(from, to))
    }

    /// Sets an attribute of an op.
    ///
    /// Args:
    ///     custom: Whether to allow an attribute that the operator's definition doesn't have.
    ///
    /// Raises EditError if the definition has no such attribute, or one of another kind.
    #[pyo3(signature = (op, name, value, *, custom = false))]
    fn set_attr(
        slf: &Bound<'_, Self>,
        op: &Op,
        name: &str,
        value: &Bound<'_, PyAny>,
        custom: bool,
    ) -> PyResult<()> {
        let (op, mut value) = (op.0.id_in(slf)?, attr::named(slf, name, value)?);
        if !custom {
            definition::check_set(slf, op, name, &mut value)?;
        }
        function::edit(slf, |f| f.set_attr(op, name, value))
    }

    /// Removes an attribute of an op.
    fn remove_attr(slf: &Bound<'_, Self>, op: &Op, name: &str) -> PyResult<()> {
        let op = op.0.id_in(slf)?;
        function::edit(slf, |f| f.remove_attr(op, name).map(drop))
    }

    /// Sets an attribute of the function.
    fn set_function_attr(
        slf: &Bound<'_, Self>,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let value = attr::named(slf, name, value)?;
        function::edit(slf, |f| f.set_function_attr(name, value))
    }

    /// Removes an attribute of the function.
    ///
    /// Raises EditError if there is no attribute of that name.
    fn remove_function_attr(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        function::edit(slf, |f| {
            let exists = f.function_attrs().any(|(known, _)| f.text(known) == name);
            if !exists {
                let own = f.function_name();
                let message = format!("function `@{own}` has no attribute `{name}`");
                return Err(EditError::failed(message));
            }
            f.remove_function_attr(name)
        })
    }

    /// Refines the type of a value. The type is a string (``"f32[n,3]"``), a pair of dtype and shape, or another
    /// value's type.
    ///
    /// Raises EditError if it contradicts the known type.
    fn set_type(slf: &Bound<'_, Self>, value: &Value, r#type: &Bound<'_, PyAny>) -> PyResult<()> {
        let (value, requested) = (value.0.id_in(slf)?, TypeArgument::extract(slf, r#type)?);
        function::edit(slf, |f| {
            let ty = requested.add(f)?;
            f.set_type(value, ty)
        })
    }

    /// Names a value. A name that is taken gets a numeric suffix.
    fn set_value_name(slf: &Bound<'_, Self>, value: &Value, name: &str) -> PyResult<()> {
        let value = value.0.id_in(slf)?;
        function::edit(slf, |f| f.set_value_name(value, name))
    }

    /// Sets an entry of the metadata of an op or a value. An empty text removes it.
    fn set_metadata(
        slf: &Bound<'_, Self>,
        entity: OpOrValue,
        key: &str,
        text: &str,
    ) -> PyResult<()> {
        match entity {
            OpOrValue::Op(op) => {
                let op = op.get().0.id_in(slf)?;
                function::edit(slf, |f| f.set_op_metadata(op, key, text))
            }
            OpOrValue::Value(value) => {
                let value = value.get().0.id_in(slf)?;
                function::edit(slf, |f| f.set_value_metadata(value, key, text))
            }
        }
    }

    /// Adds a constant from a NumPy array, or a value that converts to one (``2.0``, ``[1, 2]``, ``["a", "b"]``). The
    /// bytes are copied; those of a ``Constant`` are shared.
    ///
    /// Args:
    ///     dtype: The element type, ``"f32"`` or a NumPy dtype. By default, that of the array.
    ///     name: The name of the value. A name that is taken gets a numeric suffix.
    ///
    /// Raises TypeError for data that can't become a constant, and ValueError for elements that the dtype can't
    /// represent.
    #[pyo3(signature = (data, dtype = None, *, name = None))]
    fn add_constant(
        slf: &Bound<'_, Self>,
        data: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        name: Option<&str>,
    ) -> PyResult<Value> {
        if let Ok(constant) = data.cast::<Constant>()
            && let Some(id) = constant.get().add_to(slf, dtype, name)?
        {
            return Ok(Value(Part::new(slf, id)));
        }
        let arrays = slf.py().import("passdock._arrays")?;
        let (dtype, shape, bytes): (String, Vec<i64>, Vec<u8>) =
            gil::call_method(&arrays, "to_bytes", (data, dtype))?.extract()?;
        let dtype = crate::ir::types::dtype_of(slf.py(), &dtype)?;
        let id = function::edit(slf, |f| {
            let ty = f.add_type(&TypeSpec::shaped(dtype, &shape))?;
            let spec = ConstantSpec::new(ty, &bytes);
            f.add_constant(&match name {
                Some(name) => spec.named(name),
                None => spec,
            })
        })?;
        Ok(Value(Part::new(slf, id)))
    }

    /// Erases the op or constant that defines a value, if it is dead, and transitively the definitions of its operands.
    fn erase_dead(slf: &Bound<'_, Self>, value: &Value) -> PyResult<()> {
        let value = value.0.id_in(slf)?;
        function::edit(slf, |f| f.erase_dead(value))
    }

    /// Sets the results of the function, or the values that a region yields.
    ///
    /// Args:
    ///     names: The names of the results, whose types become those of their values. By default, results keep their
    ///         names; if the function had none, results are named after their values.
    ///
    /// Raises EditError if a value isn't visible at the end of the region, and ValueError if the number of names is
    /// wrong.
    #[pyo3(signature = (values, region = None, *, names = None))]
    fn set_results(
        slf: &Bound<'_, Self>,
        values: Vec<Operand>,
        region: Option<&Region>,
        names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let values = ids_of(slf, &values)?;
        let region = region.map(|region| region.0.id_in(slf)).transpose()?;
        if let Some(names) = names.as_ref().filter(|names| names.len() != values.len()) {
            return Err(PyValueError::new_err(format!(
                "`names` must have one name per result: found {} names and {} results",
                names.len(),
                values.len()
            )));
        }
        function::edit(slf, |f| {
            let (body, region) = (f.body(), region.unwrap_or_else(|| f.body()));
            let is_of_model = region == body && f.kind() == FunctionKind::GRAPH;
            if is_of_model && values.iter().any(|value| value.is_none()) {
                return Err(EditError::failed("a result of a function cannot be None"));
            }
            let Some(names) = names else {
                f.set_results(region, &values)?;
                return match is_of_model {
                    true => name_results(f, &values),
                    false => Ok(()),
                };
            };
            let named = names.iter().zip(&values);
            let named = named.map(|(name, &value)| (name.as_str(), f.type_id(value), value));
            let named: Vec<_> = named.collect();
            f.set_named_results(region, &named)
        })
    }

    /// Imports a version of a domain; ``""`` is ONNX's own.
    fn set_opset(slf: &Bound<'_, Self>, domain: &str, version: i64) -> PyResult<()> {
        function::edit(slf, |f| f.set_opset(domain, version))
    }

    /// Sets an op's location to the fused locations of other ops.
    fn set_loc_from(slf: &Bound<'_, Self>, op: &Op, ops: Vec<Py<Op>>) -> PyResult<()> {
        let op = op.0.id_in(slf)?;
        let from = ops.iter().map(|from| from.get().0.id_in(slf));
        let from = from.collect::<PyResult<Vec<_>>>()?;
        function::edit(slf, |f| {
            let loc: LocId = f.fused_loc(&from)?;
            f.set_loc(op, loc)
        })
    }

    /// Moves the ops of a region before the op that contains it, and replaces the region's arguments with ``args``.
    /// Returns the values that the region yields: ``func.replace_op_with(op, values)`` then replaces the op.
    ///
    /// Raises EditError if there is no such region, or the number of arguments is wrong.
    #[pyo3(signature = (op, region, args = Vec::new()))]
    fn inline_region(
        slf: &Bound<'_, Self>,
        op: &Op,
        region: &str,
        args: Vec<Operand>,
    ) -> PyResult<Vec<Option<Value>>> {
        let (op, args) = (op.0.id_in(slf)?, ids_of(slf, &args)?);
        let found = slf.get().read(|f| f.region(op, region))?;
        let missing = || PyKeyError::new_err(format!("the op has no region `{region}`"));
        let found = found.ok_or_else(missing)?;
        let values = function::edit(slf, |f| f.inline_region(found, &args))?;
        Ok(function::values(slf, &values))
    }

    /// Appends a parameter. A new function has none.
    #[pyo3(signature = (name, r#type))]
    fn add_param(slf: &Bound<'_, Self>, name: &str, r#type: &Bound<'_, PyAny>) -> PyResult<Value> {
        let requested = TypeArgument::extract(slf, r#type)?;
        let id = function::edit(slf, |f| {
            let ty = requested.add(f)?;
            sdk::FunctionBuilder::new(f).param(name, ty)
        })?;
        Ok(Value(Part::new(slf, id)))
    }
}
