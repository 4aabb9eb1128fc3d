//! Sparse initializers, which are ops in the IR.

use crate::extras::importer_data::ImporterData;
use crate::format::fields::bodies;
use crate::format::schema::attr;
use crate::format::wire::Message;
use passdock_abi::{AttrKind, OpId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

/// Returns the ops of sparse initializers and their copies, with their starts in the file; 0 if they aren't in a file.
pub(crate) fn sparse_initializers(f: &Function) -> FxHashMap<OpId, u64> {
    let mut found = FxHashMap::default();
    if !f.origins().has_extras() {
        return found;
    }
    for op in f.walk(f.body()) {
        let at = ImporterData::from_entity(f, Entity::Op(op)).sparse;
        if let Some(at) = at.filter(|_| sparse_value(f, op).is_some()) {
            found.insert(op, at);
        }
    }
    found
}

/// Returns the sparse tensor in the op of a sparse initializer.
pub(crate) fn sparse_value(f: &Function, op: OpId) -> Option<Message<'_>> {
    let [attr] = f.attrs(op) else { return None };
    if attr.kind != AttrKind::OPAQUE || f.text(f.op(op).name) != "onnx.Constant" {
        return None;
    }
    let message = Message::detached(f.bytes_in(attr.list));
    bodies(message, attr::SPARSE_TENSOR).next()?.ok()
}
