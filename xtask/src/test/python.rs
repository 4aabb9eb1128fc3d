//! The independent judge: onnx and onnxruntime, in a Python environment that
//! these commands make for themselves.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::environment;
use crate::project::{Profile, Project};
use crate::shell;
use crate::test::steps::Skip;

/// The judge judged: does it see what it must see?
pub(crate) fn test_oracle(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python.args([
        "-B",
        "-m",
        "unittest",
        "discover",
        "--start-directory",
        "tests/python",
    ]);
    shell::run(python.current_dir(&project.root))
}

/// A script of `tests/python` that judges what passdock makes of models.
pub(crate) struct Judge {
    /// The name of the step.
    pub(crate) title: &'static str,
    script: &'static str,
    arguments: &'static [Argument],
}

/// What a judge is told, beside where it may write.
enum Argument {
    Words(&'static [&'static str]),
    /// The command.
    Passdock,
    /// What takes thousands of models in and out.
    Corpus,
    /// What says which patterns rules have, and rewrites models by them.
    Rules,
    /// The program that renames a node.
    Renamer,
    /// Where the vendor's tests left their plugin.
    VendorPlugins,
    /// The directory of models that `PASSDOCK_MODELS` names, if it does.
    Models,
    /// The same; without one there is nothing to judge.
    NothingButModels,
    /// The number that `PASSDOCK_SEED` gives, if it does: other random cases.
    Seed,
}

use Argument::{
    Corpus, Models, NothingButModels, Passdock, Renamer, Rules, Seed, VendorPlugins, Words,
};

const RANDOM_RULES: &str = "random_rules";
const RANDOM_LAYOUTS: &str = "random_layouts";

const LARGE_MODEL: &str = "large_model";

const RANDOM_MODELS: &str = "properties";

/// The passes that random models go through to be fused.
pub(crate) const FUSING: &str = "FuseOps";

/// The passes that random models go through to be partitioned.
pub(crate) const PARTITIONING: &str = "FuseOpsByPattern,AnnotateTarget,MergeRegions,PartitionGraph";

/// All of them, in the order of their steps.
pub(crate) const JUDGES: &[Judge] = &[
    // From each version of an operator to later ones. It takes longest, and they run side by side.
    Judge {
        title: "opsets raised, by ONNX Runtime",
        script: "raised",
        arguments: &[Passdock, Models],
    },
    Judge {
        title: "the example model, end to end",
        script: "end_to_end",
        arguments: &[Passdock, Renamer, VendorPlugins],
    },
    Judge {
        title: "real models, end to end",
        script: "end_to_end",
        arguments: &[Passdock, Renamer, VendorPlugins, NothingButModels],
    },
    // The instrument `numerics`.
    Judge {
        title: "results before and after each pass",
        script: "numerics",
        arguments: &[Passdock, Models],
    },
    // `compare`, `run --verify-outputs` and `--check numerics`.
    Judge {
        title: "models compared, and what breaks them found",
        script: "judging",
        arguments: &[Passdock, Models],
    },
    // `PASSDOCK_PROPERTIES` says how many.
    Judge {
        title: "random models, passes in any order",
        script: RANDOM_MODELS,
        arguments: &[
            Passdock,
            Words(&["--spoiler", "bad.transform.ChangeResults"]),
        ],
    },
    Judge {
        title: "real models, each pass alone and in any order",
        script: RANDOM_MODELS,
        arguments: &[Passdock, NothingButModels, Words(&["--count", "40"])],
    },
    Judge {
        title: "ops in groups, and given back",
        script: "groups",
        arguments: &[Passdock, VendorPlugins, Models],
    },
    // `deep fusion` makes more of them.
    Judge {
        title: "random models, fused",
        script: RANDOM_MODELS,
        arguments: &[Passdock, Words(&["--count", "500", "--passes", FUSING])],
    },
    Judge {
        title: "random models, partitioned",
        script: RANDOM_MODELS,
        arguments: &[
            Passdock,
            Words(&["--count", "500", "--passes", PARTITIONING]),
        ],
    },
    // ONNX's own test cases, the models in its wheel, models made by hand: what goes through passdock comes
    // out whole, and folded right.
    Judge {
        title: "models of every kind, in and out",
        script: "corpus",
        arguments: &[Corpus, Models],
    },
    Judge {
        title: "random ops folded, by ONNX Runtime",
        script: "random_folding",
        arguments: &[Words(&["--cases", "11000"]), Passdock, Seed],
    },
    // `deep rules` makes more of them.
    Judge {
        title: "random models of the rules' patterns, by ONNX Runtime",
        script: RANDOM_RULES,
        arguments: &[Words(&["--count", "3000", "--least", "5"]), Rules, Seed],
    },
    // `deep layouts` makes more of them.
    Judge {
        title: "random graphs in other layouts, by ONNX Runtime",
        script: RANDOM_LAYOUTS,
        arguments: &[Words(&["--count", "500"]), Passdock, Models, Seed],
    },
    // What InferType knows of models' values, beside what onnx's own inference knows.
    Judge {
        title: "types beside those of onnx's inference",
        script: "inference",
        arguments: &[Passdock, Models],
    },
    // Random shape computations: what DynamicToStatic makes of them gives what it gave, for every size.
    Judge {
        title: "computed shapes made constant, by ONNX Runtime",
        script: "static_shapes",
        arguments: &[Words(&["--cases", "200"]), Passdock, Seed],
    },
    // `deep large` does it with 4 GiB of weights.
    Judge {
        title: "memory for large weights",
        script: LARGE_MODEL,
        arguments: &[Passdock],
    },
    Judge {
        title: "small models simplified, by ONNX Runtime",
        script: "simplified",
        arguments: &[Passdock],
    },
    Judge {
        title: "operators for what is spelled out, by ONNX Runtime",
        script: "fusing",
        arguments: &[Passdock],
    },
    // Transformer blocks and QDQ models: what ONNX Runtime runs by one kernel, it still does.
    Judge {
        title: "fused and quantized kernels, by ONNX Runtime",
        script: "fusions",
        arguments: &[Passdock, Models],
    },
    // ONNX's test cases, their operators replaced by what they are made of, and their graphs lifted to
    // functions and inlined again.
    Judge {
        title: "ops decomposed, regions lifted, by ONNX Runtime",
        script: "decomposing",
        arguments: &[Passdock],
    },
    // What a function and an operator of one name are is the runtime's to say.
    Judge {
        title: "functions named like operators, by ONNX Runtime",
        script: "own_functions",
        arguments: &[Passdock],
    },
    // Random models, ONNX's test cases and real models in float16 and bfloat16.
    Judge {
        title: "models in a smaller type, by ONNX Runtime and onnx",
        script: "mixed_precision",
        arguments: &[Words(&["--cases", "300"]), Passdock, Models, Seed],
    },
    Judge {
        title: "approximations over all of float32, by ONNX Runtime",
        script: "fast_math",
        arguments: &[Passdock, Models],
    },
];

impl Judge {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let models = std::env::var_os("PASSDOCK_MODELS");
        let built = project.built(Profile::Dev);
        let mut python = Command::new(environment(project)?);
        python
            .arg("-B")
            .arg(format!("tests/python/{}.py", self.script));
        for argument in self.arguments {
            let (option, value) = match argument {
                Words(words) => {
                    python.args(*words);
                    continue;
                }
                Passdock => ("--passdock", Some(project.passdock(Profile::Dev).into())),
                Corpus => {
                    let tool = built.join(format!("passdock-corpus{EXE_SUFFIX}"));
                    ("--corpus", Some(tool.into()))
                }
                Rules => {
                    let tool = built.join(format!("passdock-rules{EXE_SUFFIX}"));
                    ("--tool", Some(tool.into()))
                }
                Renamer => ("--renamer", Some(built.join("examples/rename_node").into())),
                VendorPlugins => {
                    let plugins = project.target.join("vendor/debug");
                    ("--plugin-dir", Some(plugins.into()))
                }
                NothingButModels if models.is_none() => {
                    bail!(Skip("PASSDOCK_MODELS names no directory of models".into()))
                }
                Models | NothingButModels => ("--models", models.clone()),
                Seed => ("--seed", std::env::var_os("PASSDOCK_SEED")),
            };
            if let Some(value) = value {
                python.arg(option).arg(value);
            }
        }
        // Judges run side by side, two of them by one script.
        let work = self
            .title
            .replace(|letter: char| !letter.is_alphanumeric(), "-");
        python
            .arg("--work-dir")
            .arg(project.target.join("judges").join(work));
        shell::run(python.current_dir(&project.root))
    }
}

/// The same as the step about rules' patterns, with what is said of how many and from which on; builds what it takes.
pub(crate) fn random_rules(project: &Project, words: &[&str]) -> Result<()> {
    let mut cargo = project.cargo();
    shell::run(cargo.args(["build", "--workspace", "--bin", "passdock-rules"]))?;
    let tool = project.built(Profile::Dev);
    let mut python = Command::new(environment(project)?);
    python
        .arg("-B")
        .arg(format!("tests/python/{RANDOM_RULES}.py"))
        .arg("--tool")
        .arg(tool.join(format!("passdock-rules{EXE_SUFFIX}")))
        .arg("--work-dir")
        .arg(project.target.join("deep-rules"))
        .args(words);
    shell::run(python.current_dir(&project.root))
}

/// The same as the step about random models, with what is said of how many and of the passes; builds what it takes.
pub(crate) fn random_models(project: &Project, words: &[&str]) -> Result<()> {
    by_script(project, Profile::Dev, RANDOM_MODELS, "deep-models", words)
}

/// The same as the step about graphs in other layouts, with what is said of how many and from which on; builds what it takes.
pub(crate) fn random_layouts(project: &Project, words: &[&str]) -> Result<()> {
    by_script(project, Profile::Dev, RANDOM_LAYOUTS, "deep-layouts", words)
}

/// Runs the step about large weights with 4 GiB of them and an optimised build, which takes at most 1.5 times the CPU of ONNX
/// Runtime's basic optimisation.
pub(crate) fn large_model(project: &Project) -> Result<()> {
    let words = ["--layers", "30", "--width", "2048", "--ratio", "1.5"];
    by_script(project, Profile::Release, LARGE_MODEL, "deep-large", &words)
}

fn by_script(
    project: &Project,
    profile: Profile,
    script: &str,
    work: &str,
    words: &[&str],
) -> Result<()> {
    shell::run(project.cargo().arg("build").args(profile.flags()))?;
    let mut python = Command::new(environment(project)?);
    python
        .arg("-B")
        .arg(format!("tests/python/{script}.py"))
        .arg("--passdock")
        .arg(project.passdock(profile))
        .arg("--work-dir")
        .arg(project.target.join(work))
        .args(words);
    shell::run(python.current_dir(&project.root))
}

/// The op definitions by ONNX's test cases, each with what is known and what isn't varied; and whether
/// the list that their tables are compared with is this onnx's, and so those that opsets are raised by, and types made smaller.
pub(crate) fn test_op_definitions(project: &Project) -> Result<()> {
    for script in [
        "plugins/onnx-ops/tests/operators.py",
        "tests/python/operand_types.py",
        "plugins/relax/tests/opset_versions.py",
        "plugins/relax/precision/tests/operator_types.py",
    ] {
        let mut python = Command::new(environment(project)?);
        python.args(["-B", script, "--check"]);
        shell::run(python.current_dir(&project.root))?;
    }
    with_cases(
        project,
        "plugins/onnx-ops/tests/node_cases.py",
        "node-cases",
        &["node_cases"],
    )
}

/// The types of what the same cases give, inferred by us and by ONNX: ours are never false, and per
/// operator no fewer are exact.
pub(crate) fn test_node_types(project: &Project) -> Result<()> {
    with_cases(
        project,
        "tests/python/node_types.py",
        "node-types",
        &["node_types", "--", "--nocapture"],
    )
}

/// Lets a script write cases to a directory, and a test of the workspace read them. One package's
/// alone would be built with other features of what it depends on, and all of that again.
fn with_cases(project: &Project, script: &str, directory: &str, test: &[&str]) -> Result<()> {
    let cases = project.target.join(directory);
    let mut python = Command::new(environment(project)?);
    python.args(["-B", script]).arg(&cases);
    shell::run(python.current_dir(&project.root))?;
    let mut cargo = project.cargo();
    cargo.args(["test", "--workspace", "--test"]).args(test);
    shell::run(cargo.env("PASSDOCK_NODE_CASES", cases))
}

/// The environment's interpreter; makes the environment if it's missing or outdated. Without Python the step is
/// skipped; a download or an installation that fails is its failure.
pub(crate) fn environment(project: &Project) -> Result<PathBuf> {
    needs_python()?;
    environment::made(project, "python", "tests/python/requirements.txt")
}

/// Fails as a step that can't be done here if there is no Python that makes environments.
pub(crate) fn needs_python() -> Result<()> {
    match makes_environments(Path::new("python3")) {
        true => Ok(()),
        false => bail!(Skip(
            "no python3 with venv (Debian: python3 and python3-venv)".into()
        )),
    }
}

/// Whether a Python starts and can make environments: a shim of pyenv may stand for a version that isn't chosen, and
/// Debian has `venv` in a package of its own.
pub(crate) fn makes_environments(python: &Path) -> bool {
    let tried = shell::output(Command::new(python).args(["-c", "import ensurepip, venv"]));
    tried.is_ok_and(|output| output.status.success())
}
