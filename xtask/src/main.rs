//! The project's own commands, typed as `cargo xtask …`.
//!
//! - `demo`: builds everything and lets a plugin loose on a real model;
//! - `test`: everything that is checked, each step named, skips explained;
//! - `compare`: other tools and passdock, side by side over models;
//! - `guides`: what the guides tell a reader to type;
//! - `dist`, `install`: the command with its plugins as one archive, or where programs are;
//! - `wheel`, `python`, `licences`: the Python package as one file, or linked into the checkout, and what is linked into it;
//! - `tidy`: the rules of the house that no compiler knows;
//! - `deep fuzz`, `deep flips`, `deep fusion`, `deep rules`, `deep layouts`, `deep large`, `deep miri`, `deep valgrind`,
//!   `deep page`, `deep mutants`, `deep wheel`: what takes longer than anyone waits for.
//!
//! Nothing here but `install` writes outside cargo's target directory.
#![allow(
    clippy::print_stdout,
    reason = "talking to the person who typed the command is its job"
)]

mod compare;
mod deep;
mod demo;
mod dist;
mod environment;
mod project;
mod shell;
mod test;
mod tidy;
mod wheel;

use std::path::Path;
use std::process::ExitCode;

use project::{Profile, Project};

const USAGE: &str = "\
cargo xtask demo              build passdock and a plugin, run them on the example model
cargo xtask demo --release    the same, optimised; takes longer to build
cargo xtask test              run every check; says what it skipped, or is not here, and why
cargo xtask test --all        the same, and a skip is a failure
cargo xtask test WORD         only the steps whose name contains the word
cargo xtask guides [WORD]     only what the guides say, of those whose name contains the word; UPDATE_EXPECT=1 corrects them
cargo xtask compare [MODEL|DIR…]  what other tools make of models, beside passdock; with --update writes docs/comparison.md, with --latency only how fast its results are
cargo xtask install           passdock and its standard plugins where cargo installs programs; --root DIR
cargo xtask dist              one archive of them, in target/distrib, unpacked and tried
cargo xtask python            the Python package for development: PYTHONPATH=python uses it from the checkout
cargo xtask wheel             the Python package's wheel for this machine, in target/wheels, tried; --profile dev: not optimised
cargo xtask wheel --zig       the same for every Linux with glibc 2.28 or newer
cargo xtask licences FILE     the licences of what is linked into the Python package, which `pip wheel .` puts in, too
cargo xtask tidy              only the rules of the house
cargo xtask deep fuzz         fuzzing, a minute a target; --seconds N, --target NAME
cargo xtask deep flips        plugins' files with a flipped bit each, 10,000; --count N
cargo xtask deep fusion       random models, fused and partitioned, 5,000 each; --count N, --first SEED
cargo xtask deep rules        random models of the rules' patterns, 10,000; --seed N, --count N, --only N
cargo xtask deep layouts      random graphs in other layouts, 5,000; --seed N, --count N, --steps N
cargo xtask deep large        decoders with 4 GiB of weights: CPU beside ONNX Runtime's, and memory
cargo xtask deep miri         the SDK, the IR and the boundary in Miri, which sees what isn't sound
cargo xtask deep valgrind     hosts and plugins of the future on the example model, under valgrind
cargo xtask deep page [MODEL]  the page of a run in Chromium: opened, clicked, searched, by keyboard alone; screenshots
cargo xtask deep mutants      mistakes in the pass infrastructure that no test notices
cargo xtask deep advisories   cargo deny with RustSec's advisories, which are fetched
cargo xtask deep wheel        the wheel of `wheel --zig`, tested on each Python that is here";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = Project::find().and_then(|project| match arguments[..] {
        ["demo"] => demo::demo(&project, Profile::Dev).map(|()| true),
        ["demo", "--release"] => demo::demo(&project, Profile::Release).map(|()| true),
        ["test"] => Ok(test::test(&project, false, "")),
        ["test", "--all"] => Ok(test::test(&project, true, "")),
        ["test", word] if !word.starts_with('-') => Ok(test::test(&project, false, word)),
        ["deep", "fuzz", ref rest @ ..] => deep::fuzz(&project, rest).map(|()| true),
        ["deep", "flips", ref rest @ ..] => deep::flips(&project, rest).map(|()| true),
        ["deep", "fusion", ref rest @ ..] => deep::fusion(&project, rest).map(|()| true),
        ["deep", "rules", ref rest @ ..] => deep::rules(&project, rest).map(|()| true),
        ["deep", "layouts", ref rest @ ..] => deep::layouts(&project, rest).map(|()| true),
        ["deep", "large"] => test::python::large_model(&project).map(|()| true),
        ["deep", "miri"] => deep::miri(&project).map(|()| true),
        ["deep", "valgrind"] => test::future::valgrind(&project, true).map(|()| true),
        ["deep", "page"] => test::web::browse(&project, None).map(|()| true),
        ["deep", "page", model] => test::web::browse(&project, Some(model)).map(|()| true),
        ["deep", "wheel"] => deep::wheel(&project).map(|()| true),
        ["deep", "advisories"] => test::deny::check_advisories(&project).map(|()| true),
        ["deep", "mutants"] => deep::mutants(&project).map(|()| true),
        ["compare", ref rest @ ..] => compare::compare(&project, rest).map(|()| true),
        ["wheel", ref rest @ ..] => wheel::wheel(&project, rest).map(|_| true),
        ["licences", file] => wheel::write_licences(&project, Path::new(file)).map(|()| true),
        ["python"] => wheel::develop(&project).map(|()| true),
        ["dist"] => dist::dist(&project).map(|()| true),
        ["install", ref rest @ ..] => dist::prefix(rest)
            .and_then(|prefix| dist::install(&project, prefix))
            .map(|()| true),
        ["guides"] => test::guides::guides(&project, "").map(|()| true),
        ["guides", word] => test::guides::guides(&project, word).map(|()| true),
        ["tidy"] => tidy::tidy(&project).map(|()| true),
        _ => {
            println!("{USAGE}");
            Ok(matches!(arguments[..], [] | ["help" | "--help" | "-h"]))
        }
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
