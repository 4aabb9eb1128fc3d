//! What the types of an op's results follow from, so that its definition isn't asked the same twice.

use std::sync::{Arc, Weak};

use passdock_abi::{AttrKind, ConstId, Dim, DimKind, OpId, Type, TypeId, TypeKind, Value, ValueId};

use super::Function;
use crate::constant::ConstantData;

/// An op's name and attributes, the versions of domains, the types of operands and results, and which constants
/// operands are. Equal ones are those of ops of which an inference says the same, in functions of the same symbols.
pub struct Premises {
    words: Vec<u32>,
    /// The constants. A weak pointer keeps the address, which is among the words, from being given to others.
    constants: Vec<Weak<ConstantData>>,
}

/// What is known of an operand's elements: each, which constant they are, or nothing.
const KNOWN: u32 = 0;
const CONSTANT: u32 = 1;
const OPEN: u32 = 2;

/// The words for which there is room at once.
const USUAL: usize = 128;
/// The most words: what is longer is asked again.
const MOST: usize = 2048;

impl Premises {
    /// Both parts, of which the words alone are to be compared.
    pub fn into_parts(self) -> (Box<[u32]>, Box<[Weak<ConstantData>]>) {
        (self.words.into(), self.constants.into())
    }

    /// The words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// None if there is no room for so many more words.
    fn has_room(&self, more: usize) -> Option<()> {
        (self.words.len().saturating_add(more) <= MOST).then_some(())
    }

    fn long(&mut self, word: u64) {
        self.words.extend([word as u32, (word >> 32) as u32]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.words.push(bytes.len() as u32);
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|word| u32::from_le_bytes(*word));
        self.words
            .extend(words.chain(rest.iter().map(|&byte| byte.into())));
    }

    /// None if a size is said by an expression, which has other numbers elsewhere.
    fn dims(&mut self, dims: &[Dim]) -> Option<()> {
        self.words.push(dims.len() as u32);
        for dim in dims {
            let value = dim.value as u64;
            self.words.extend([
                dim.kind.0,
                value as u32,
                (value >> 32) as u32,
                dim.denotation.0,
            ]);
        }
        let is_expr = |dim: &Dim| dim.kind == DimKind::EXPR;
        (!dims.iter().any(is_expr)).then_some(())
    }
}

impl Function {
    /// The premises of an op; `None` if it has regions, or anything else that words here can't say. `known` answers the
    /// elements of an operand that are known otherwise than by a constant.
    pub fn premises<'k>(
        &self,
        op: OpId,
        known: impl Fn(ValueId) -> Option<&'k [Dim]>,
    ) -> Option<Premises> {
        let record = self.op(op);
        if record.regions.len > 0 {
            return None;
        }
        let mut premises = Premises {
            words: Vec::with_capacity(USUAL),
            constants: Vec::new(),
        };
        premises.words.push(record.name.0);
        premises.words.push(self.opsets.len() as u32);
        for opset in &self.opsets {
            premises.words.push(opset.domain.0);
            premises.long(opset.version as u64);
        }
        let counts = [record.operands, record.results, record.attrs];
        premises.words.extend(counts.map(|range| range.len));
        for slot in self.operands(op) {
            if slot.value.is_none() {
                premises.words.push(u32::MAX);
                continue;
            }
            let value = self.value(slot.value);
            premises.words.push(value.flags & Value::KIND);
            self.add_type_premise(value.ty, &mut premises)?;
            match (known(slot.value), value.constant.option()) {
                (Some(elements), _) => {
                    premises.words.push(KNOWN);
                    premises.dims(elements)?;
                }
                (None, Some(constant)) => {
                    premises.words.push(CONSTANT);
                    self.add_data_premise(constant, &mut premises);
                }
                (None, None) => premises.words.push(OPEN),
            }
            premises.has_room(0)?;
        }
        for result in self.results(op) {
            let value = self.value(result);
            premises
                .words
                .push(value.flags & (Value::ABSENT | Value::DECLARED));
            self.add_type_premise(value.ty, &mut premises)?;
            premises.has_room(0)?;
        }
        self.add_attr_premises(op, &mut premises)?;
        Some(premises)
    }

    fn add_type_premise(&self, ty: TypeId, premises: &mut Premises) -> Option<()> {
        let record = self.ty(ty);
        if ![TypeKind::TENSOR, TypeKind::UNKNOWN].contains(&record.kind) {
            return None;
        }
        let Type {
            kind,
            dtype,
            flags,
            name,
            ..
        } = *record;
        premises.words.extend([kind.0, dtype.0, flags, name.0]);
        premises.dims(self.dims_in(record.dims))
    }

    fn add_data_premise(&self, constant: ConstId, premises: &mut Premises) {
        let data = self.constant_data(constant);
        premises.long(Arc::as_ptr(data) as u64);
        premises.constants.push(Arc::downgrade(data));
    }

    fn add_attr_premises(&self, op: OpId, premises: &mut Premises) -> Option<()> {
        for attr in self.attrs(op) {
            premises.has_room(attr.list.len as usize)?;
            premises.words.extend([attr.name.0, attr.kind.0]);
            match attr.kind {
                AttrKind::INT | AttrKind::FLOAT => premises.long(attr.bits),
                AttrKind::STRING => premises.bytes(self.bytes_in(attr.list)),
                AttrKind::INTS => {
                    premises.words.push(attr.list.len);
                    let ints = self.ints_in(attr.list).iter();
                    ints.for_each(|&int| premises.long(int as u64));
                }
                AttrKind::FLOATS => {
                    premises.words.push(attr.list.len);
                    let floats = self.floats_in(attr.list).iter();
                    premises.words.extend(floats.map(|float| float.to_bits()));
                }
                AttrKind::STRINGS => {
                    premises.words.push(attr.list.len);
                    for string in self.strings_in(attr.list) {
                        premises.has_room(string.len())?;
                        premises.bytes(string);
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

    /// The pairs of ops, by index, that have the same premises.
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
        let f: &Function = module.functions().next().expect("its function");
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
                    && one.words() == other.words()
                {
                    found.push((a, b));
                }
            }
        }
        assert_eq!(found, same);
    }

    #[test]
    fn ops_of_the_same_words_have_the_same_premises() {
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
    fn attributes_are_compared_by_what_they_say() {
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
    fn types_are_compared_with_what_they_denote() {
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
    fn what_is_very_long_has_no_premises() {
        let ints = vec!["7"; MOST + 1].join(", ");
        check(
            &[],
            &format!(
                "%0 = onnx.Constant() {{value_ints = [{ints}]}}
                %1 = onnx.Constant() {{value_ints = [{ints}]}}"
            ),
        );
    }

    #[test]
    fn constants_are_compared_as_such_and_known_elements_by_their_numbers() {
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
    fn what_has_regions_or_sizes_made_of_others_has_no_premises() {
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
