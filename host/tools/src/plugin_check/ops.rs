//! The check of op definitions, with the ops of the built-in modules and with calls generated from their declarations.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_core::boundary::IS_INVALID;
use passdock_core::sdk::{EditError, Function, OpId, PassContext};
use passdock_core::{OpInfo, PassInfo, create_function_pass};
use passdock_driver::model_file;
use passdock_ir::Module;

use super::CheckResult;
use super::subject::Subject;

/// The maximum size of an evaluated result, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The operands of generated calls: of unknown type, with a shape, and constant.
const OPERANDS: [(&str, &str); 4] = [
    ("", "%x: ?"),
    ("", "%x: f32[2,3]"),
    ("%x = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", ""),
    ("%x = const i64[1] [1]", ""),
];
/// The version of ONNX's own operators in functions with ops of another domain.
const ONNX_OPSET: i64 = 17;
/// The number of operands beyond the minimum that a generated call has at most.
const MORE_OPERANDS: u32 = 2;

/// Checks that op definitions return results, or errors with a message.
pub(super) fn ops(subject: &Subject<'_>) -> CheckResult {
    if subject.plugin.manifest().ops.is_empty() {
        return CheckResult::skipped("the plugin defines no operators");
    }
    subject.trail.at("listing op definitions");
    let (mut infos, failures) = subject.registry.op_defs().describe();
    let own_failures = failures
        .iter()
        .filter(|error| error.origin == *subject.plugin.origin())
        .map(ToString::to_string);
    let mut findings: Vec<String> = own_failures.collect();
    let definitions: Vec<OpInfo> = infos.iter().filter(|op| !op.extends).cloned().collect();
    infos.retain(|info| info.plugin == subject.plugin.name());
    for info in infos.iter_mut().filter(|info| info.extends) {
        // An extension has the signature of the definition that it extends.
        let mut newest_first = definitions.iter().rev();
        if let Some(definition) = newest_first.find(|other| other.name == info.name) {
            info.since = info.since.max(definition.since);
            info.min_operands = definition.min_operands;
            info.max_operands = definition.max_operands;
            info.attributes.clone_from(&definition.attributes);
        }
    }
    let scope = Arc::new(Scope {
        names: infos.iter().map(|op| op.name.clone()).collect(),
        targets: infos.iter().flat_map(|op| op.targets.clone()).collect(),
    });
    let mut count = 0;
    for sample in &subject.samples {
        let step = format!("querying op definitions on {}", sample.name);
        subject.trail.at(&step);
        let queries = query(subject, sample.fresh(), &scope);
        count += queries.count;
        let errors = queries.errors.into_iter();
        findings.extend(errors.map(|error| format!("on {}: {error}", sample.name)));
    }
    let mut unreadable = BTreeSet::new();
    for info in &infos {
        let name = &info.name;
        let mut errors = BTreeSet::new();
        for call in calls(info) {
            let step = format!("querying the definition of `{name}` about:\n{call}");
            subject.trail.at(&step);
            let Ok(module) = model_file::parse_text("a call", &call) else {
                unreadable.insert(format!("`{name}`"));
                continue;
            };
            let queries = query(subject, module, &scope);
            count += queries.count;
            // A generated call may be invalid, so the definition may reject it.
            let faults = queries.errors.into_iter();
            errors.extend(faults.filter(|error| !error.contains(IS_INVALID)));
        }
        let first = errors.into_iter().next();
        findings
            .extend(first.map(|error| format!("`{name}` (since version {}): {error}", info.since)));
    }
    let mut notes = Vec::new();
    if !unreadable.is_empty() {
        let all: Vec<String> = unreadable.into_iter().collect();
        notes.push(format!("no calls were generated for {}", all.join(", ")));
    }
    notes.push(format!("{count} queries"));
    CheckResult::new(findings, notes)
}

/// The operators and targets of a plugin.
struct Scope {
    /// The operators that it defines or extends.
    names: BTreeSet<String>,
    targets: BTreeSet<&'static str>,
}

/// The number of queries about a module, and the errors.
#[derive(Default)]
struct Queries {
    count: usize,
    errors: Vec<String>,
}

/// Runs a pass that queries the definitions of all ops of a module that are in the scope.
fn query(subject: &Subject<'_>, module: Module, scope: &Arc<Scope>) -> Queries {
    let queries = Arc::new(Mutex::new(Queries::default()));
    let (scope, shared) = (scope.clone(), queries.clone());
    let pass = create_function_pass(PassInfo::new("check.transform.Query"), move |f, cx| {
        let ops: Vec<OpId> = f.ops().collect();
        for op in ops {
            if scope.names.contains(f.name(op)) {
                let mut queries = shared.lock().unwrap_or_else(PoisonError::into_inner);
                queries.add(f, cx, op, &scope.targets);
            }
        }
        Ok(())
    });
    let output = subject.call(pass, module, |context| context.jobs(1));
    let mut queries = std::mem::take(&mut *queries.lock().unwrap_or_else(PoisonError::into_inner));
    // A definition couldn't be loaded, or wrote to the module.
    queries
        .errors
        .extend(output.err().map(|error| error.message.clone()));
    queries
}

impl Queries {
    /// Runs all queries about an op. An op that its definition rejects isn't queried further.
    fn add(&mut self, f: &mut Function, cx: &PassContext, op: OpId, targets: &BTreeSet<&str>) {
        if !self.record(cx.check_op(f, op)) || !self.record(cx.infer(f, op)) {
            return;
        }
        self.record(cx.evaluate(f, op, MAX_BYTES));
        self.record(cx.decompose(f, op));
        let default_layouts = vec![""; f.operand_count(op)];
        self.record(cx.layout(f, op, &default_layouts));
        self.record(cx.alter_layout(f, op, &default_layouts));
        for target in targets {
            self.record(cx.supports(f, op, target));
        }
    }

    /// Records the result of a query. Returns `true` if it isn't an error.
    fn record<T>(&mut self, result: Result<T, EditError>) -> bool {
        self.count += 1;
        let Err(error) = result else { return true };
        if !self.errors.contains(&error.message) {
            self.errors.push(error.message);
        }
        false
    }
}

/// Generates modules with one call of an operator each. Graph attributes can't be generated.
fn calls(info: &OpInfo) -> Vec<String> {
    let attributes = info.attributes.iter().flatten();
    let attributes = attributes.filter(|attr| attr.required).map(|attr| {
        let value = match attr.kind {
            "int" => "1",
            "float" => "1.0",
            "string" => "\"a\"",
            "ints" => "[1]",
            "floats" => "[1.0]",
            "strings" => "[\"a\"]",
            "tensor" => "tensor f32[1] [1.0]",
            "type" => "type f32[1]",
            _ => return None,
        };
        Some(format!("{} = {value}", attr.name))
    });
    let Some(attributes) = attributes.collect::<Option<Vec<String>>>() else {
        return Vec::new();
    };
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", attributes.join(", ")),
    };
    // The name `onnx.Relu` is in ONNX's own domain, `""`.
    let domain = info.name.rsplit_once('.').map_or("", |(domain, _)| domain);
    let opset = match domain {
        "onnx" => format!("opset(\"\" = {})", info.since),
        // Bodies contain ONNX's own ops.
        domain => format!("opset(\"\" = {ONNX_OPSET}, {domain:?} = {})", info.since),
    };
    let most = info.max_operands.unwrap_or(u32::MAX);
    let most = most.min(info.min_operands.saturating_add(MORE_OPERANDS));
    let counts = BTreeSet::from([info.min_operands, most]).into_iter();
    let calls = counts.flat_map(|count| OPERANDS.map(|operands| (count, operands)));
    let texts = calls.map(|(count, (constant, param))| {
        let operands = vec!["%x"; count as usize].join(", ");
        format!(
            "module {{\n  fn @main({param}) -> (%r) {opset} {{\n    {constant}\n    \
             %r = {}({operands}){attributes}\n    return %r\n  }}\n}}\n",
            info.name
        )
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_calls_have_required_operands() {
        let info = OpInfo {
            name: "acme.Sum".to_owned(),
            since: 2,
            min_operands: 2,
            max_operands: None,
            traits: Vec::new(),
            type_inference: true,
            evaluation: true,
            decomposition: false,
            layouts: false,
            extends: false,
            min_results: 0,
            max_results: None,
            targets: Vec::new(),
            attributes: None,
            plugin: "acme".to_owned(),
        };
        let generated = calls(&info);
        assert_eq!(generated.len(), 8);
        for text in &generated {
            let parsed = model_file::parse_text("a call", text);
            assert!(parsed.is_ok(), "{text}");
        }
        assert!(generated[1].contains("(%x: f32[2,3])"));
        assert!(generated[1].contains("opset(\"\" = 17, \"acme\" = 2)"));
        assert!(generated[4].contains("acme.Sum(%x, %x, %x, %x)"));
    }
}
