//! `cargo xtask test`: every check there is, from formatting to real models.

mod cpp;
pub(crate) mod deny;
mod embed;
pub(crate) mod future;
pub(crate) mod guides;
mod native;
mod new_plugin;
mod old_rust;
mod patch;
pub(crate) mod python;
mod sdk;
mod share;
mod steps;
mod system_calls;
mod unknown;
pub(crate) mod web;
pub(crate) mod wheel;
mod windows;
mod wine;

use anyhow::{Result, bail};

use crate::project::{Profile, Project};
use crate::{demo, dist, shell, tidy};

use steps::Steps;

/// True if all passed; with `all`, a skipped step counts as failed. `word` chooses steps by name.
pub(crate) fn test(project: &Project, all: bool, word: &str) -> bool {
    let before = untracked(project);
    let mut steps = Steps::only(word);
    let cargo = |arguments: &[&str]| shell::run(project.cargo().args(arguments));

    steps.step("formatting", || cargo(&["fmt", "--all", "--check"]));
    steps.step("the rules of the house", || tidy::tidy(project));
    steps.step("crates that come in, by cargo deny", || {
        deny::check(project)
    });
    steps.step("lints", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
    });
    steps.step("host and standard plugins", || {
        cargo(&["build", "--workspace", "--all-targets"])?;
        // By themselves, the default members have fewer features of what they depend on.
        cargo(&["check"])
    });
    steps.step("tests of the workspace", || {
        let mut cargo = project.cargo();
        cargo.args(["test", "--workspace", "--no-fail-fast"]);
        // What tests build is built.
        shell::run(cargo.env("PASSDOCK_TEST_BUILD", "--workspace --all-targets"))
    });
    steps.step("system calls that fail, or are the last", || {
        system_calls::test(project)
    });
    steps.step("benchmarks, once and quickly", || {
        cargo(&["test", "--workspace", "--bench", "*"])
    });
    steps.step("the workspace for Windows, checked", || {
        windows::check(project)
    });
    steps.step("the command and plugins for Windows, run by wine", || {
        wine::test(project)
    });
    steps.step("a vendor's plugin, today's compiler", || {
        sdk::test_vendor(project)
    });
    steps.step(
        "what the SDK's types refuse, by the compiler's codes",
        || sdk::test_refusals(project),
    );
    steps.step("the SDK and a vendor's plugin, rustc 1.63, offline", || {
        sdk::test_with_old_rust(project)
    });
    steps.step("plugins that share data", || share::test(project));
    steps.step("plugins that share data, of two compilers", || {
        share::test_two_compilers(project)
    });
    steps.step("a host of one's own", || embed::test_embed_host(project));
    steps.step("hosts and plugins of the future", || future::test(project));
    steps.step("the header as C11 and C++17", || {
        native::test_header(project, &native::COMPILERS)
    });
    steps.step("a plugin in C", || {
        native::test_c_pass(project, &native::COMPILERS)
    });
    steps.step("rules in C", || {
        native::test_c_rules(project, &native::COMPILERS)
    });
    steps.step("an operator in C", || {
        native::test_c_op(project, &native::COMPILERS)
    });
    steps.step("what a plugin in C says", || {
        native::test_c_diagnostics(project)
    });
    steps.step("a plugin in C++", || {
        cpp::test_example(project, cpp::COMPILER)
    });
    steps.step("what a plugin in C++ throws", || {
        cpp::test_exceptions(project, cpp::COMPILER)
    });
    steps.step("headers and plugins in C and C++, by clang", || {
        native::test_clang(project)
    });
    steps.side_by_side(on_one_processor(project));
    steps.step("op definitions by ONNX's test cases", || {
        python::test_op_definitions(project)
    });
    steps.step(
        "types of ONNX's test cases, beside ONNX's inference",
        || python::test_node_types(project),
    );
    steps.step(
        "the page of a run: types, tests, the committed file",
        || web::test(project),
    );
    steps.step("the archive, elsewhere", || dist::test(project));
    steps.step("the demo", || demo::show(project, Profile::Dev));
    steps.step("nothing left behind", || match untracked(project) {
        Ok(after) if before.as_ref().is_ok_and(|before| *before == after) => Ok(()),
        Ok(after) => bail!("the checkout has changed: {after}"),
        Err(error) => Err(error),
    });
    steps.summary(all)
}

/// What to do, and its name.
type Named<'p> = (&'static str, Box<dyn FnOnce() -> Result<()> + Send + 'p>);

/// The steps that take one processor each, most of their time: the judges, which take longest, come first.
fn on_one_processor(project: &Project) -> Vec<Named<'_>> {
    let judges = python::JUDGES.iter();
    let mut steps: Vec<Named<'_>> = judges
        .map(|judge| -> Named<'_> { (judge.title, Box::new(|| judge.run(project))) })
        .collect();
    let others: [Named<'_>; 9] = [
        (
            "the Python package's tests, Python 3.11",
            Box::new(|| wheel::test_on_oldest(project)),
        ),
        (
            "the Python package's tests, the newest Python",
            Box::new(|| wheel::test_on_newest(project)),
        ),
        (
            "the Python package's types, by mypy and pyright",
            Box::new(|| wheel::test_types(project)),
        ),
        (
            "hosts and plugins of the future under valgrind",
            Box::new(|| future::valgrind(project, false)),
        ),
        (
            "a plugin that was just started, in each language",
            Box::new(|| new_plugin::test(project)),
        ),
        (
            "plugins in C++ under the sanitizers",
            Box::new(|| cpp::test_sanitized(project)),
        ),
        (
            "the guides, as they say",
            Box::new(|| guides::guides(project, "")),
        ),
        (
            "the oracle itself",
            Box::new(|| python::test_oracle(project)),
        ),
        (
            "the header for C++",
            Box::new(|| cpp::test_header(project, cpp::COMPILER)),
        ),
    ];
    steps.extend(others);
    steps
}

/// What git sees beside the last commit.
fn untracked(project: &Project) -> Result<String> {
    shell::read(
        std::process::Command::new("git")
            .args(["status", "--porcelain"])
            .current_dir(&project.root),
    )
}
