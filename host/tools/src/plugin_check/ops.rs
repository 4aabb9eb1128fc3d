//! The check of op definitions, with the ops of the built-in modules and with calls generated from their declarations.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use passdock_abi::TypeKind;
use passdock_core::boundary::IS_INVALID;
use passdock_core::sdk::{EditError, Function, OpId, PassContext, ValueId};
use passdock_core::{OpInfo, PassInfo, create_function_pass};
use passdock_driver::model_file;
use passdock_ir::{Module, text};

use super::determinism::first_difference;
use super::properties::Properties;
use super::subject::Subject;
use super::{CheckResult, generated, threads};

/// The maximum size of an evaluated result, in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The number of generated calls of all definitions, and the range of the number for each of them.
const CALLS: usize = 8000;
const CALLS_OF_EACH: (usize, usize) = (24, 256);
const BRIEFLY: (usize, usize) = (4, 4);

/// Checks that op definitions return results, or errors with a message, and that the results agree.
pub(super) fn ops(subject: &Subject<'_>) -> CheckResult {
    if subject.plugin.manifest().ops.is_empty() {
        return CheckResult::skipped("the plugin defines no operators");
    }
    let (findings, notes) = check(subject, CALLS_OF_EACH, true);
    CheckResult::new(findings, notes)
}

/// Returns the errors of op definitions in fewer calls.
pub(super) fn ops_briefly(subject: &Subject<'_>) -> Vec<String> {
    match subject.plugin.manifest().ops.is_empty() {
        true => Vec::new(),
        false => check(subject, BRIEFLY, false).0,
    }
}

/// Queries the definitions about the built-in modules, and about a number of generated calls within these limits.
/// Returns findings and notes.
fn check(
    subject: &Subject<'_>,
    (least, most): (usize, usize),
    properties: bool,
) -> (Vec<String>, Vec<String>) {
    let (infos, mut findings) = definitions(subject);
    let scope = Scope::of(&infos);
    let calls = CALLS / infos.len().max(1);
    let fuzzed = subject.seeds();
    let seeds = fuzzed.clone().unwrap_or(0..calls.clamp(least, most) as u64);
    let mut count = 0;
    for sample in &subject.samples {
        let step = format!("querying op definitions on {}", sample.name);
        subject.trail.at(&step);
        let queries = query(subject, sample.fresh(), &scope, Scrutiny::OF_SAMPLES);
        count += queries.count;
        let errors = queries.errors.into_iter();
        findings.extend(errors.map(|error| format!("on {}: {error}", sample.name)));
    }
    let mut not_generated = BTreeSet::new();
    for info in &infos {
        let mut faults = Faults::default();
        for seed in seeds.clone() {
            let Some(call) = generated::call(info, &mut random(info, seed)) else {
                not_generated.insert(format!("`{}`", info.name));
                continue;
            };
            let scrutiny = Scrutiny {
                generated: true,
                properties,
            };
            faults.seed = fuzzed.is_some().then_some(seed);
            count += faults.find(subject, &scope, info, &call, scrutiny);
        }
        findings.extend(faults.messages);
    }
    let mut notes = Vec::new();
    if !not_generated.is_empty() {
        let all: Vec<String> = not_generated.into_iter().collect();
        notes.push(format!("no calls were generated for {}", all.join(", ")));
    }
    notes.push(format!("{count} queries"));
    (findings, notes)
}

/// Queries the definitions about the calls of these seeds, first on this thread and then on several threads at the same
/// time. Returns a message for each definition with different results.
pub(super) fn compare_on_threads(subject: &Subject<'_>, seeds: Range<u64>) -> Vec<String> {
    let (infos, _) = definitions(subject);
    let scope = Scope::of(&infos);
    let outcome = |call: &String| match model_file::parse_text("a call", call) {
        Ok(module) => {
            let queries = query(subject, module, &scope, Scrutiny::OF_SAMPLES);
            format!("{}{:?}", queries.output, queries.errors)
        }
        Err(error) => error.to_string(),
    };
    let differences = infos.iter().filter_map(|info| {
        let name = &info.name;
        let step = format!("querying the definition of `{name}` on several threads");
        subject.trail.at(&step);
        let calls = seeds.clone();
        let calls = calls.filter_map(|seed| generated::call(info, &mut random(info, seed)));
        let tasks: Vec<(String, String)> = calls
            .map(|call| {
                let expected = outcome(&call);
                (call, expected)
            })
            .collect();
        let difference = threads::compare(&tasks, outcome)?;
        let line = first_difference(difference.expected, &difference.found);
        Some(format!(
            "`{name}` (since version {}): results differ when several threads query the definition about the calls \
             of {} at {line}; for `{}`",
            info.since,
            subject.replay(seeds.clone()),
            difference.task
        ))
    });
    differences.collect()
}

/// Returns the definitions and extensions of the plugin, and messages about those that couldn't be loaded.
fn definitions(subject: &Subject<'_>) -> (Vec<OpInfo>, Vec<String>) {
    subject.trail.at("listing op definitions");
    let (mut infos, failures) = subject.registry.op_defs().describe();
    let own_failures = failures
        .iter()
        .filter(|error| error.origin == *subject.plugin.origin())
        .map(ToString::to_string);
    let definitions: Vec<OpInfo> = infos.iter().filter(|op| !op.extends).cloned().collect();
    infos.retain(|info| info.plugin == subject.plugin.name());
    for info in infos.iter_mut().filter(|info| info.extends) {
        // An extension has the signature of the definition that it extends.
        let mut newest_first = definitions.iter().rev();
        if let Some(definition) = newest_first.find(|other| other.name == info.name) {
            info.since = info.since.max(definition.since);
            info.min_operands = definition.min_operands;
            info.max_operands = definition.max_operands;
            info.min_results = definition.min_results;
            info.max_results = definition.max_results;
            info.attributes.clone_from(&definition.attributes);
        }
    }
    (infos, own_failures.collect())
}

/// Returns the random source of a definition's call, which doesn't depend on other definitions.
fn random(info: &OpInfo, seed: u64) -> Rng {
    let name = info.name.bytes().map(u64::from);
    let parts = name.chain([info.since as u64, seed]);
    let mixed = parts.fold(0_u64, |all, part| {
        all.wrapping_mul(0x100_0000_01b3).wrapping_add(part)
    });
    Rng::with_seed(mixed)
}

/// The faults of a definition that generated calls show.
#[derive(Default)]
struct Faults {
    /// The faults, without numbers. Each is reported for the first call that shows it.
    seen: BTreeSet<String>,
    messages: Vec<String>,
    /// The seed of the next call, if messages show it.
    seed: Option<u64>,
}

impl Faults {
    /// Queries the definition about a call. Returns the number of queries.
    fn find(
        &mut self,
        subject: &Subject<'_>,
        scope: &Arc<Scope>,
        info: &OpInfo,
        call: &str,
        scrutiny: Scrutiny,
    ) -> usize {
        let name = &info.name;
        let replay = self.seed.map(|seed| subject.replay(seed..seed + 1));
        let replay = replay.map_or(String::new(), |command| format!(" of {command}"));
        let step = format!("querying the definition of `{name}` about: {call}{replay}");
        subject.trail.at(&step);
        let Ok(module) = model_file::parse_text("a call", call) else {
            return 0;
        };
        let queries = query(subject, module, scope, scrutiny);
        // A generated call may be invalid, so the definition may reject it.
        let errors = queries.errors.into_iter();
        let errors = errors.filter(|error| !error.contains(IS_INVALID));
        let errors = errors.map(|error| (error, String::new()));
        for (fault, values) in errors.chain(queries.violations) {
            let kind = fault.replace(|c: char| c.is_ascii_digit() || c == ',', "");
            if self.seen.insert(kind) {
                let since = info.since;
                self.messages.push(format!(
                    "`{name}` (since version {since}): {fault}{values}; for `{call}`{replay}",
                ));
            }
        }
        queries.count
    }
}

/// The operators and targets of a plugin.
struct Scope {
    /// The operators that it defines or extends.
    names: BTreeSet<String>,
    targets: BTreeSet<&'static str>,
}

impl Scope {
    fn of(infos: &[OpInfo]) -> Arc<Scope> {
        Arc::new(Scope {
            names: infos.iter().map(|op| op.name.clone()).collect(),
            targets: infos.iter().flat_map(|op| op.targets.clone()).collect(),
        })
    }
}

/// How an op is checked.
#[derive(Clone, Copy)]
struct Scrutiny {
    /// Whether the number of results is randomly generated, too.
    generated: bool,
    /// The properties of its definition. The values of ops in a model may be too large.
    properties: bool,
}

impl Scrutiny {
    const OF_SAMPLES: Scrutiny = Scrutiny {
        generated: false,
        properties: false,
    };
}

/// The number of queries about a module, the errors, and the properties that don't hold, with the values that show it.
#[derive(Default)]
struct Queries {
    count: usize,
    errors: Vec<String>,
    violations: Vec<(String, String)>,
    /// The module after the queries, as text.
    output: String,
}

/// Runs a pass that queries the definitions of all ops of a module that are in the scope.
fn query(subject: &Subject<'_>, module: Module, scope: &Arc<Scope>, scrutiny: Scrutiny) -> Queries {
    let queries = Arc::new(Mutex::new(Queries::default()));
    let (scope, shared) = (scope.clone(), queries.clone());
    let pass = create_function_pass(PassInfo::new("check.transform.Query"), move |f, cx| {
        let ops: Vec<OpId> = f.ops().collect();
        for op in ops {
            if scope.names.contains(f.name(op)) {
                let mut queries = shared.lock().unwrap_or_else(PoisonError::into_inner);
                queries.add(f, cx, op, &scope.targets, scrutiny);
            }
        }
        Ok(())
    });
    let output = subject.call(pass, module, |context| context.jobs(1));
    let mut queries = std::mem::take(&mut *queries.lock().unwrap_or_else(PoisonError::into_inner));
    match output {
        Ok(output) => queries.output = text::print(&output),
        // A definition couldn't be loaded.
        Err(error) if queries.errors.is_empty() => queries.errors.push(error.message.clone()),
        Err(_) => {}
    }
    queries
}

impl Queries {
    /// Runs all queries about an op. An op that its definition rejects isn't queried further.
    fn add(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        op: OpId,
        targets: &BTreeSet<&str>,
        scrutiny: Scrutiny,
    ) {
        if !self.record(cx.check_op(f, op)) || !self.record(cx.infer(f, op)) {
            return;
        }
        // The operator has fewer results.
        if scrutiny.generated && has_untyped_result(f, op) {
            return;
        }
        let is_valid = self.record(cx.evaluate(f, op, MAX_BYTES));
        if scrutiny.properties && is_valid {
            self.add_properties(f, cx, op);
        } else {
            self.record(cx.decompose(f, op));
        }
        let default_layouts = vec![""; f.operand_count(op)];
        self.record(cx.layout(f, op, &default_layouts));
        self.record(cx.alter_layout(f, op, &default_layouts));
        for target in targets {
            self.record(cx.supports(f, op, target));
        }
    }

    /// Checks the properties of an op, among them its body.
    fn add_properties(&mut self, f: &mut Function, cx: &PassContext, op: OpId) {
        let mut properties = Properties::new(f, cx, op);
        properties.check_evaluation();
        let decomposed = properties.check_body();
        self.violations.append(&mut properties.violations);
        self.record(decomposed);
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

/// Whether an op has several results, of which one has no type.
fn has_untyped_result(f: &Function, op: OpId) -> bool {
    let results = f.results(op);
    let is_untyped = |&result: &ValueId| f.type_of(result).kind() == TypeKind::UNKNOWN;
    results.len() > 1 && results.iter().any(is_untyped)
}
