//! The page of a run: its TypeScript, and the file that it is built into.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::{Profile, Project};
use crate::shell;
use crate::test::steps::NotHere;

/// The oldest node that has all that the tests need.
const OLDEST_NODE: u32 = 20;

/// The sources of the page.
fn folder(project: &Project) -> PathBuf {
    project.root.join("host/page/web")
}

fn npm(project: &Project, words: &[&str]) -> Result<()> {
    shell::run(Command::new("npm").args(words).current_dir(folder(project)))
}

/// What the page is made with, as the lock file says.
fn install(project: &Project) -> Result<()> {
    for program in ["node", "npm"] {
        if !shell::exists(program) {
            bail!(NotHere(format!("no {program}")));
        }
    }
    let version = shell::read(Command::new("node").arg("--version"))?;
    let major = version.trim().trim_start_matches('v').split('.').next();
    if major.and_then(|major| major.parse().ok()).unwrap_or(0) < OLDEST_NODE {
        bail!(NotHere(format!(
            "node {} is older than {OLDEST_NODE}",
            version.trim()
        )));
    }
    let (lock, installed) = ("package-lock.json", "node_modules/.package-lock.json");
    let changed = |file: &str| {
        let about = folder(project).join(file).metadata();
        about.ok()?.modified().ok()
    };
    if changed(installed) >= changed(lock) && changed(installed).is_some() {
        return Ok(());
    }
    npm(project, &["ci", "--no-audit", "--no-fund"])
}

/// Types, tests, and whether the committed page is what the sources make.
pub(crate) fn test(project: &Project) -> Result<()> {
    install(project)?;
    npm(project, &["run", "check"])?;
    npm(project, &["test"])?;
    npm(project, &["run", "build", "--", "--check"])
}

/// Opens the page of a model of 3,000 ops in Chromium, clicks, searches and types; of another one, too, if its file is
/// named.
pub(crate) fn browse(project: &Project, model: Option<&str>) -> Result<()> {
    test(project)?;
    if !shell::exists("chromium") && std::env::var_os("CHROMIUM").is_none() {
        bail!("no chromium: install Debian's package, or say by CHROMIUM where another one is");
    }
    shell::run(project.cargo().args(["build"]))?;
    let shots = project.target.join("page");
    std::fs::create_dir_all(&shots)?;
    let own = shots.join("model.ir");
    std::fs::write(&own, model_text())?;
    browse_one(project, &own, &shots)?;
    match model {
        Some(model) => browse_one(project, Path::new(model), &shots),
        None => Ok(()),
    }
}

fn browse_one(project: &Project, model: &Path, shots: &Path) -> Result<()> {
    let page = shots.join("page.html");
    let mut run = Command::new(project.passdock(Profile::Dev));
    run.arg("run").arg(model).arg("--report").arg(&page);
    shell::run(run.current_dir(&project.root))?;
    let mut drive = Command::new("node");
    drive.arg("browser/drive.mjs").arg(&page).arg(shots);
    shell::run(drive.current_dir(folder(project)))?;
    println!("screenshots: {}", project.shown(shots));
    Ok(())
}

/// 3,000 ops: most in scopes as an exporter makes them, 300 in one alone. Passes remove, make and change some.
fn model_text() -> String {
    let mut text = "module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n\
        %zero = const f32[] 0.0\n"
        .to_owned();
    let mut last = "%x".to_owned();
    for at in 0..3000 {
        let value = format!("%v{at}");
        let far = match at % 300 {
            0..4 => last.clone(),
            _ => format!("%v{}", at - 3),
        };
        let call = match at % 5 {
            0 => format!("onnx.Relu({last})"),
            1 => format!("onnx.Add({last}, %zero)"),
            2 => format!("onnx.Neg({last})"),
            3 => format!("onnx.Mul({last}, {far})"),
            _ => format!("onnx.Abs({last})"),
        };
        let scope = match at {
            0..300 => "/wide".to_owned(),
            _ => format!(
                "/stage{}/block{}/{}",
                at / 500,
                at / 50 % 10,
                ["attn", "mlp"][at % 2]
            ),
        };
        text += &format!("{value} = {call} loc(\"{scope}/Op_{at}\")\n");
        last = value;
    }
    text + &format!("return {last} }} }}\n")
}
