//! Attributes, in and out of Python.

use passdock::sdk::{
    Attr, AttrValue, ConstId, Function as SdkFunction, RegionId, SymbolId, TypeId,
};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::crossing::convert::{self, Mapping};
use crate::crossing::error;
use crate::ir::constant::Constant;
use crate::ir::function::{self, Function};
use crate::ir::part::Part;
use crate::ir::region::Region;
use crate::ir::types::Type;

/// An attribute's value as it was read, before there are objects for it.
pub(crate) enum Read {
    Value(AttrValue),
    Region(RegionId),
    Regions(Vec<RegionId>),
    Reference(String),
    Nothing,
}

impl Read {
    /// What an attribute says.
    pub(crate) fn new(f: &SdkFunction, attr: Attr<'_>) -> Read {
        match attr {
            Attr::Region(id) => Read::Region(id),
            Attr::Regions(ids) => Read::Regions(ids.to_vec()),
            Attr::Reference(name, _) => Read::Reference(f.text(name).to_owned()),
            attr => attr.to_value().map_or(Read::Nothing, Read::Value),
        }
    }

    /// The object for it.
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

/// The object for a value of an attribute.
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

/// The number with the fewest digits that is this float32.
fn shortest(value: &f32) -> f64 {
    let text = value.to_string();
    text.parse().unwrap_or_else(|_| f64::from(*value))
}

/// The attributes of an op or a function.
pub(crate) fn read_all<'f>(
    f: &'f SdkFunction,
    attrs: impl Iterator<Item = (SymbolId, Attr<'f>)>,
) -> Vec<(String, Read)> {
    attrs
        .map(|(name, value)| (f.text(name).to_owned(), Read::new(f, value)))
        .collect()
}

/// Attributes as a dict.
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

/// A float as attributes have it.
fn float32(value: f64) -> PyResult<f32> {
    let made = value as f32;
    match made.is_infinite() && value.is_finite() {
        true => Err(PyOverflowError::new_err(format!(
            "{value:e} is no float32, and attributes have no other floats"
        ))),
        false => Ok(made),
    }
}

/// The value to set for an object; a constant or a type has to be of the function that it is set in.
pub(crate) fn value(owner: &Bound<'_, Function>, said: &Bound<'_, PyAny>) -> PyResult<AttrValue> {
    let said = &convert::plain(said)?;
    if said.is_instance_of::<PyBool>() || said.is_instance_of::<PyInt>() {
        return Ok(AttrValue::Int(said.extract()?));
    }
    if said.is_instance_of::<PyFloat>() {
        return Ok(AttrValue::Float(float32(said.extract()?)?));
    }
    if let Some(text) = text(said)? {
        return Ok(AttrValue::String(text));
    }
    let here = |function: &Py<Function>| match function.is(owner) {
        true => Ok(()),
        false => Err(function::other_function(owner)),
    };
    if let Ok(constant) = said.cast::<Constant>() {
        here(&constant.get().function)?;
        return Ok(AttrValue::Tensor(constant.get().id));
    }
    if let Ok(ty) = said.cast::<Type>() {
        here(&ty.get().function)?;
        return Ok(AttrValue::Type(ty.get().id));
    }
    if let Some(list) = list(owner, said)? {
        return Ok(list);
    }
    let what = "an attribute is an int, a float, a text, a passdock.Constant or a passdock.Type of the function, or a \
                list of one kind of them";
    Err(error::wrong_type(what, said))
}

/// A text, or its bytes.
fn text(said: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if said.is_instance_of::<PyString>() {
        // One with half a surrogate pair is no text, and says so.
        return said.extract::<String>().map(|text| Some(text.into_bytes()));
    }
    let is_bytes = said.is_instance_of::<PyBytes>() || said.is_instance_of::<PyByteArray>();
    is_bytes.then(|| said.extract()).transpose()
}

/// A list of numbers, texts, constants or types, as it may be read; `None` for anything else.
fn list(owner: &Bound<'_, Function>, said: &Bound<'_, PyAny>) -> PyResult<Option<AttrValue>> {
    // An array's elements are bools as Python has them only as a list.
    let said = match said.hasattr("dtype")? && said.hasattr("tolist")? {
        true => said.call_method0("tolist")?,
        false => said.clone(),
    };
    match said.extract::<Vec<i64>>() {
        Ok(values) => return Ok(Some(AttrValue::Ints(values))),
        // Integers that are too large are no floats, either.
        Err(error) if error.is_instance_of::<PyOverflowError>(said.py()) => return Err(error),
        Err(_) => {}
    }
    let Ok(items) = said.extract::<Vec<Bound<'_, PyAny>>>() else {
        return Ok(None);
    };
    let items: Vec<_> = items.iter().map(convert::plain).collect::<PyResult<_>>()?;
    let is_int = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyInt>();
    if items.iter().all(is_int) {
        let ints = items.iter().map(|item| item.extract());
        return Ok(Some(AttrValue::Ints(ints.collect::<PyResult<_>>()?)));
    }
    if let Ok(floats) = items.iter().map(|item| item.extract::<f64>()).collect() {
        let floats: Vec<f64> = floats;
        let floats = floats.into_iter().map(float32);
        return Ok(Some(AttrValue::Floats(floats.collect::<PyResult<_>>()?)));
    }
    let texts: Option<Vec<Vec<u8>>> = items.iter().map(text).collect::<PyResult<_>>()?;
    if let Some(texts) = texts {
        return Ok(Some(AttrValue::Strings(texts)));
    }
    let (mut tensors, mut types) = (Vec::new(), Vec::new());
    for item in &items {
        match item.is_instance_of::<Constant>() || item.is_instance_of::<Type>() {
            true => match value(owner, item)? {
                AttrValue::Tensor(id) => tensors.push(id),
                AttrValue::Type(id) => types.push(id),
                _ => {}
            },
            false => return Ok(None),
        }
    }
    Ok(match (tensors.len(), types.len()) {
        (_, 0) => Some(AttrValue::Tensors(tensors)),
        (0, _) => Some(AttrValue::Types(types)),
        _ => None,
    })
}

/// The value of an attribute, which has a name.
pub(crate) fn named(
    owner: &Bound<'_, Function>,
    name: &str,
    said: &Bound<'_, PyAny>,
) -> PyResult<AttrValue> {
    match name {
        "" => Err(PyValueError::new_err("an attribute needs a name")),
        _ => value(owner, said),
    }
}

/// Names and values to set.
pub(crate) fn values(
    owner: &Bound<'_, Function>,
    said: Option<&Mapping<'_>>,
) -> PyResult<Vec<(String, AttrValue)>> {
    let Some(said) = said else {
        return Ok(Vec::new());
    };
    let all = said.0.iter().map(|(name, said)| {
        let name: String = name.extract()?;
        let value = named(owner, &name, &said)?;
        Ok((name, value))
    });
    all.collect()
}
