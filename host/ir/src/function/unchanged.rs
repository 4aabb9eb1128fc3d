//! Comparing an edited copy with its original.

use std::sync::Arc;

use passdock_abi::{Attr, AttrKind, Constant, Op, Range, Region, Value};

use super::Function;

impl Function {
    /// Whether the edits of this copy of `original` canceled out: types are restored, new entities are erased, and
    /// changes are reverted. Marks of changed entities and similar bookkeeping aren't compared.
    pub fn is_unchanged(&self, original: &Function) -> bool {
        // New records are at the end of the arenas, so a copy with live new records is rejected quickly.
        self.version == original.version
            || self.live_ops == original.live_ops
                && self.has_nothing_new(original)
                && self.has_all_of(original)
    }

    /// Whether all new records are dead.
    fn has_nothing_new(&self, original: &Function) -> bool {
        let mut ops = new(&self.ops, &original.ops);
        let mut values = new(&self.values, &original.values);
        let mut regions = new(&self.regions, &original.regions);
        let mut constants = new(&self.constants, &original.constants);
        ops.all(|op| op.flags & Op::DEAD != 0)
            && values.all(|value| value.flags & Value::DEAD != 0)
            && regions.all(|region| region.flags & Region::DEAD != 0)
            && constants.all(|constant| constant.flags & Constant::DEAD != 0)
    }

    /// Whether all original records are unchanged.
    fn has_all_of(&self, original: &Function) -> bool {
        let header = |f: &Function| (f.name, f.kind, f.body, f.function_attrs);
        header(self) == header(original)
            && self.origins.extras == original.origins.extras
            && Arc::ptr_eq(&self.symbols, &original.symbols)
            && self.opsets == original.opsets
            && starts_with(&self.values, &original.values, |value| Value {
                flags: value.flags & !Value::TOUCHED,
                ..*value
            })
            // An op's label may change when other ops are inserted before it.
            && starts_with(&self.ops, &original.ops, |op| Op {
                flags: op.flags & !Op::TOUCHED,
                order: 0,
                ..*op
            })
            && self.uses.starts_with(&original.uses)
            && starts_with(&self.regions, &original.regions, |region| Region {
                flags: region.flags & !Region::TOUCHED,
                ..*region
            })
            && self.ports.starts_with(&original.ports)
            && starts_with(&self.constants, &original.constants, |constant| Constant {
                flags: constant.flags & !Constant::TOUCHED,
                ..*constant
            })
            && self.data.iter().zip(&original.data).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.ids.starts_with(&original.ids)
            && self.types.starts_with(&original.types)
            && self.dims.starts_with(&original.dims)
            && self.exprs.starts_with(&original.exprs)
            && self.locs.starts_with(&original.locs)
            && self.has_attrs_of(original)
    }

    fn has_attrs_of(&self, original: &Function) -> bool {
        let mut pairs = self.attrs.iter().zip(&original.attrs);
        self.attrs.len() >= original.attrs.len()
            && pairs.all(|(a, b)| self.is_same_attr(a, original, b))
    }

    /// Whether an attribute equals one of the original's. The range of its list may differ.
    pub(super) fn is_same_attr(&self, a: &Attr, original: &Function, b: &Attr) -> bool {
        let bare = |attr: &Attr| Attr {
            list: Range::EMPTY,
            ..*attr
        };
        bare(a) == bare(b)
            && match a.kind {
                _ if a.list == b.list && self.pools.are_shared(&original.pools) => true,
                AttrKind::INTS => self.ints_in(a.list) == original.ints_in(b.list),
                AttrKind::FLOATS => self.floats_in(a.list) == original.floats_in(b.list),
                AttrKind::STRING | AttrKind::OPAQUE => {
                    self.bytes_in(a.list) == original.bytes_in(b.list)
                }
                AttrKind::STRINGS => self.strings_in(a.list).eq(original.strings_in(b.list)),
                _ => a.list == b.list,
            }
    }
}

/// Iterates over the records that only the first arena has, last one first.
fn new<'a, T>(records: &'a [T], original: &[T]) -> impl Iterator<Item = &'a T> {
    records.iter().skip(original.len()).rev()
}

fn starts_with<T, S: PartialEq>(records: &[T], original: &[T], shown: fn(&T) -> S) -> bool {
    records.len() >= original.len()
        && records
            .iter()
            .zip(original)
            .all(|(a, b)| shown(a) == shown(b))
}

#[cfg(test)]
mod tests {
    use passdock_abi::{OpId, ValueId};

    use crate::edit::{AttrData, NewAttr, NewOp, Position};
    use crate::function::Function;
    use crate::text;

    /// Checks whether a function counts as unchanged after an edit.
    #[track_caller]
    fn check(is_unchanged: bool, edit: impl FnOnce(&mut Function, [OpId; 2])) {
        let source = r#"module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %c = const f32[2] [1.0, 2.0]
            %0 = onnx.Add(%x, %c) {a = [1, 2], b = 3} : f32[2]
            %1 = onnx.Mul(%0, %c) : f32[2]
            return %1
        } }"#;
        let module = text::parse(source).expect("a module");
        let original: &Function = module.functions().next().expect("the function");
        let mut copy = original.clone();
        let body = copy.body();
        let ops: Vec<OpId> = copy.ops_in(body).collect();
        edit(&mut copy, [ops[0], ops[1]]);
        assert_eq!(copy.is_unchanged(original), is_unchanged);
        assert!(original.is_unchanged(original));
    }

    fn add(f: &mut Function, before: OpId, operands: &[ValueId]) -> OpId {
        let ty = f.value(operands[0]).ty;
        let new = NewOp {
            operands,
            result_types: &[ty],
            ..NewOp::new(f.symbols().intern("onnx.Sub"))
        };
        f.create_op(&new, Position::before(before)).expect("an op")
    }

    #[test]
    fn created_and_erased_ops_are_no_change() {
        check(true, |_, _| ());
        check(true, |f, [first, second]| {
            let x = f.operands(first)[0].value;
            let one = add(f, second, &[x, x]);
            let result = f.result(one, 0).expect("a result");
            let another = add(f, second, &[result, x]);
            f.erase_op(another).expect("no uses");
            f.erase_op(one).expect("no uses");
        });
        check(false, |f, [first, second]| {
            let x = f.operands(first)[0].value;
            add(f, second, &[x, x]);
        });
    }

    #[test]
    fn reverted_edits_are_no_change() {
        let set = |f: &mut Function, op: OpId, name: &str, value| {
            let name = f.symbols().intern(name);
            f.set_attr(op, &NewAttr::new(name, value))
                .expect("an attribute");
        };
        check(false, |f, [op, _]| set(f, op, "a", AttrData::Ints(&[2, 1])));
        check(false, |f, [op, _]| set(f, op, "c", AttrData::Int(3)));
        check(true, |f, [op, _]| {
            set(f, op, "a", AttrData::Ints(&[2, 1]));
            set(f, op, "b", AttrData::Int(4));
            set(f, op, "a", AttrData::Ints(&[1, 2]));
            set(f, op, "b", AttrData::Int(3));
        });
        check(false, |f, [op, _]| {
            let result = f.result(op, 0).expect("a result");
            f.set_name(result, "other").expect("a name");
        });
        check(false, |f, [op, second]| {
            let x = f.operands(op)[0].value;
            f.set_operand(second, 1, x).expect("an operand");
        });
    }
}
