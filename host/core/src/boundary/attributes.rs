//! Whether an op's attributes are those that its definition lists.

use passdock_abi as abi;
use passdock_abi::{Attr, AttrEntry, AttrKind, OpId, Status};
use passdock_ir::{Edit, EditError, Function};

use super::definitions;
use super::ops::ask;
use crate::plugin::{AttrList, kind_name};
use crate::suggest;

// SAFETY of the call is the contract's: handles are those that the host handed out and that haven't
// ended.

pub(super) unsafe extern "C" fn check_attrs(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        ask(cx, f, |context, session| {
            let name = session.with(|state| Ok(state.read()?.live_op(op)?.name))?;
            let definition = definitions::find(context, session, name);
            match definition.and_then(|definition| definition.attributes()) {
                Some(listed) => session.with(|state| check(state.read()?, op, listed)),
                None => Ok(()),
            }
        })
    }
}

/// All that is wrong, as one error.
fn check(f: &Function, op: OpId, listed: AttrList) -> Edit {
    let operator = f.text(f.op(op).name);
    let mut wrong = Vec::new();
    for attr in f.attrs(op) {
        let name = f.text(attr.name);
        match listed.clone().find(|entry| entry.name == name) {
            None => {
                let near = suggest::did_you_mean(name, listed.clone().map(|entry| entry.name));
                wrong.push(format!("{operator} has no attribute `{name}`.{near}"));
            }
            Some(entry) if !fits(attr, entry.kind) => wrong.push(format!(
                "The attribute `{name}` of {operator} is of the type {}; it has to be {}.",
                kind_name(kind(attr)),
                kind_name(entry.kind),
            )),
            Some(_) => {}
        }
    }
    for entry in listed.filter(|entry| entry.flags & AttrEntry::REQUIRED != 0) {
        if f.attrs(op)
            .iter()
            .all(|attr| f.text(attr.name) != entry.name)
        {
            wrong.push(format!("{operator} lacks its attribute `{}`.", entry.name));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(EditError::refused(wrong.join(" ")))
}

/// The kind of an attribute's value; a reference says in its flags for which kind it stands.
fn kind(attr: &Attr) -> AttrKind {
    match attr.kind {
        AttrKind::REFERENCE => AttrKind(attr.flags >> 16),
        kind => kind,
    }
}

/// What only the importer understands, and what nothing is known of, may be anything.
fn fits(attr: &Attr, listed: AttrKind) -> bool {
    let kind = kind(attr);
    kind == listed || matches!(kind, AttrKind::NONE | AttrKind::OPAQUE)
}
