//! The check of an op against its definition: numbers of operands and results, and attributes.

use passdock_abi::{Attr, AttrKind, OpEntry, OpId};
use passdock_diagnostic::suggest;
use passdock_ir::{Edit, EditFailure, Function};
use passdock_loader::{AttrInfo, count_range, kind_name};

use super::OpQueries;

impl OpQueries<'_> {
    pub(in crate::boundary) fn check_op(&self, op: OpId) -> Edit {
        let name = self.name(op)?;
        let Some(definition) = self.definition(name) else {
            return Ok(());
        };
        self.session.with(|state| {
            let f = state.read()?;
            let mut problems = Vec::new();
            check_counts(f, op, &definition.entry, &mut problems);
            if let Some(listed) = definition.attributes {
                check_attributes(f, op, listed, &mut problems);
            }
            match problems.is_empty() {
                true => Ok(()),
                false => Err(EditFailure::rejected(problems.join("; "))),
            }
        })
    }
}

fn check_counts(f: &Function, op: OpId, definition: &OpEntry, problems: &mut Vec<String>) {
    let (operands, results) = (f.operands(op).len(), f.results(op).len());
    for (what, count, fewest, most) in [
        (
            "operand",
            operands,
            definition.min_operands,
            definition.max_operands,
        ),
        (
            "result",
            results,
            definition.min_results,
            definition.max_results,
        ),
    ] {
        if !(fewest as usize..=most as usize).contains(&count) {
            let (operator, allowed) = (f.text(f.op(op).name), count_range(what, fewest, most));
            problems.push(format!("{operator} expects {allowed}, found {count}"));
        }
    }
}

fn check_attributes(f: &Function, op: OpId, listed: &[AttrInfo], problems: &mut Vec<String>) {
    let operator = f.text(f.op(op).name);
    for attr in f.attrs(op) {
        let name = f.text(attr.name);
        match listed.iter().find(|entry| entry.name == name) {
            None => {
                let near = suggest::did_you_mean(name, listed.iter().map(|entry| entry.name));
                problems.push(format!("unknown attribute `{name}` of {operator}{near}"));
            }
            Some(entry) if !fits(attr, entry.kind_code) => problems.push(format!(
                "expected attribute `{name}` of {operator} to be of type {}, found {}",
                entry.kind,
                kind_name(kind(attr)),
            )),
            Some(_) => {}
        }
    }
    for entry in listed.iter().filter(|entry| entry.required) {
        let mut attrs = f.attrs(op).iter();
        // A region counts as the attribute of its name, whether the op has that attribute or not.
        let is_region = || {
            let mut regions = f.regions_of(op).map(|region| f.region(region).name);
            entry.kind_code == AttrKind::REGION && regions.any(|name| entry.name == f.text(name))
        };
        if !attrs.any(|attr| entry.name == f.text(attr.name)) && !is_region() {
            problems.push(format!("missing attribute `{}` of {operator}", entry.name));
        }
    }
}

/// Returns the kind of an attribute's value. For a reference, it is the kind of the referenced attribute.
fn kind(attr: &Attr) -> AttrKind {
    match attr.kind {
        AttrKind::REFERENCE => attr.stands_for,
        kind => kind,
    }
}

/// Whether an attribute fits the listed kind. Opaque values and references without a kind fit any kind. Any attribute
/// fits a kind of a newer ABI version.
fn fits(attr: &Attr, listed: AttrKind) -> bool {
    let kind = kind(attr);
    let is_unknown = listed.0 > AttrKind::OPAQUE.0;
    kind == listed || is_unknown || matches!(kind, AttrKind::NONE | AttrKind::OPAQUE)
}
