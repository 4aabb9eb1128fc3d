//! Counting the differences that edits made to a function.

use std::collections::BTreeMap;
use std::sync::Arc;

use passdock_abi::{ConstId, Constant, Op, OpId, Value, ValueId};

use super::Function;

/// The number of differences of each kind; kinds without differences are missing.
pub type Differences = BTreeMap<&'static str, usize>;

impl Function {
    /// Counts the differences from `original`, of which this is an edited copy, in one walk over the arenas:
    ///
    /// - `ops`: ops that are erased or have another name
    /// - `operands`, `attributes`, `order`, `locations`: other ops whose property changed
    /// - `types`, `names`: values whose type or name changed
    /// - `constants`: new constants, and those with other data
    /// - `opsets`
    ///
    /// Returns `None` if the copy was compacted, because its ids don't match the original's.
    pub fn differences(&self, original: &Function) -> Option<Differences> {
        let is_compacted = self.ops.len() < original.ops.len()
            || self.values.len() < original.values.len()
            || self.constants.len() < original.constants.len();
        if is_compacted || !Arc::ptr_eq(&self.symbols, &original.symbols) {
            return None;
        }
        let mut found = Differences::new();
        let mut count = |what, differs: bool| {
            if differs {
                *found.entry(what).or_default() += 1;
            }
        };
        count("opsets", self.opsets != original.opsets);
        for (at, (new, old)) in self.ops.iter().zip(&original.ops).enumerate() {
            if old.flags & Op::DEAD != 0 {
                continue;
            }
            if new.flags & Op::DEAD != 0 || new.name != old.name {
                count("ops", true);
                continue;
            }
            let id = OpId(at as u32);
            let values = |f: &Function| -> Vec<ValueId> {
                f.operands(id).iter().map(|slot| slot.value).collect()
            };
            count("operands", values(self) != values(original));
            count("attributes", !self.has_same_attrs(original, id));
            // An op hasn't moved if only its neighbors or its label changed.
            let moved = new.prev != old.prev && new.next != old.next && new.order != old.order;
            count("order", new.parent != old.parent || moved);
            count("locations", new.loc != old.loc);
        }
        for (new, old) in self.values.iter().zip(&original.values) {
            if (new.flags | old.flags) & Value::DEAD == 0 {
                count("types", new.ty != old.ty);
                count("names", new.name != old.name);
            }
        }
        for (at, constant) in self.constants.iter().enumerate() {
            let data = self.constant_data(ConstId(at as u32));
            let known = original.data.get(at);
            let same = known.is_some_and(|known| Arc::ptr_eq(known, data));
            count("constants", constant.flags & Constant::DEAD == 0 && !same);
        }
        Some(found)
    }

    fn has_same_attrs(&self, original: &Function, op: OpId) -> bool {
        let (own, old) = (self.attrs(op), original.attrs(op));
        let mut pairs = own.iter().zip(old);
        own.len() == old.len() && pairs.all(|(a, b)| self.is_same_attr(a, original, b))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi::{OpId, ValueId};

    use crate::TypeData;
    use crate::edit::{AttrData, NewAttr, NewOp, Position};
    use crate::function::Function;
    use crate::text;

    #[track_caller]
    fn check(edit: impl FnOnce(&mut Function, [OpId; 2], ValueId), expected: Expect) {
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
        let x = copy.operand(ops[0], 0);
        edit(&mut copy, [ops[0], ops[1]], x);
        let found = copy.differences(original).expect("equal ids");
        let counts = found.iter().map(|(what, n)| format!("{what} {n}"));
        let counts: Vec<String> = counts.collect();
        expected.assert_eq(&counts.join(", "));
    }

    #[test]
    fn differences_are_counted_by_kind() {
        check(|_, _, _| (), expect![""]);
        check(
            |f, [first, _], _| {
                let ty = f.add_type(TypeData::Unknown);
                let result = f.result(first, 0).expect("a result");
                f.set_type(result, ty).expect("a type");
                f.set_name(result, "other").expect("a name");
            },
            expect!["names 1, types 1"],
        );
        check(
            |f, [first, second], x| {
                let name = f.symbols().intern("a");
                f.set_attr(first, &NewAttr::new(name, AttrData::Ints(&[2, 1])))
                    .expect("an attribute");
                f.set_operand(second, 1, x).expect("an operand");
            },
            expect!["attributes 1, operands 1"],
        );
        check(
            |f, [first, second], x| {
                let ty = f.value(x).ty;
                let new = NewOp {
                    operands: &[x, x],
                    result_types: &[ty],
                    ..NewOp::new(f.symbols().intern("onnx.Sub"))
                };
                let new = f.create_op(&new, Position::before(second)).expect("an op");
                let new = f.result(new, 0).expect("a result");
                let old = f.result(first, 0).expect("a result");
                f.replace_uses(old, new).expect("one type");
                f.erase_op(first).expect("no uses");
            },
            expect!["operands 1, ops 1"],
        );
    }
}
