//! Converting attributes between Python and the host.

use passdock::sdk::{
    Attr, AttrValue, ConstId, Function as SdkFunction, RegionId, SymbolId, TypeId,
};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::crossing::convert::{self, Mapping};
use crate::crossing::error;
use crate::ir::constant::Constant;
use crate::ir::function::{self, Function};
use crate::ir::part::Part;
use crate::ir::region::Region;
use crate::ir::types::Type;

/// The value of an attribute after reading, before the Python object is created.
pub(crate) enum Read {
    Value(AttrValue),
    Region(RegionId),
    Regions(Vec<RegionId>),
    Reference(String),
    Nothing,
}

impl Read {
    /// Reads an attribute.
    pub(crate) fn new(f: &SdkFunction, attr: Attr<'_>) -> Read {
        match attr {
            Attr::Region(id) => Read::Region(id),
            Attr::Regions(ids) => Read::Regions(ids.to_vec()),
            Attr::Reference(name, _) => Read::Reference(f.text(name).to_owned()),
            attr => attr.to_value().map_or(Read::Nothing, Read::Value),
        }
    }

    /// Creates the Python object.
    pub(crate) fn to_python<'py>(
        &self,
        owner: &Bound<'py, Function>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = owner.py();
        let region = |&id: &RegionId| Region(Part::new(owner, id));
        Ok(match self {
            Read::Value(value) => return to_python(owner, value),
            Read::Region(id) => Bound::new(py, region(id))?.into_any(),
            Read::Regions(ids) => PyList::new(py, ids.iter().map(region))?.into_any(),
            Read::Reference(name) => format!("@{name}").into_pyobject(py)?.into_any(),
            Read::Nothing => py.None().into_bound(py),
        })
    }
}

/// Creates the Python object for the value of an attribute.
pub(crate) fn to_python<'py>(
    owner: &Bound<'py, Function>,
    value: &AttrValue,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let constant = |&id: &ConstId| Constant::new(py, owner.as_unbound(), id);
    let ty = |&id: &TypeId| Type {
        function: owner.clone().unbind(),
        id,
    };
    Ok(match value {
        AttrValue::Int(value) => value.into_pyobject(py)?.into_any(),
        AttrValue::Float(value) => PyFloat::new(py, shortest(value)).into_any(),
        AttrValue::String(text) => convert::string(py, text),
        AttrValue::Ints(values) => PyList::new(py, values)?.into_any(),
        AttrValue::Floats(values) => PyList::new(py, values.iter().map(shortest))?.into_any(),
        AttrValue::Strings(texts) => {
            PyList::new(py, texts.iter().map(|text| convert::string(py, text)))?.into_any()
        }
        AttrValue::Tensor(id) => Bound::new(py, constant(id)?)?.into_any(),
        AttrValue::Tensors(ids) => {
            let constants = ids.iter().map(constant);
            PyList::new(py, constants.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        AttrValue::Type(id) => Bound::new(py, ty(id))?.into_any(),
        AttrValue::Types(ids) => PyList::new(py, ids.iter().map(ty))?.into_any(),
        _ => py.None().into_bound(py),
    })
}

/// Returns the shortest decimal that rounds to this float32.
fn shortest(value: &f32) -> f64 {
    let text = value.to_string();
    text.parse().unwrap_or_else(|_| f64::from(*value))
}

/// Reads all attributes of an op or a function.
pub(crate) fn read_all<'f>(
    f: &'f SdkFunction,
    attrs: impl Iterator<Item = (SymbolId, Attr<'f>)>,
) -> Vec<(String, Read)> {
    attrs
        .map(|(name, value)| (f.text(name).to_owned(), Read::new(f, value)))
        .collect()
}

/// Creates a dict of attributes.
pub(crate) fn to_dict<'py>(
    owner: &Bound<'py, Function>,
    read: Vec<(String, Read)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(owner.py());
    for (name, value) in read {
        dict.set_item(name, value.to_python(owner)?)?;
    }
    Ok(dict)
}

/// Converts a float to float32, the only float type of attributes.
fn float32(value: f64) -> PyResult<f32> {
    let single = value as f32;
    match single.is_infinite() && value.is_finite() {
        true => Err(PyOverflowError::new_err(format!(
            "{value:e} does not fit in float32, the only float type of attributes"
        ))),
        false => Ok(single),
    }
}

/// Converts the value of an attribute; a constant or a type has to belong to the same function.
pub(crate) fn value(owner: &Bound<'_, Function>, object: &Bound<'_, PyAny>) -> PyResult<AttrValue> {
    let value = match scalar(owner, object)? {
        Some(scalar) => Some(scalar),
        None => list(owner, object)?,
    };
    value.ok_or_else(|| {
        let what = "an attribute must be an int, a float, a string, a passdock.Constant or passdock.Type of the \
                    function, or a list of one of these";
        error::type_error(what, object)
    })
}

/// Converts an attribute that isn't a list; returns `None` for any other object.
fn scalar(owner: &Bound<'_, Function>, object: &Bound<'_, PyAny>) -> PyResult<Option<AttrValue>> {
    let object = &convert::plain(object)?;
    let check_owner = |function: &Py<Function>| match function.is(owner) {
        true => Ok(()),
        false => Err(function::other_function(owner)),
    };
    Ok(Some(if object.is_instance_of::<PyInt>() {
        AttrValue::Int(object.extract()?)
    } else if object.is_instance_of::<PyFloat>() {
        AttrValue::Float(float32(object.extract()?)?)
    } else if object.is_instance_of::<PyString>() {
        // A lone surrogate is an error.
        AttrValue::String(object.extract::<String>()?.into_bytes())
    } else if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        AttrValue::String(object.extract()?)
    } else if let Ok(constant) = object.cast::<Constant>() {
        check_owner(&constant.get().function)?;
        AttrValue::Tensor(constant.get().id)
    } else if let Ok(ty) = object.cast::<Type>() {
        check_owner(&ty.get().function)?;
        AttrValue::Type(ty.get().id)
    } else {
        return Ok(None);
    }))
}

/// Converts a list of scalars of one kind, or of ints and floats; returns `None` for any other object.
fn list(owner: &Bound<'_, Function>, object: &Bound<'_, PyAny>) -> PyResult<Option<AttrValue>> {
    // `tolist` converts an array's elements to Python's types, including bools.
    let object = match object.hasattr("dtype")? && object.hasattr("tolist")? {
        true => object.call_method0("tolist")?,
        false => object.clone(),
    };
    let Ok(items) = object.extract::<Vec<Bound<'_, PyAny>>>() else {
        return Ok(None);
    };
    let items = items.iter().map(|item| scalar(owner, item));
    let Some(items) = items.collect::<PyResult<Option<Vec<AttrValue>>>>()? else {
        return Ok(None);
    };
    fn all<T>(items: &[AttrValue], pick: fn(&AttrValue) -> Option<T>) -> Option<Vec<T>> {
        items.iter().map(pick).collect()
    }
    let ints = |item: &_| match item {
        AttrValue::Int(int) => Some(*int),
        _ => None,
    };
    let floats = |item: &_| match item {
        AttrValue::Int(int) => Some(*int as f32),
        AttrValue::Float(float) => Some(*float),
        _ => None,
    };
    let strings = |item: &_| match item {
        AttrValue::String(text) => Some(text.clone()),
        _ => None,
    };
    let tensors = |item: &_| match item {
        AttrValue::Tensor(id) => Some(*id),
        _ => None,
    };
    let types = |item: &_| match item {
        AttrValue::Type(id) => Some(*id),
        _ => None,
    };
    let list = all(&items, ints).map(AttrValue::Ints);
    Ok(list
        .or_else(|| all(&items, floats).map(AttrValue::Floats))
        .or_else(|| all(&items, strings).map(AttrValue::Strings))
        .or_else(|| all(&items, tensors).map(AttrValue::Tensors))
        .or_else(|| all(&items, types).map(AttrValue::Types)))
}

/// Converts the value of a named attribute.
pub(crate) fn named(
    owner: &Bound<'_, Function>,
    name: &str,
    object: &Bound<'_, PyAny>,
) -> PyResult<AttrValue> {
    match name {
        "" => Err(PyValueError::new_err("empty attribute name")),
        _ => value(owner, object),
    }
}

/// Converts a mapping of names to values.
pub(crate) fn values(
    owner: &Bound<'_, Function>,
    object: Option<&Mapping<'_>>,
) -> PyResult<Vec<(String, AttrValue)>> {
    let Some(object) = object else {
        return Ok(Vec::new());
    };
    let all = object.0.iter().map(|(name, object)| {
        let name: String = name.extract()?;
        let value = named(owner, &name, &object)?;
        Ok((name, value))
    });
    all.collect()
}
