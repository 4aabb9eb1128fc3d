//! Attributes.

use passdock_abi::{Attr, AttrKind, ConstId, OpId, Range, RegionId, SymbolId, TypeId};

use crate::error::{Edit, EditFailure, invalid, reject};
use crate::function::Function;
use crate::pool::{bare_attr, push_range, slice, span};
use crate::symbols::is_terminator;

/// An attribute's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrData<'a> {
    /// An attribute parameter without a default.
    None,
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f32),
    /// A string, not always UTF-8.
    String(&'a [u8]),
    /// A constant.
    Tensor(ConstId),
    /// A type.
    Type(TypeId),
    /// A region of the op; the attribute marks its position in the list.
    Region(RegionId),
    /// Integers.
    Ints(&'a [i64]),
    /// Floating-point numbers.
    Floats(&'a [f32]),
    /// Strings.
    Strings(&'a [&'a [u8]]),
    /// Constants.
    Tensors(&'a [ConstId]),
    /// Types.
    Types(&'a [TypeId]),
    /// Regions of the op.
    Regions(&'a [RegionId]),
    /// A reference to an attribute parameter of the function, of this kind; the caller provides the value.
    Reference(SymbolId, AttrKind),
    /// A value in the importer's own format.
    Opaque(&'a [u8]),
}

/// An attribute to set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewAttr<'a> {
    /// The name.
    pub name: SymbolId,
    /// The value.
    pub value: AttrData<'a>,
    /// Whether the attribute is a parameter of the function, which callers may set.
    pub param: bool,
}

impl<'a> NewAttr<'a> {
    /// Creates an attribute that isn't a parameter.
    pub fn new(name: SymbolId, value: AttrData<'a>) -> NewAttr<'a> {
        NewAttr {
            name,
            value,
            param: false,
        }
    }

    /// Creates an attribute parameter of a function.
    pub fn param(name: SymbolId, value: AttrData<'a>) -> NewAttr<'a> {
        NewAttr {
            param: true,
            ..NewAttr::new(name, value)
        }
    }
}

impl Function {
    /// Sets an attribute of an op, or of the function if `op` is NONE.
    ///
    /// # Errors
    /// If the op is erased, the name isn't a symbol, or an attribute can't have the value.
    pub fn set_attr(&mut self, op: OpId, new: &NewAttr<'_>) -> Edit {
        if op.is_some() && is_terminator(self.live_op(op)?.name) {
            reject!(
                "cannot set an attribute of {}: terminators have no attributes",
                self.describe_op(op)
            );
        }
        match op.is_some() {
            true => self.check_op_attr(new)?,
            false => self.check_attr(new)?,
        }
        let record = self.make_attr(new);
        self.put_attr(op, record);
        Ok(())
    }

    /// Sets a checked attribute of an op, or of the function if `op` is NONE.
    pub(crate) fn put_attr(&mut self, op: OpId, record: Attr) {
        let range = *self.attr_range(op);
        let mut known = slice(&self.attrs, range).iter();
        match known.position(|attr| attr.name == record.name) {
            Some(at) => self.attrs[range.start as usize + at] = record,
            // The last list of the pool grows in place, so adding many attributes doesn't copy it.
            None if (range.start + range.len) as usize == self.attrs.len() => {
                self.attrs.push(record);
                self.attr_range(op).len += 1;
            }
            None => {
                let mut all = slice(&self.attrs, range).to_vec();
                all.push(record);
                self.replace_attrs(op, range, &all);
            }
        }
        self.touch_attrs(op);
    }

    /// Removes an attribute of an op, or of the function if `op` is NONE.
    ///
    /// # Errors
    /// If the op is erased or has no such attribute, or the attribute is a region.
    pub fn remove_attr(&mut self, op: OpId, name: SymbolId) -> Edit {
        if op.is_some() {
            self.live_op(op)?;
        }
        let range = *self.attr_range(op);
        let mut all = slice(&self.attrs, range).to_vec();
        let Some(at) = all.iter().position(|attr| attr.name == name) else {
            let holder = match op.option() {
                Some(op) => self.describe_op(op),
                None => format!("function `@{}`", self.text(self.name)),
            };
            return Err(EditFailure::not_found(format!(
                "{holder} has no attribute `{}`",
                self.text(name)
            )));
        };
        if matches!(all[at].kind, AttrKind::REGION | AttrKind::REGIONS) {
            let (op, name) = (self.describe_op(op), self.text(name));
            reject!("cannot remove attribute `{name}` of {op}: its value is a region");
        }
        all.remove(at);
        self.replace_attrs(op, range, &all);
        self.touch_attrs(op);
        Ok(())
    }

    /// Rejects an attribute that no op can have.
    pub(crate) fn check_op_attr(&self, new: &NewAttr<'_>) -> Edit {
        self.check_attr(new)?;
        if new.param {
            let name = self.text(new.name);
            invalid!(
                "attribute `{name}` of an op cannot be a parameter; only functions have attribute parameters"
            );
        }
        Ok(())
    }

    pub(crate) fn check_attr(&self, new: &NewAttr<'_>) -> Edit {
        self.live_symbol(new.name)?;
        let tensor = |&id: &ConstId| self.live_constant(id).map(drop);
        let ty = |&id: &TypeId| self.live_type(id).map(drop);
        let region = |&id: &RegionId| self.live_region(id).map(drop);
        match new.value {
            AttrData::Tensor(id) => tensor(&id),
            AttrData::Type(id) => ty(&id),
            AttrData::Region(id) => region(&id),
            AttrData::Tensors(ids) => ids.iter().try_for_each(tensor),
            AttrData::Types(ids) => ids.iter().try_for_each(ty),
            AttrData::Regions(ids) => ids.iter().try_for_each(region),
            AttrData::Reference(_, AttrKind(kind)) if kind > AttrKind::OPAQUE.0 => Err(
                EditFailure::unsupported(format!("unknown attribute kind {kind}")),
            ),
            AttrData::Reference(param, _) => self.live_symbol(param).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes the attributes of a new op.
    pub(crate) fn write_attrs(&mut self, op: OpId, attrs: &[NewAttr<'_>]) {
        let records: Vec<Attr> = attrs.iter().map(|attr| self.make_attr(attr)).collect();
        let mut all = self.attrs(op).to_vec();
        for record in records {
            match all.iter_mut().find(|known| known.name == record.name) {
                Some(known) => *known = record,
                None => all.push(record),
            }
        }
        self.replace_attrs(op, Range::EMPTY, &all);
    }

    fn attr_range(&mut self, op: OpId) -> &mut Range {
        match op.option() {
            Some(op) => &mut self.ops[op.index()].attrs,
            None => &mut self.function_attrs,
        }
    }

    /// Overwrites the old list if the new one fits, otherwise appends it to the pool.
    fn replace_attrs(&mut self, op: OpId, old: Range, all: &[Attr]) {
        let len = all.len() as u32;
        *self.attr_range(op) = if len <= old.len {
            let range = Range { len, ..old };
            self.attrs[span(range)].copy_from_slice(all);
            range
        } else {
            push_range(&mut self.attrs, all.iter().copied())
        };
    }

    fn touch_attrs(&mut self, op: OpId) {
        if op.is_none() {
            self.touch_function()
        } else {
            self.touch_op(op)
        }
    }

    fn make_attr(&mut self, new: &NewAttr<'_>) -> Attr {
        let none = Range::EMPTY;
        let (kind, bits, list) = match new.value {
            AttrData::None => (AttrKind::NONE, 0, none),
            AttrData::Int(value) => (AttrKind::INT, value as u64, none),
            AttrData::Float(value) => (AttrKind::FLOAT, value.to_bits().into(), none),
            AttrData::Tensor(id) => (AttrKind::TENSOR, self.owned_tensor(id).0.into(), none),
            AttrData::Type(id) => (AttrKind::TYPE, id.0.into(), none),
            AttrData::Region(id) => (AttrKind::REGION, id.0.into(), none),
            AttrData::Reference(param, _) => (AttrKind::REFERENCE, param.0.into(), none),
            AttrData::String(bytes) => (AttrKind::STRING, 0, self.pools.add_bytes(bytes)),
            AttrData::Opaque(bytes) => (AttrKind::OPAQUE, 0, self.pools.add_bytes(bytes)),
            AttrData::Ints(ints) => {
                let list = self.pools.add_ints(ints.iter().copied());
                (AttrKind::INTS, 0, list)
            }
            AttrData::Floats(floats) => {
                let list = self.pools.add_floats(floats.iter().copied());
                (AttrKind::FLOATS, 0, list)
            }
            AttrData::Strings(strings) => {
                let list = self.pools.add_strings(strings.iter().copied());
                (AttrKind::STRINGS, 0, list)
            }
            AttrData::Tensors(ids) => {
                let ids: Vec<u32> = ids.iter().map(|&id| self.owned_tensor(id).0).collect();
                (AttrKind::TENSORS, 0, push_range(&mut self.ids, ids))
            }
            AttrData::Types(ids) => {
                let list = push_range(&mut self.ids, ids.iter().map(|id| id.0));
                (AttrKind::TYPES, 0, list)
            }
            AttrData::Regions(ids) => {
                let list = push_range(&mut self.ids, ids.iter().map(|id| id.0));
                (AttrKind::REGIONS, 0, list)
            }
        };
        let stands_for = match new.value {
            AttrData::Reference(_, kind) => kind,
            _ => AttrKind::NONE,
        };
        Attr {
            kind,
            bits,
            list,
            flags: if new.param { Attr::PARAM } else { 0 },
            stands_for,
            ..bare_attr(new.name)
        }
    }

    /// Returns the constant, or a copy if the constant may be erased before the op: the constant of a value or of a
    /// nested region.
    fn owned_tensor(&mut self, id: ConstId) -> ConstId {
        let record = &self.constants[id.index()];
        if record.value.is_none() && record.region == self.body {
            return id;
        }
        let (ty, data) = (record.ty, self.constant_data(id).clone());
        self.insert_tensor(ty, data, self.body)
    }
}
