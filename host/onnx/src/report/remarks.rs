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
    /// The message.
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
        message: format!("metadata `{key}` of the module is not written"),
        help: "in IR text, `metadata` is only for fields of ONNX's header; write other keys as `module meta {\"key\" = \
               \"value\"}`",
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
                "only local functions can have attribute parameters".to_owned(),
                "remove it, or set the value on the ops that refer to it",
            )
        } else if version < SINCE {
            (
                format!(
                    "metadata of graphs and functions requires `ir_version` {SINCE}, but the model has {version}"
                ),
                "write the result as `.ir`, which keeps all attributes, or raise `metadata \"onnx.ir_version\"` in \
                 the text",
            )
        } else if attr_text(f, attr).is_none() {
            (
                format!(
                    "metadata supports only numbers, strings and lists of them, found {}",
                    kind(attr.kind)
                ),
                "write the result as `.ir`, which keeps all attributes",
            )
        } else {
            continue;
        };
        let name = f.text(attr.name);
        found.push(Remark {
            code: "left-out",
            function: Some(function.to_owned()),
            message: format!("attribute `{name}` of @{function} is not written: {why}"),
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
        _ => "an opaque value",
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
                "@{function} imports no opset of domain {domain:?} of `{op}`, so runtimes may reject the model"
            ),
            help: "import it with `set_opset` in a pass, or with `opset(\"com.acme\" = 1)` in the text of the \
                   function",
        }
    })
}
