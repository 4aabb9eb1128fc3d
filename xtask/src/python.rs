//! The independent judge: onnx and onnxruntime, in a Python environment that
//! these commands make for themselves.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::{Profile, Project};
use crate::shell;
use crate::steps::Skip;

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

/// The example model through passdock and back, judged by onnx and onnxruntime.
pub(crate) fn test_example(project: &Project) -> Result<()> {
    end_to_end(project, &[])
}

/// The same with the real models that `PASSDOCK_MODELS` points to.
pub(crate) fn test_real_models(project: &Project) -> Result<()> {
    match std::env::var_os("PASSDOCK_MODELS") {
        Some(models) => end_to_end(project, &["--models".into(), models]),
        None => bail!(Skip("PASSDOCK_MODELS names no directory of models".into())),
    }
}

/// The instrument `numerics`, with models made for it and those that `PASSDOCK_MODELS` points to.
pub(crate) fn test_numerics(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/numerics.py", "--passdock"])
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("numerics"));
    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        python.arg("--models").arg(models);
    }
    shell::run(python.current_dir(&project.root))
}

/// Random models through random orders of the standard passes; `PASSDOCK_PROPERTIES` says how many.
pub(crate) fn test_properties(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/properties.py", "--passdock"])
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("properties"))
        .args(["--spoiler", "bad.transform.ChangeResults"]);
    shell::run(python.current_dir(&project.root))
}

/// ONNX's own test cases, the models in its wheel, models made by hand, and those that
/// `PASSDOCK_MODELS` points to: what goes through passdock comes out whole, and folded right.
pub(crate) fn test_corpus(project: &Project) -> Result<()> {
    let tool = format!("passdock-corpus{EXE_SUFFIX}");
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/corpus.py", "--corpus"])
        .arg(project.built(Profile::Dev).join(tool))
        .arg("--work-dir")
        .arg(project.target.join("corpus"));
    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        python.arg("--models").arg(models);
    }
    shell::run(python.current_dir(&project.root))
}

/// What InferType knows of models' values, beside what onnx's own inference knows.
pub(crate) fn test_comparison(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/comparison.py", "--passdock"])
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("comparison"));
    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        python.arg("--models").arg(models);
    }
    shell::run(python.current_dir(&project.root))
}

/// The op definitions by the same cases, each with what is known and what isn't varied; and whether
/// the list that their tables are compared with is this onnx's.
pub(crate) fn test_op_definitions(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python.args(["-B", "plugins/onnx-ops/tests/operators.py", "--check"]);
    shell::run(python.current_dir(&project.root))?;
    let cases = project.target.join("node-cases");
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "plugins/onnx-ops/tests/node_cases.py"])
        .arg(&cases);
    shell::run(python.current_dir(&project.root))?;
    let mut cargo = project.cargo();
    cargo.args([
        "test",
        "--package",
        "passdock-plugins-onnx-ops",
        "--test",
        "node_cases",
    ]);
    shell::run(cargo.env("PASSDOCK_NODE_CASES", cases))
}

/// The types of what the same cases give, inferred by us and by ONNX: ours are never false, and per
/// operator no fewer are exact.
pub(crate) fn test_node_types(project: &Project) -> Result<()> {
    let cases = project.target.join("node-types");
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/node_types.py"])
        .arg(&cases);
    shell::run(python.current_dir(&project.root))?;
    let mut cargo = project.cargo();
    cargo.args([
        "test",
        "--package",
        "passdock-tests",
        "--test",
        "node_types",
    ]);
    cargo.args(["--", "--nocapture"]);
    shell::run(cargo.env("PASSDOCK_NODE_CASES", cases))
}

/// Random ops on random constants: what is folded is what ONNX Runtime computes.
pub(crate) fn test_random_folding(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/random_folding.py", "--cases", "11000"])
        .arg("--passdock")
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("random-folding"));
    if let Some(seed) = std::env::var_os("PASSDOCK_SEED") {
        python.arg("--seed").arg(seed);
    }
    shell::run(python.current_dir(&project.root))
}

/// Random shape computations: what DynamicToStatic makes of them gives what it gave, for every size.
pub(crate) fn test_static_shapes(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/static_shapes.py", "--cases", "200"])
        .arg("--passdock")
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("static-shapes"));
    if let Some(seed) = std::env::var_os("PASSDOCK_SEED") {
        python.arg("--seed").arg(seed);
    }
    shell::run(python.current_dir(&project.root))
}

/// Small models simplified and folded: the results are those of ONNX Runtime.
pub(crate) fn test_simplified(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/simplified.py", "--passdock"])
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("simplified"));
    shell::run(python.current_dir(&project.root))
}

/// ONNX's test cases, their operators replaced by what they are made of, and their graphs lifted to
/// functions and inlined again.
pub(crate) fn test_decomposing(project: &Project) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/decomposing.py", "--passdock"])
        .arg(project.passdock(Profile::Dev))
        .arg("--work-dir")
        .arg(project.target.join("decomposing"));
    shell::run(python.current_dir(&project.root))
}

fn end_to_end(project: &Project, arguments: &[OsString]) -> Result<()> {
    let mut python = Command::new(environment(project)?);
    python
        .args(["-B", "tests/python/end_to_end.py", "--passdock"])
        .arg(project.passdock(Profile::Dev));
    python
        .arg("--renamer")
        .arg(project.built(Profile::Dev).join("examples/rename_node"));
    // Where the vendor's tests left their plugin.
    python
        .arg("--plugin-dir")
        .arg(project.target.join("vendor/debug"));
    python
        .arg("--work-dir")
        .arg(project.target.join("end-to-end"))
        .args(arguments);
    shell::run(python.current_dir(&project.root))
}

/// The environment's interpreter; makes the environment if it's missing or outdated.
pub(crate) fn environment(project: &Project) -> Result<PathBuf> {
    let place = project.target.join("python");
    let python = place.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let wanted = fs::read_to_string(project.root.join("tests/python/requirements.txt"))?;
    // Written last, so an environment that broke half way is made again.
    let stamp = place.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    if !shell::exists("python3") {
        bail!(Skip("no python3".into()));
    }
    let made = shell::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&place)
            .current_dir(&project.root),
    )
    .and_then(|()| {
        let mut pip = Command::new(&python);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ]);
        shell::run(
            pip.arg("tests/python/requirements.txt")
                .current_dir(&project.root),
        )
    });
    if let Err(error) = made {
        bail!(Skip(format!(
            "no Python environment with onnx and onnxruntime: {error:#}"
        )));
    }
    fs::write(stamp, wanted)?;
    Ok(python)
}
