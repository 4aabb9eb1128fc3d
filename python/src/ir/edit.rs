//! `Function`: its edits, those of plugins.

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

/// An operand as a program says it.
pub(crate) type Operand = Option<Py<Value>>;

/// The ids of values, which have to be of this function.
pub(crate) fn ids_of(slf: &Bound<'_, Function>, values: &[Operand]) -> PyResult<Vec<ValueId>> {
    let id = |value: &Operand| match value {
        None => Ok(ValueId::NONE),
        Some(value) => value.get().0.id_in(slf),
    };
    values.iter().map(id).collect()
}

/// The place that `before`, `after` or `end_of` says.
pub(crate) fn place(
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
            "give one of `before`, `after` and `end_of`",
        )),
    }
}

/// An index of Python's, which is counted from the start here.
pub(crate) fn counted(index: isize) -> PyResult<usize> {
    usize::try_from(index).map_err(|_| {
        PyIndexError::new_err("operands are counted from 0; `op.operands[-1]` is the last")
    })
}

/// Gives results of a function that have no names those of their values, and their types.
fn name_results(f: &mut sdk::Function, values: &[ValueId]) -> Result<(), EditError> {
    let body = f.body();
    let ports: Vec<_> = f.ports(body).collect();
    if ports.iter().all(|port| port.name.is_some()) {
        return Ok(());
    }
    let taken = ports.iter().filter(|port| port.name.is_some());
    let mut taken: Vec<String> = taken.map(|port| f.text(port.name).to_owned()).collect();
    let mut named = Vec::new();
    for (port, &value) in ports.iter().zip(values) {
        let own = f.value_name(value).filter(|_| port.name.is_none());
        let name = own.filter(|name| !taken.iter().any(|known| known == name));
        let name = name.unwrap_or_default().to_owned();
        taken.push(name.clone());
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

#[pymethods]
impl Function {
    /// Makes an op: ``func.create_op("onnx.Add", [x, y], before=op)``.
    ///
    /// name: domain included. operands: values, None for one that is left out. attrs: by name. results: how many
    /// (one by default), or their types: ``["f32[n,3]"]``. It goes before or after an op, or to the end of a region;
    /// without any of these to the end of the body. The types of its results are ``ctx.infer``'s to find, or
    /// ``ctx.create_value`` makes op and types at once. custom: makes an operator that no plugin defines; not needed
    /// for a domain that nobody defines, if the function has an opset of it.
    ///
    /// Raises EditError if the IR would be wrong with it, nobody defines the operator, or it has other operands or
    /// attributes.
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
        let at = place(slf, before, after, end_of)?;
        let id = function::edit(slf, |f| {
            let types = op.types(f)?.unwrap_or_else(|| vec![TypeId::NONE]);
            f.create_op(op.builder(Some(types)), at)
        })?;
        Ok(Op(Part::new(slf, id)))
    }

    /// Puts a new op in the place of one, whose results it takes over: ``func.replace_op(op, "acme.Relu", [x])``.
    ///
    /// keep_attrs: whether it starts with the attributes of the old one. It has the old one's location, and its
    /// results the old types, if nothing else is said. custom: as of ``create_op``.
    ///
    /// Raises EditError if the IR would be wrong with it, nobody defines the operator, or it has other operands or
    /// attributes.
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

    /// Puts values in the place of an op's results, and erases the op: ``func.replace_op_with(op, [x])``.
    ///
    /// erase_dead: whether what nobody uses any more goes, too: the ops that the op was made of.
    ///
    /// Raises EditError if there aren't as many values as results, or the IR would be wrong with them.
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

    /// Erases an op, whose results nobody may use.
    ///
    /// Raises EditError if somebody does.
    fn erase_op(slf: &Bound<'_, Self>, op: &Op) -> PyResult<()> {
        let op = op.0.id_in(slf)?;
        function::edit(slf, |f| f.erase_op(op))
    }

    /// Moves an op before or after another one, or to the end of a region.
    ///
    /// Raises EditError if a value would be used before it is there.
    #[pyo3(signature = (op, *, before = None, after = None, end_of = None))]
    fn move_op(
        slf: &Bound<'_, Self>,
        op: &Op,
        before: Option<&Op>,
        after: Option<&Op>,
        end_of: Option<&Region>,
    ) -> PyResult<()> {
        let (op, at) = (op.0.id_in(slf)?, place(slf, before, after, end_of)?);
        function::edit(slf, |f| f.move_op(op, at))
    }

    /// Sets an operand; None leaves it out.
    ///
    /// Raises EditError if the value isn't there yet, or there is no such operand, and IndexError for a negative index.
    fn set_operand(slf: &Bound<'_, Self>, op: &Op, index: isize, value: Operand) -> PyResult<()> {
        let index = counted(index)?;
        let (op, value) = (op.0.id_in(slf)?, ids_of(slf, &[value])?[0]);
        function::edit(slf, |f| f.set_operand(op, index, value))
    }

    /// Puts a value in the place of another one, wherever that is used.
    ///
    /// Raises EditError if it isn't there yet somewhere, or its type contradicts.
    fn replace_uses(slf: &Bound<'_, Self>, value: &Value, by: &Value) -> PyResult<()> {
        let (from, to) = (value.0.id_in(slf)?, by.0.id_in(slf)?);
        function::edit(slf, |f| f.replace_uses(from, to))
    }

    /// Sets an attribute of an op. custom: also one that the operator doesn't have by its definition.
    ///
    /// Raises EditError if it doesn't have it, or of another kind.
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
    /// Raises EditError if it has none of the name.
    fn remove_function_attr(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        function::edit(slf, |f| {
            let is_there = f.function_attrs().any(|(known, _)| f.text(known) == name);
            if !is_there {
                let own = f.function_name();
                let message = format!("the function @{own} has no attribute `{name}`.");
                return Err(EditError::failed(message));
            }
            f.remove_function_attr(name)
        })
    }

    /// Refines the type of a value: a text (``"f32[n,3]"``), a pair of dtype and shape, or another value's type.
    ///
    /// Raises EditError if it contradicts what is known.
    fn set_type(slf: &Bound<'_, Self>, value: &Value, r#type: &Bound<'_, PyAny>) -> PyResult<()> {
        let (value, wanted) = (value.0.id_in(slf)?, TypeArgument::extract(slf, r#type)?);
        function::edit(slf, |f| {
            let ty = wanted.add(f)?;
            f.set_type(value, ty)
        })
    }

    /// Names a value. A name that is taken gets a number behind it.
    fn set_value_name(slf: &Bound<'_, Self>, value: &Value, name: &str) -> PyResult<()> {
        let value = value.0.id_in(slf)?;
        function::edit(slf, |f| f.set_value_name(value, name))
    }

    /// Adds a constant: a NumPy array, or what makes one (``2.0``, ``[1, 2]``, ``["a", "b"]``), whose bytes are copied.
    /// The elements of a ``Constant`` are shared.
    ///
    /// dtype: ``"f32"`` or a dtype of NumPy, if it isn't the array's own. name: that of the value.
    ///
    /// A name that is taken gets a number behind it. Raises TypeError for what no constant is made of, and ValueError
    /// for elements that the dtype doesn't have.
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

    /// Erases ops, constants and what they were made of, as far as nobody uses them: beginning with a value.
    fn erase_dead(slf: &Bound<'_, Self>, value: &Value) -> PyResult<()> {
        let value = value.0.id_in(slf)?;
        function::edit(slf, |f| f.erase_dead(value))
    }

    /// Sets what the function returns, or a region yields.
    ///
    /// names: the names of the results, which then have their values' types; without it those of before stay, and those
    /// of a function that had none are their values'.
    ///
    /// Raises EditError if a value isn't visible there, and ValueError if there isn't a name for each.
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
                "{} names for {} results: `names` has one for each",
                names.len(),
                values.len()
            )));
        }
        function::edit(slf, |f| {
            let (body, region) = (f.body(), region.unwrap_or_else(|| f.body()));
            let is_of_model = region == body && f.kind() == FunctionKind::GRAPH;
            if is_of_model && values.iter().any(|value| value.is_none()) {
                return Err(EditError::failed("a function has all of its results"));
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

    /// Sets the version of a domain; ``""`` is ONNX's own.
    fn set_opset(slf: &Bound<'_, Self>, domain: &str, version: i64) -> PyResult<()> {
        function::edit(slf, |f| f.set_opset(domain, version))
    }

    /// Says of an op that it comes from others: its location becomes theirs.
    fn set_loc_from(slf: &Bound<'_, Self>, op: &Op, ops: Vec<Py<Op>>) -> PyResult<()> {
        let op = op.0.id_in(slf)?;
        let from = ops.iter().map(|from| from.get().0.id_in(slf));
        let from = from.collect::<PyResult<Vec<_>>>()?;
        function::edit(slf, |f| {
            let loc: LocId = f.fused_loc(&from)?;
            f.set_loc(op, loc)
        })
    }

    /// Moves what is in a region of an op before the op, where ``args`` stand for the region's arguments. Answers what
    /// the region yields: ``func.replace_op_with(op, values)`` puts it in the op's place.
    ///
    /// Raises EditError if there is no such region, or there isn't one value for each argument.
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

    /// Adds a parameter behind the others; a new function has none.
    #[pyo3(signature = (name, r#type))]
    fn add_param(slf: &Bound<'_, Self>, name: &str, r#type: &Bound<'_, PyAny>) -> PyResult<Value> {
        let wanted = TypeArgument::extract(slf, r#type)?;
        let id = function::edit(slf, |f| {
            let ty = wanted.add(f)?;
            sdk::FunctionBuilder::new(f).param(name, ty)
        })?;
        Ok(Value(Part::new(slf, id)))
    }
}
