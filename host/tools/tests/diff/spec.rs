//! Modules as plain data that is easy to edit, and their text.

use std::fmt::Write;

/// A value, identified by a unique number.
pub(crate) type Val = usize;

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) result: Val,
    pub(crate) kind: String,
    pub(crate) attrs: Vec<(String, i64)>,
    pub(crate) operands: Vec<Val>,
    pub(crate) ty: String,
    pub(crate) blocks: Vec<Block>,
}

/// The ops of a region and the value that it yields.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) ops: Vec<Op>,
    pub(crate) result: Val,
}

#[derive(Clone, Debug)]
pub(crate) struct Const {
    pub(crate) value: Val,
    pub(crate) elements: Vec<i64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) opsets: Vec<(String, i64)>,
    pub(crate) params: Vec<(Val, String)>,
    pub(crate) constants: Vec<Const>,
    pub(crate) body: Block,
    pub(crate) output: String,
    pub(crate) functions: Vec<String>,
    /// Names by value; `None` if the value has no name.
    pub(crate) names: Vec<Option<String>>,
}

impl Spec {
    pub(crate) fn value(&mut self, named: bool) -> Val {
        let value = self.names.len();
        self.names.push(named.then(|| format!("v{value}")));
        value
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::from("module {\n");
        for (key, value) in &self.metadata {
            _ = writeln!(out, "  metadata {key:?} = {value:?}");
        }
        let params: Vec<String> = self
            .params
            .iter()
            .map(|(value, ty)| format!("{}: {ty}", self.name(*value)))
            .collect();
        let opsets: Vec<String> = self
            .opsets
            .iter()
            .map(|(domain, version)| format!("{domain:?} = {version}"))
            .collect();
        let (params, opsets) = (params.join(", "), opsets.join(", "));
        let output = &self.output;
        _ = writeln!(
            out,
            "  fn @main({params}) -> (%{output}: f32[n]) opset({opsets}) {{"
        );
        for constant in &self.constants {
            let (name, elements) = (self.name(constant.value), &constant.elements);
            let count = elements.len();
            _ = writeln!(out, "    {name} = const i64[{count}] {elements:?}");
        }
        self.block(&mut out, &self.body, "return");
        out.push_str("  }\n");
        for function in &self.functions {
            _ = writeln!(
                out,
                "  fn @{function}(%x: f32[n]) -> (%y: f32[n]) {{\n    return %x\n  }}"
            );
        }
        out.push_str("}\n");
        out
    }

    /// Prints a block. Recursive, since nesting is shallow here.
    fn block(&self, out: &mut String, block: &Block, end: &str) {
        for op in &block.ops {
            let operands: Vec<String> = op.operands.iter().map(|&v| self.name(v)).collect();
            let attrs: Vec<String> = op.attrs.iter().map(|(k, v)| format!("{k} = {v}")).collect();
            let attrs = match attrs.is_empty() {
                true => String::new(),
                false => format!(" {{{}}}", attrs.join(", ")),
            };
            let (result, kind, operands) = (self.name(op.result), &op.kind, operands.join(", "));
            _ = writeln!(out, "    {result} = {kind}({operands}){attrs} : {}", op.ty);
            for (block, name) in op.blocks.iter().zip(["then_branch", "else_branch"]) {
                _ = writeln!(out, "    region {name} {{");
                self.block(out, block, "yield");
                out.push_str("    }\n");
            }
        }
        _ = writeln!(out, "    {end} {}", self.name(block.result));
    }

    fn name(&self, value: Val) -> String {
        match &self.names[value] {
            Some(name) => format!("%{name}"),
            None => format!("%{value}"),
        }
    }
}
