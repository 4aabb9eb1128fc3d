//! The comparison of two models' inputs and outputs: names, element types, dims.

use std::fmt;

use serde::Serialize;

use super::ort::{ModelPort, ModelPorts, PortDim, describe};

/// A difference of an input or output in two models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceDifference {
    /// `input` or `output`.
    pub port: &'static str,
    /// The name of the port; all names if the order differs.
    pub name: String,
    /// The kind of difference: `name`, `type`, `dims` or `order`.
    pub property: &'static str,
    /// The port in the model before; `None` if it is absent.
    pub before: Option<String>,
    /// The port in the model after; `None` if it is absent.
    pub after: Option<String>,
    /// Whether users of the model may notice. A size that only one model declares isn't a contradiction.
    pub breaking: bool,
}

impl fmt::Display for InterfaceDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (port, name) = (self.port, &self.name);
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if self.property == "order" => {
                write!(f, "order of {port}s changed from {before} to {after}")
            }
            (Some(before), Some(after)) => {
                write!(f, "{port} `{name}` changed from {before} to {after}")
            }
            (Some(before), None) => write!(f, "{port} `{name}` ({before}) was removed"),
            (None, after) => {
                let after = after.as_deref().unwrap_or("absent");
                write!(f, "{port} `{name}` ({after}) was added")
            }
        }
    }
}

/// Compares the interfaces of two models.
pub(super) fn compare(before: &ModelPorts, after: &ModelPorts) -> Vec<InterfaceDifference> {
    let mut differences = ports("input", &before.inputs, &after.inputs);
    differences.extend(ports("output", &before.outputs, &after.outputs));
    differences
}

/// Whether a model accepts the inputs of another one.
pub(super) fn accepts_same_inputs(before: &ModelPorts, after: &ModelPorts) -> bool {
    after.inputs.iter().all(|new| {
        let old = before.inputs.iter().find(|old| old.name == new.name);
        old.is_some_and(|old| typed(old, new).is_none_or(|(_, breaking)| !breaking))
    })
}

fn ports(port: &'static str, old: &[ModelPort], new: &[ModelPort]) -> Vec<InterfaceDifference> {
    fn find<'p>(ports: &'p [ModelPort], name: &str) -> Option<&'p ModelPort> {
        ports.iter().find(|port| port.name == name)
    }
    let difference = |property, before: Option<&ModelPort>, after: Option<&ModelPort>, breaking| {
        let name = after.or(before).map(|port| port.name.clone());
        InterfaceDifference {
            port,
            name: name.unwrap_or_default(),
            property,
            before: before.map(ty),
            after: after.map(ty),
            breaking,
        }
    };
    let removed = old.iter().filter(|port| find(new, &port.name).is_none());
    let added = new.iter().filter(|port| find(old, &port.name).is_none());
    let mut differences: Vec<InterfaceDifference> = Vec::new();
    differences.extend(removed.map(|old| difference("name", Some(old), None, true)));
    differences.extend(added.map(|new| difference("name", None, Some(new), true)));
    let is_complete = differences.is_empty();
    differences.extend(old.iter().filter_map(|old| {
        let new = find(new, &old.name)?;
        let (property, breaking) = typed(old, new)?;
        Some(difference(property, Some(old), Some(new), breaking))
    }));
    let names = |ports: &[ModelPort]| {
        let names: Vec<&str> = ports.iter().map(|port| &*port.name).collect();
        names.join(", ")
    };
    if is_complete && names(old) != names(new) {
        differences.push(InterfaceDifference {
            port,
            name: names(old),
            property: "order",
            before: Some(names(old)),
            after: Some(names(new)),
            breaking: true,
        });
    }
    differences
}

/// Returns the difference of two types, and whether it breaks users of the model.
fn typed(old: &ModelPort, new: &ModelPort) -> Option<(&'static str, bool)> {
    match (&old.ty, &new.ty) {
        (Ok(old), Ok(new)) if old.dtype != new.dtype => Some(("type", true)),
        (Ok(old), Ok(new)) if !are_compatible(&old.dims, &new.dims) => Some(("dims", true)),
        (Ok(old), Ok(new)) => {
            let known = |dim: &PortDim| matches!(dim, PortDim::Known(_));
            let mut pairs = old.dims.iter().zip(&new.dims);
            let one_knows = pairs.any(|(old, new)| known(old) != known(new));
            one_knows.then_some(("dims", false))
        }
        (old, new) => (old != new).then_some(("type", true)),
    }
}

/// Whether a tensor can have both shapes.
fn are_compatible(old: &[PortDim], new: &[PortDim]) -> bool {
    // ONNX Runtime reports an unknown rank as 0.
    if old.len() != new.len() {
        return old.is_empty() || new.is_empty();
    }
    let contradict = |(old, new): (&PortDim, &PortDim)| {
        matches!(
            (old, new),
            (PortDim::Known(old), PortDim::Known(new)) if old != new
        )
    };
    !old.iter().zip(new).any(contradict)
}

fn ty(port: &ModelPort) -> String {
    match &port.ty {
        Err(kind) => (*kind).to_owned(),
        Ok(ty) => {
            let dims = ty.dims.iter().map(|dim| match dim {
                PortDim::Known(size) => size.to_string(),
                PortDim::Symbol(symbol) => symbol.clone(),
                PortDim::Open => "?".to_owned(),
            });
            describe(ty.dtype, dims)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi::DType;

    use super::*;
    use crate::numerics::ort::PortType;

    fn port(name: &str, dtype: DType, dims: &[&str]) -> ModelPort {
        let dim = |dim: &&str| match (dim.parse(), *dim) {
            (Ok(size), _) => PortDim::Known(size),
            (_, "?") => PortDim::Open,
            (_, symbol) => PortDim::Symbol(symbol.to_owned()),
        };
        ModelPort {
            name: name.to_owned(),
            ty: Ok(PortType {
                dtype,
                dims: dims.iter().map(dim).collect(),
            }),
        }
    }

    #[track_caller]
    fn check(old: &[ModelPort], new: &[ModelPort], expected: Expect) {
        let found = ports("input", old, new);
        let line = |found: &InterfaceDifference| {
            let note = if found.breaking {
                ""
            } else {
                " (breaks nothing)"
            };
            format!("{}: {found}{note}\n", found.property)
        };
        expected.assert_eq(&found.iter().map(line).collect::<String>());
    }

    #[test]
    fn interface_differences_are_reported() {
        let x = || port("x", DType::F32, &["batch", "3"]);
        let y = || port("y", DType::I64, &[]);
        check(&[x(), y()], &[x(), y()], expect![""]);
        check(
            &[x(), y()],
            &[y(), x()],
            expect![[r#"
                order: order of inputs changed from x, y to y, x
            "#]],
        );
        check(
            &[x(), y()],
            &[
                port("x", DType::F16, &["batch", "3"]),
                port("z", DType::I64, &[]),
            ],
            expect![[r#"
                name: input `y` (i64[]) was removed
                name: input `z` (i64[]) was added
                type: input `x` changed from f32[batch,3] to f16[batch,3]
            "#]],
        );
        check(
            &[x()],
            &[port("x", DType::F32, &["batch", "4"])],
            expect![[r#"
                dims: input `x` changed from f32[batch,3] to f32[batch,4]
            "#]],
        );
    }

    #[test]
    fn unknown_dims_are_not_breaking() {
        check(
            &[port("x", DType::F32, &["batch", "?"])],
            &[port("x", DType::F32, &["1", "b"])],
            expect![[r#"
                dims: input `x` changed from f32[batch,?] to f32[1,b] (breaks nothing)
            "#]],
        );
        check(
            &[port("x", DType::F32, &["batch"])],
            &[port("x", DType::F32, &["b"])],
            expect![""],
        );
    }
}
