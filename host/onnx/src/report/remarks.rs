//! Remarks on the file that a module is written as.

use passdock_abi::{Attr, AttrKind, OpId};
use passdock_ir::text::attr_text;
use passdock_ir::{Function, Module};

use crate::extras::function_attributes::SINCE;
use crate::format::header::{MAIN, METADATA};
use crate::layout::version::final_version;
use crate::write::imports::Domains;

/// A warning about something that an ONNX file can't contain, or that a runtime will reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The kind: `left-out` if the file won't contain it, `no-opset` for a domain that the file doesn't import.
    pub code: &'static str,
    /// The function that the remark is about; `None` for the module itself.
    pub function: Option<String>,
    /// The message, as a complete sentence.
    pub message: String,
    /// The fix.
    pub help: &'static str,
}

/// Returns the remarks about the file that [`write`](crate::write()) would encode from a module.
pub fn remarks(module: &Module) -> Vec<Remark> {
    let mut found = metadata(module);
    let version = final_version(module);
    for f in module.functions() {
        attributes(f, version, &mut found);
    }
    found.extend(imports(module));
    found
}

fn metadata(module: &Module) -> Vec<Remark> {
    let unknown = module.metadata().iter().map(|(key, _)| key);
    let unknown = unknown.filter(|key| METADATA.iter().all(|(_, known)| known != key));
    let remark = |key| Remark {
        code: "left-out",
        function: None,
        message: format!("The metadata `{key}` of the module isn't written."),
        help: "`metadata` are fields of ONNX's header; other keys and values go to \
               `module meta {\"key\" = \"value\"}` of the text.",
    };
    unknown.map(remark).collect()
}

fn attributes(f: &Function, version: i64, found: &mut Vec<Remark>) {
    let function = f.text(f.name());
    for attr in f.attrs(OpId::NONE) {
        let param = attr.flags & Attr::PARAM != 0;
        let (why, help) = if param && function != MAIN {
            continue;
        } else if param {
            (
                "only local functions of a model have attribute parameters".to_owned(),
                "Remove it, or give the value to the ops that refer to it.",
            )
        } else if version < SINCE {
            (
                format!(
                    "the model's `ir_version` is {version}, and graphs and functions have metadata \
                     since {SINCE}"
                ),
                "Write the result as `.ir`, which keeps all attributes, or raise the `metadata \
                 \"onnx.ir_version\"` of the text.",
            )
        } else if attr_text(f, attr).is_none() {
            (
                format!(
                    "metadata carries numbers, strings and lists of them, and this is {}",
                    kind(attr.kind)
                ),
                "Write the result as `.ir`, which keeps all attributes.",
            )
        } else {
            continue;
        };
        let name = f.text(attr.name);
        found.push(Remark {
            code: "left-out",
            function: Some(function.to_owned()),
            message: format!("The attribute `{name}` of @{function} isn't written: {why}."),
            help,
        });
    }
}

/// Returns the name of an attribute kind that metadata can't store.
fn kind(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::TENSOR | AttrKind::TENSORS => "a tensor",
        AttrKind::TYPE | AttrKind::TYPES => "a type",
        AttrKind::REGION | AttrKind::REGIONS => "a region",
        AttrKind::REFERENCE => "a reference to a parameter",
        _ => "in a form that only its importer knows",
    }
}

fn imports(module: &Module) -> impl Iterator<Item = Remark> {
    let missing = Domains::new(module).missing.into_iter();
    missing.map(|(holder, domain, op)| {
        let symbols = module.symbols();
        let (function, op) = (symbols.text(holder), symbols.text(op));
        Remark {
            code: "no-opset",
            function: Some(function.to_owned()),
            message: format!(
                "The model has `{op}`, and @{function} no opset version of its domain {domain:?}, \
                 so runtimes may refuse it."
            ),
            help: "A pass says it with `set_opset`, a text in the header of the function: \
                   `opset(\"com.acme\" = 1)`.",
        }
    })
}
