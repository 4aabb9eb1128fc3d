//! Premises: the inputs of type inference of an op, so that results can be reused for ops with equal inputs.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use passdock_abi::{
    AttrKind, ConstId, Dim, DimKind, OpId, Range, Type, TypeId, TypeKind, Value, ValueId,
};
use twox_hash::XxHash3_128;

use super::Function;
use crate::constant::ConstantData;

/// The inputs of type inference: an op's name and attributes, domain versions, types of operands and results, and
/// constant operands. Inference has the same result for ops with equal keys in functions that share symbols.
pub struct Premises {
    /// A 128-bit hash of the inputs.
    pub key: u128,
    /// The constants. The hash covers their addresses; weak pointers prevent these from being reused.
    pub constants: Vec<Weak<ConstantData>>,
}

/// The maximum length of a list attribute; results for ops with longer ones aren't reused.
const MAX_LIST: u32 = 1024;

/// The usual length of the hashed inputs, in bytes.
const USUAL_LEN: usize = 512;

/// The premises of an op while they are collected.
struct Collector {
    bytes: Vec<u8>,
    constants: Vec<Weak<ConstantData>>,
}

/// Appends its input to `bytes`, which are hashed at once: that is faster.
impl Hasher for Collector {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl Collector {
    #[inline]
    fn add(&mut self, part: impl Hash) {
        part.hash(self);
    }

    /// Returns `None` if a dim is an expression, which has other ids in other functions.
    fn add_dims(&mut self, dims: &[Dim]) -> Option<()> {
        self.add(dims);
        let is_expr = |dim: &Dim| dim.kind == DimKind::EXPR;
        (!dims.iter().any(is_expr)).then_some(())
    }
}

impl Function {
    /// Returns the premises of an op; `None` if it has regions or other inputs that a key doesn't cover. `known`
    /// returns the elements of an operand if they are known from an analysis.
    pub fn premises<'k>(
        &self,
        op: OpId,
        known: impl Fn(ValueId) -> Option<&'k [Dim]>,
    ) -> Option<Premises> {
        let record = self.op(op);
        if record.regions.len > 0 {
            return None;
        }
        let mut premises = Collector {
            bytes: Vec::with_capacity(USUAL_LEN),
            constants: Vec::new(),
        };
        premises.add((record.name, &self.opsets));
        let lists = [record.operands, record.results, record.attrs];
        premises.add(lists.map(|list| list.len));
        for slot in self.operands(op) {
            let value = slot.value.option().map(|value| self.value(value));
            premises.add(value.map(|value| value.flags & Value::KIND));
            let Some(value) = value else { continue };
            self.add_type_premise(value.ty, &mut premises)?;
            let elements = known(slot.value);
            let constant = value.constant.option().filter(|_| elements.is_none());
            premises.add((elements.is_some(), constant.is_some()));
            if let Some(elements) = elements {
                premises.add_dims(elements)?;
            }
            if let Some(constant) = constant {
                self.add_data_premise(constant, &mut premises);
            }
        }
        for result in self.results(op) {
            let value = self.value(result);
            premises.add(value.flags & (Value::ABSENT | Value::DECLARED));
            self.add_type_premise(value.ty, &mut premises)?;
        }
        self.add_attr_premises(op, &mut premises)?;
        Some(Premises {
            key: XxHash3_128::oneshot(&premises.bytes),
            constants: premises.constants,
        })
    }

    fn add_type_premise(&self, ty: TypeId, premises: &mut Collector) -> Option<()> {
        let record = self.ty(ty);
        if ![TypeKind::TENSOR, TypeKind::UNKNOWN].contains(&record.kind) {
            return None;
        }
        premises.add(Type {
            dims: Range::EMPTY,
            aux: Range::EMPTY,
            ..*record
        });
        premises.add_dims(self.dims_in(record.dims))
    }

    fn add_data_premise(&self, constant: ConstId, premises: &mut Collector) {
        let data = self.constant_data(constant);
        premises.add(Arc::as_ptr(data));
        premises.constants.push(Arc::downgrade(data));
    }

    fn add_attr_premises(&self, op: OpId, premises: &mut Collector) -> Option<()> {
        for attr in self.attrs(op) {
            if attr.list.len > MAX_LIST {
                return None;
            }
            premises.add((attr.name, attr.kind));
            match attr.kind {
                AttrKind::INT | AttrKind::FLOAT => premises.add(attr.bits),
                AttrKind::STRING => premises.add(self.bytes_in(attr.list)),
                AttrKind::INTS => premises.add(self.ints_in(attr.list)),
                AttrKind::FLOATS => {
                    premises.add(attr.list.len);
                    let floats = self.floats_in(attr.list).iter();
                    floats.for_each(|float| premises.add(float.to_bits()));
                }
                AttrKind::STRINGS => {
                    premises.add(attr.list.len);
                    for string in self.strings_in(attr.list) {
                        premises.add(string);
                    }
                }
                AttrKind::TENSOR => {
                    let constant = ConstId(attr.bits as u32);
                    self.add_type_premise(self.constant(constant).ty, premises)?;
                    self.add_data_premise(constant, premises);
                }
                _ => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// Checks which pairs of ops, by index, have equal premises.
    #[track_caller]
    fn check(same: &[(usize, usize)], ops: &str) {
        let source = format!(
            "module {{ fn @main(%x: f32[2,n], %y: f32[2,n], %z: f32[2,m], %c: bool[]) -> (%out: f32[2,n]) opset(\"\" \
                = 17) {{
            %s = const i64[2] [1, 2]
            %t = const i64[2] [1, 2]
            {ops}
            return %x
        }} }}"
        );
        let module = text::parse(&source).expect("a module");
        let f: &Function = module.functions().next().expect("the function");
        let ops = f
            .ops_in(f.body())
            .filter(|&op| f.text(f.op(op).name) != "return");
        let elements = [Dim::constant(2)];
        let is_known = |value| f.text(f.value(value).name) == "known";
        let known = |value| is_known(value).then_some(&elements[..]);
        let all: Vec<Option<Premises>> = ops.map(|op| f.premises(op, known)).collect();
        let mut found = Vec::new();
        for b in 0..all.len() {
            for a in 0..b {
                if let (Some(one), Some(other)) = (&all[a], &all[b])
                    && one.key == other.key
                {
                    found.push((a, b));
                }
            }
        }
        assert_eq!(found, same);
    }

    #[test]
    fn ops_of_the_same_kind_have_the_same_premises() {
        check(
            &[(0, 1), (0, 2), (1, 2)],
            "%0 = onnx.Relu(%x) : f32[2,n]
            %1 = onnx.Relu(%x) : f32[2,n]
            %2 = onnx.Relu(%y) : f32[2,n]",
        );
        check(
            &[],
            "%0 = onnx.Relu(%x) : f32[2,n]
            %1 = onnx.Relu(%x)
            %2 = onnx.Abs(%x) : f32[2,n]
            %3 = onnx.Relu(%z) : f32[2,m]
            %4 = onnx.Add(%x, %y) : f32[2,n]",
        );
    }

    #[test]
    fn attributes_are_compared_by_value() {
        check(
            &[(0, 1), (3, 4), (6, 7)],
            r#"%0 = onnx.Softmax(%x) {axis = 1}
            %1 = onnx.Softmax(%y) {axis = 1}
            %2 = onnx.Softmax(%x) {axis = 0}
            %3 = onnx.Transpose(%x) {perm = [1, 0]}
            %4 = onnx.Transpose(%x) {perm = [1, 0]}
            %5 = onnx.Transpose(%x) {perm = [0, 1]}
            %6 = acme.Op(%x) {mode = "linear", scales = [0.5, 1.0]}
            %7 = acme.Op(%x) {mode = "linear", scales = [0.5, 1.0]}
            %8 = acme.Op(%x) {mode = "linea", scales = [0.5, 1.0]}"#,
        );
    }

    #[test]
    fn denotations_of_types_are_compared() {
        check(
            &[(1, 2)],
            "%a = onnx.Relu(%x) : f32[2 @BATCH,n]
            %1 = onnx.Abs(%x) : f32[2 @BATCH,n]
            %2 = onnx.Abs(%x) : f32[2 @BATCH,n]
            %3 = onnx.Abs(%x) : f32[2,n]
            %4 = onnx.Abs(%a) : f32[2 @BATCH,n]",
        );
    }

    #[test]
    fn ops_with_long_lists_have_no_premises() {
        let ints = vec!["7"; MAX_LIST as usize + 1].join(", ");
        check(
            &[],
            &format!(
                "%0 = onnx.Constant() {{value_ints = [{ints}]}}
                %1 = onnx.Constant() {{value_ints = [{ints}]}}"
            ),
        );
    }

    #[test]
    fn constants_and_known_elements_are_compared() {
        check(
            &[(0, 1), (4, 5)],
            "%0 = onnx.Reshape(%x, %s)
            %1 = onnx.Reshape(%x, %s)
            %2 = onnx.Reshape(%x, %t)
            %known = onnx.Abs(%s) : i64[2]
            %4 = onnx.Reshape(%x, %known)
            %5 = onnx.Reshape(%x, %known)
            %other = onnx.Abs(%t) : i64[2]
            %7 = onnx.Reshape(%x, %other)",
        );
    }

    #[test]
    fn ops_with_regions_or_dim_expressions_have_no_premises() {
        check(
            &[],
            "%0 = onnx.If(%c) : f32[2,n]
                region then_branch { yield %x }
                region else_branch { yield %y }
            %1 = onnx.If(%c) : f32[2,n]
                region then_branch { yield %x }
                region else_branch { yield %y }
            %2 = onnx.Concat(%x, %x) {axis = 1} : f32[2,n + n]
            %3 = onnx.Concat(%x, %x) {axis = 1} : f32[2,n + n]",
        );
    }
}
