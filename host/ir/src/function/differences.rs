//! What edits changed in a function, counted.

use std::sync::Arc;

use passdock_abi::{ConstId, Constant, Op, OpId, Value, ValueId};

use super::Function;

/// How much of a function isn't as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Ops that are gone, or of another kind.
    pub ops: usize,
    /// Ops with other operands.
    pub operands: usize,
    /// Ops with other attributes.
    pub attributes: usize,
    /// Ops that stand elsewhere among the others.
    pub order: usize,
    /// Ops that come from elsewhere.
    pub locations: usize,
    /// Values of another type.
    pub types: usize,
    /// Values of another name.
    pub names: usize,
    /// Constants that weren't there, or have other data.
    pub constants: usize,
    /// Functions with other opsets.
    pub opsets: usize,
}

impl Function {
    /// What isn't as in `original`, of which this is a copy that was edited, in one walk over the arenas. `None`: the
    /// copy was compacted, so that its ids say nothing of the original's.
    pub fn differences(&self, original: &Function) -> Option<Differences> {
        let is_compacted = self.ops.len() < original.ops.len()
            || self.values.len() < original.values.len()
            || self.constants.len() < original.constants.len();
        if is_compacted || !Arc::ptr_eq(&self.symbols, &original.symbols) {
            return None;
        }
        let mut found = Differences {
            opsets: usize::from(self.opsets != original.opsets),
            ..Differences::default()
        };
        for (at, (new, old)) in self.ops.iter().zip(&original.ops).enumerate() {
            if old.flags & Op::DEAD == 0 {
                found.add_op(self, original, OpId(at as u32), [new, old]);
            }
        }
        for (new, old) in self.values.iter().zip(&original.values) {
            if (new.flags | old.flags) & Value::DEAD == 0 {
                found.types += usize::from(new.ty != old.ty);
                found.names += usize::from(new.name != old.name);
            }
        }
        let live = |at: &usize| self.constants[*at].flags & Constant::DEAD == 0;
        found.constants = (0..self.constants.len())
            .filter(live)
            .filter(|&at| !self.has_data_at(original, at))
            .count();
        Some(found)
    }

    fn has_data_at(&self, original: &Function, at: usize) -> bool {
        let old = original.data.get(at);
        old.is_some_and(|old| Arc::ptr_eq(old, self.constant_data(ConstId(at as u32))))
    }
}

impl Differences {
    fn add_op(&mut self, f: &Function, original: &Function, id: OpId, [new, old]: [&Op; 2]) {
        if new.flags & Op::DEAD != 0 || new.name != old.name {
            self.ops += 1;
            return;
        }
        let values = |f: &Function| -> Vec<ValueId> {
            f.operands(id).iter().map(|slot| slot.value).collect()
        };
        let attrs = [f.attrs(id), original.attrs(id)];
        let has_same_attrs = attrs[0].len() == attrs[1].len()
            && attrs[0]
                .iter()
                .zip(attrs[1])
                .all(|(a, b)| f.is_same_attr(a, original, b));
        self.operands += usize::from(values(f) != values(original));
        self.attributes += usize::from(!has_same_attrs);
        // An op whose neighbours change, or that only gets another number, hasn't moved.
        let has_moved = new.prev != old.prev && new.next != old.next && new.order != old.order;
        self.order += usize::from(new.parent != old.parent || has_moved);
        self.locations += usize::from(new.loc != old.loc);
    }

    /// Each count that isn't 0, with its name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let counts = [
            ("ops", self.ops),
            ("operands", self.operands),
            ("attributes", self.attributes),
            ("order", self.order),
            ("locations", self.locations),
            ("types", self.types),
            ("names", self.names),
            ("constants", self.constants),
            ("opsets", self.opsets),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0)
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
        let original: &Function = module.functions().next().expect("its function");
        let mut copy = original.clone();
        let body = copy.body();
        let ops: Vec<OpId> = copy.ops_in(body).collect();
        let x = copy.operand(ops[0], 0);
        edit(&mut copy, [ops[0], ops[1]], x);
        let found = copy.differences(original).expect("ids that are the same");
        let said: Vec<String> = found
            .counts()
            .map(|(what, n)| format!("{what} {n}"))
            .collect();
        expected.assert_eq(&said.join(", "));
    }

    #[test]
    fn what_changed_is_counted() {
        check(|_, _, _| (), expect![""]);
        check(
            |f, [first, _], _| {
                let ty = f.add_type(TypeData::Unknown);
                let result = f.result(first, 0).expect("its result");
                f.set_type(result, ty).expect("a type");
                f.set_name(result, "other").expect("a name");
            },
            expect!["types 1, names 1"],
        );
        check(
            |f, [first, second], x| {
                let name = f.symbols().intern("a");
                f.set_attr(first, &NewAttr::new(name, AttrData::Ints(&[2, 1])))
                    .expect("an attribute");
                f.set_operand(second, 1, x).expect("an operand");
            },
            expect!["operands 1, attributes 1"],
        );
        check(
            |f, [first, second], x| {
                let ty = f.value(x).ty;
                let new = NewOp {
                    operands: &[x, x],
                    result_types: &[ty],
                    ..NewOp::new(f.symbols().intern("onnx.Sub"))
                };
                let made = f.create_op(&new, Position::before(second)).expect("an op");
                let made = f.result(made, 0).expect("its result");
                let old = f.result(first, 0).expect("its result");
                f.replace_uses(old, made).expect("one type");
                f.erase_op(first).expect("no uses");
            },
            expect!["ops 1, operands 1"],
        );
    }
}
