//! Function interfaces: the parameters, results and opsets that callers rely on.

use passdock_abi::{SymbolId, TypeId};

use crate::Function;

/// The name and the description of a parameter or a result.
type Entry<'f> = (&'f str, String);

/// Whether two states of a function have the same interface: kind, and names and types of parameters and results.
pub fn same_interface(a: &Function, b: &Function) -> bool {
    a.kind() == b.kind() && params(a) == params(b) && results(a) == results(b)
}

/// Describes the first difference of two interfaces, including opsets.
pub fn difference(before: &Function, after: &Function) -> Option<String> {
    if before.kind() != after.kind() {
        return Some("its kind changed".to_owned());
    }
    let list = |what, before: Vec<Entry<'_>>, after: Vec<Entry<'_>>| {
        let pairs = before.iter().zip(&after);
        let changed = pairs.into_iter().find(|(old, new)| old != new);
        if let Some(((old, old_type), (new, new_type))) = changed {
            return Some(match old == new {
                true => format!("{what} `{old}` changed from {old_type} to {new_type}"),
                false => format!("expected {what} `{old}`, found `{new}`"),
            });
        }
        if let Some((removed, _)) = before.get(after.len()) {
            return Some(format!("{what} `{removed}` was removed"));
        }
        let (new, _) = after.get(before.len())?;
        Some(format!("{what} `{new}` was added"))
    };
    list("parameter", params(before), params(after))
        .or_else(|| list("result", results(before), results(after)))
        .or_else(|| opset_difference(before, after))
}

/// Describes the first changed opset version. New and removed domains don't count.
pub fn opset_difference(before: &Function, after: &Function) -> Option<String> {
    before.opsets().iter().find_map(|opset| {
        let domain = before.text(opset.domain);
        let mut now = after.opsets().iter();
        let now = now.find(|now| after.text(now.domain) == domain)?;
        let domain = match domain {
            "" => "the ONNX domain".to_owned(),
            domain => format!("domain `{domain}`"),
        };
        let (old, version) = (opset.version, now.version);
        (version != old).then(|| format!("the opset of {domain} changed from {old} to {version}"))
    })
}

fn params(f: &Function) -> Vec<Entry<'_>> {
    let args = f.args(f.body());
    args.map(|arg| {
        let value = f.value(arg);
        let default = match value.constant.is_some() {
            true => " with a default",
            false => "",
        };
        (name(f, value.name), type_text(f, value.ty) + default)
    })
    .collect()
}

fn results(f: &Function) -> Vec<Entry<'_>> {
    let ports = f.ports(f.body()).iter();
    ports
        .map(|port| (name(f, port.name), type_text(f, port.ty)))
        .collect()
}

fn name(f: &Function, name: SymbolId) -> &str {
    name.option().map_or("", |name| f.text(name))
}

/// Returns a type as text. Types are compared as text, because the same id may refer to different types in two states
/// of a function.
fn type_text(f: &Function, ty: TypeId) -> String {
    match ty.is_none() {
        true => "unknown type".to_owned(),
        false => format!("`{}`", crate::text::type_text(f, ty)),
    }
}
