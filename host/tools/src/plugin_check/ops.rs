//! Op definitions: asked about the ops of the corpus, and about calls that are made of what they say
//! of themselves.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_core::boundary::IS_WRONG;
use passdock_core::sdk::{EditError, Function, OpId, PassContext};
use passdock_core::{OpInfo, PassInfo, PassRef, create_function_pass};
use passdock_driver::model_file;
use passdock_ir::Module;

use super::CheckAnswer;
use super::subject::Subject;

/// The bytes of a result that an evaluation may make.
const MAX_BYTES: u64 = 1 << 20;
/// The operands of calls that are made: of unknown type, shaped, and constant.
const OPERANDS: [(&str, &str); 4] = [
    ("", "%x: ?"),
    ("", "%x: f32[2,3]"),
    ("%x = const f32[2,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", ""),
    ("%x = const i64[1] [1]", ""),
];
/// The version of ONNX's own ops beside those of another domain.
const ONNX_OPSET: i64 = 17;
/// Operands beyond the least number that a call gets.
const MORE_OPERANDS: u32 = 2;

/// Definitions answer, or say that they don't.
pub(super) fn ops(subject: &Subject<'_>) -> CheckAnswer {
    let name = subject.plugin.name();
    if subject.plugin.manifest().ops.is_empty() {
        return CheckAnswer::skipped("The plugin defines no operators.");
    }
    subject.trail.at("the op definitions were listed");
    let (infos, failures) = subject.registry.op_defs().describe();
    let mut findings: Vec<String> = failures
        .iter()
        .filter(|error| error.origin == *subject.plugin.origin())
        .map(|error| passdock_core::capitalized(&error.to_string()))
        .collect();
    let definitions: Vec<OpInfo> = infos.iter().filter(|op| !op.extends).cloned().collect();
    let mut infos = infos;
    infos.retain(|info| info.plugin == name);
    for info in infos.iter_mut().filter(|info| info.extends) {
        // How its calls look is the definition's to say.
        let mut newest_first = definitions.iter().rev();
        if let Some(definition) = newest_first.find(|other| other.name == info.name) {
            info.since = info.since.max(definition.since);
            info.min_operands = definition.min_operands;
            info.max_operands = definition.max_operands;
            info.attributes.clone_from(&definition.attributes);
        }
    }
    let asked_of = Arc::new(AskedOf {
        names: infos.iter().map(|op| op.name.clone()).collect(),
        targets: infos.iter().flat_map(|op| op.targets.clone()).collect(),
    });
    let mut notes = Vec::new();
    let mut asked = 0;
    for sample in &subject.samples {
        let at = format!("op definitions were asked on {}", sample.name);
        subject.trail.at(&at);
        let said = ask(subject, sample.fresh(), &asked_of);
        asked += said.asked;
        let said = said.errors.into_iter();
        findings.extend(said.map(|said| format!("On {}: {said}", sample.name)));
    }
    let mut unreadable = Vec::new();
    for info in &infos {
        let mut found = BTreeSet::new();
        for call in calls(info) {
            subject.trail.at(&format!(
                "the definition of `{}` was asked about:\n{call}",
                info.name
            ));
            let Ok(module) = model_file::parse_text("a call", &call) else {
                unreadable.push(format!("`{}`", info.name));
                continue;
            };
            let said = ask(subject, module, &asked_of);
            asked += said.asked;
            // A call of this tool's making may well be wrong, and the definition right to say so.
            let of_definition = said.errors.into_iter();
            found.extend(of_definition.filter(|said| !said.contains(IS_WRONG)));
        }
        let since = format!("`{}` since {}: ", info.name, info.since);
        findings.extend(found.into_iter().take(1).map(|said| since.clone() + &said));
    }
    unreadable.dedup();
    if !unreadable.is_empty() {
        let all = unreadable.join(", ");
        notes.push(format!("No calls could be made of {all}."));
    }
    notes.push(format!("{asked} questions were asked."));
    CheckAnswer::of(findings, notes)
}

/// What definitions said about a module.
#[derive(Default)]
struct Said {
    asked: usize,
    errors: Vec<String>,
}

/// What a plugin speaks of.
struct AskedOf {
    /// The operators that it defines, or adds to.
    names: BTreeSet<String>,
    /// The targets that it speaks for.
    targets: BTreeSet<&'static str>,
}

/// Asks about all ops of a module that a plugin speaks of.
fn ask(subject: &Subject<'_>, module: Module, asked_of: &Arc<AskedOf>) -> Said {
    let said = Arc::new(Mutex::new(Said::default()));
    let made = subject.call(asker(asked_of.clone(), said.clone()), module, |context| {
        context.jobs(1)
    });
    let mut said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
    // A definition that couldn't be loaded, or wrote over the module.
    said.errors
        .extend(made.err().map(|error| error.message.clone()));
    said
}

/// A pass that asks, and keeps what goes wrong.
fn asker(asked_of: Arc<AskedOf>, said: Arc<Mutex<Said>>) -> PassRef {
    create_function_pass(PassInfo::new("check.transform.Ask"), move |f, cx| {
        let ops: Vec<OpId> = f.ops().collect();
        for op in ops {
            if asked_of.names.contains(f.name(op)) {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                ask_about(f, cx, op, &asked_of.targets, &mut said);
            }
        }
        Ok(())
    })
}

fn ask_about(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    targets: &BTreeSet<&str>,
    said: &mut Said,
) {
    let mut tell = |answer: Result<(), EditError>| {
        said.asked += 1;
        let error = answer.err()?;
        if !said.errors.contains(&error.message) {
            said.errors.push(error.message.clone());
        }
        Some(error)
    };
    // Nothing more is asked about an op that isn't right.
    if tell(cx.check_op(f, op)).is_none() && tell(cx.infer(f, op)).is_none() {
        let evaluated = cx.evaluate(f, op, MAX_BYTES).map(drop);
        tell(evaluated);
        let decomposed = cx.decompose(f, op).map(drop);
        tell(decomposed);
        let legalized = cx.legalize(f, op).map(drop);
        tell(legalized);
        let as_it_is = vec![""; f.operand_count(op)];
        let laid_out = cx.layout(f, op, &as_it_is).map(drop);
        tell(laid_out);
        let altered = cx.alter_layout(f, op, &as_it_is).map(drop);
        tell(altered);
        for target in targets {
            tell(cx.supports(f, op, target).map(drop));
        }
    }
}

/// Modules with a call of an operator each.
fn calls(info: &OpInfo) -> Vec<String> {
    let most = info.max_operands.unwrap_or(u32::MAX);
    let most = most.min(info.min_operands.saturating_add(MORE_OPERANDS));
    let mut attributes = String::new();
    for attr in info
        .attributes
        .iter()
        .flatten()
        .filter(|attr| attr.required)
    {
        let value = match attr.kind {
            "int" => "1",
            "float" => "1.0",
            "string" => "\"a\"",
            "ints" => "[1]",
            "floats" => "[1.0]",
            "strings" => "[\"a\"]",
            "tensor" => "tensor f32[1] [1.0]",
            "type" => "type f32[1]",
            // A graph can't be made up.
            _ => return Vec::new(),
        };
        let comma = if attributes.is_empty() { "" } else { ", " };
        _ = write!(attributes, "{comma}{} = {value}", attr.name);
    }
    if !attributes.is_empty() {
        attributes = format!(" {{{attributes}}}");
    }
    // `onnx.Relu` is of ONNX's own domain, which has no name.
    let domain = info.name.rsplit_once('.').map_or("", |(domain, _)| domain);
    let opset = match domain {
        "onnx" => format!("opset(\"\" = {})", info.since),
        // Bodies are made of ONNX's own ops.
        domain => format!("opset(\"\" = {ONNX_OPSET}, {domain:?} = {})", info.since),
    };
    let counts = BTreeSet::from([info.min_operands, most]);
    let mut texts = Vec::new();
    for count in counts {
        for (constant, param) in OPERANDS {
            let operands = vec!["%x"; count as usize].join(", ");
            texts.push(format!(
                "module {{\n  fn @main({param}) -> (%r) {opset} {{\n    {constant}\n    \
                 %r = {}({operands}){attributes}\n    return %r\n  }}\n}}\n",
                info.name
            ));
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_operands_and_attributes_that_are_needed() {
        let info = OpInfo {
            name: "acme.Sum".to_owned(),
            since: 2,
            min_operands: 2,
            max_operands: None,
            traits: Vec::new(),
            types: true,
            evaluation: true,
            decomposition: false,
            layouts: false,
            extends: false,
            legalization: false,
            targets: Vec::new(),
            attributes: None,
            plugin: "acme".to_owned(),
        };
        let made = calls(&info);
        assert_eq!(made.len(), 8);
        for text in &made {
            let read = model_file::parse_text("a call", text);
            assert!(read.is_ok(), "{text}");
        }
        assert!(made[1].contains("(%x: f32[2,3])"));
        assert!(made[1].contains("opset(\"\" = 17, \"acme\" = 2)"));
        assert!(made[4].contains("acme.Sum(%x, %x, %x, %x)"));
    }
}
