//! Determinism: passes compute the same output in each run, in each process, and on any number of threads. With
//! `--fuzz`, passes and op definitions are also called for different modules at the same time.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use passdock_core::{ManifestPass, PassKind, toml};
use passdock_ir::text;

use super::corpus::{self, Sample};
use super::subject::Subject;
use super::{CheckResult, ops, threads};

/// A number of threads above 1, on any machine.
const JOBS: usize = 8;

/// Checks that a pass computes the same output for the same module.
pub(super) fn determinism(subject: &Subject<'_>) -> CheckResult {
    let seeds = subject.seeds();
    if subject.passes().is_empty() && seeds.is_none() {
        return CheckResult::skipped("the plugin has no passes to run");
    }
    let many = corpus::many_graph_functions()
        .and_then(|graph| Ok((graph, corpus::many_prim_functions()?)));
    let (graph, prim) = match many {
        Ok(many) => many,
        Err(error) => return CheckResult::skipped(error.to_string()),
    };
    let (mut findings, mut outputs) = (Vec::new(), BTreeMap::new());
    for pass in subject.passes() {
        let mut deterministic = Vec::new();
        let repeated = subject.samples.iter().map(|sample| (sample, [1; 3]));
        let is_parallel = pass.declaration.thread_safe;
        let parallel = match pass.kind {
            _ if !is_parallel || seeds.is_some() => None,
            PassKind::Function => Some(&graph),
            PassKind::PrimFunction => Some(&prim),
            PassKind::Module => None,
        };
        let parallel = parallel.map(|many| (many, [1, JOBS, JOBS]));
        for (sample, jobs) in repeated.chain(parallel) {
            let [first, others @ ..] = jobs.map(|jobs| output(subject, pass, sample, jobs));
            let what = format!("`{}` on {}", pass.name(), sample.name);
            let Some(other) = others.iter().find(|other| **other != first) else {
                let mut hasher = DefaultHasher::new();
                first.hash(&mut hasher);
                outputs.insert(what, hasher.finish());
                deterministic.push((sample, first));
                continue;
            };
            let how = match jobs {
                [1, JOBS, ..] => format!("between 1 and {JOBS} threads"),
                _ => "between runs".to_owned(),
            };
            let line = first_difference(&first, other);
            findings.push(format!("{what}: output differs {how} at {line}"));
        }
        if is_parallel && let Some(seeds) = &seeds {
            let run = |sample: &&Sample| output(subject, pass, sample, 1);
            findings.extend(threads::compare(&deterministic, run).map(|difference| {
                let line = first_difference(difference.expected, &difference.found);
                format!(
                    "`{}`: output differs when several threads run the pass on the modules of {} at {line}",
                    pass.name(),
                    subject.replay(seeds.clone())
                )
            }));
        }
    }
    if let Some(seeds) = seeds {
        findings.extend(ops::compare_on_threads(subject, seeds));
    }
    CheckResult {
        outputs,
        ..CheckResult::new(findings, Vec::new())
    }
}

/// Returns the output of a pass as text, or its error.
fn output(subject: &Subject<'_>, pass: &ManifestPass, sample: &Sample, jobs: usize) -> String {
    let options = toml::Table::new();
    match subject.run(pass, &options, sample, |context| context.jobs(jobs)) {
        Ok(module) => text::print(&module),
        Err(error) => error.to_string(),
    }
}

/// Describes the first line in which two different texts differ.
pub(super) fn first_difference(one: &str, other: &str) -> String {
    let same = one.lines().zip(other.lines()).take_while(|(a, b)| a == b);
    let number = same.count();
    let quoted = |text: &str| match text.lines().nth(number) {
        Some(line) => format!("`{}`", line.trim()),
        None => "end of output".to_owned(),
    };
    let (one, other) = (quoted(one), quoted(other));
    format!("line {}: {one}, then {other}", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_different_line_is_shown() {
        let difference = first_difference("a", "a\nb");
        assert_eq!(difference, "line 2: end of output, then `b`");
        let difference = first_difference("a\nb\nd", "a\n  c\nd");
        assert_eq!(difference, "line 2: `b`, then `c`");
    }
}
