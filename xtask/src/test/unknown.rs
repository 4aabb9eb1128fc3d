//! What one age hands out and the other doesn't know: a value more of each enumeration, a flag more in each
//! word of flags. Neither crashes of it, and neither is silent about what it can't do.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::future::{self, Ages};
use super::native::{WARNINGS, needed};
use super::patch::{Patches, RENUMBERED};
use crate::project::{Project, library_name};
use crate::shell;

/// The headers that have enumerations.
const HEADERS: [&str; 3] = [
    "plugin-api/abi/include/passdock/record.h",
    "plugin-api/abi/include/passdock/view.h",
    "plugin-api/abi/include/passdock/host.h",
];
/// The plugin that hands today's host values of the future, and what both ages make of the other's.
const PLUGIN: &str = "tests/plugins/future/future.c";
const ANSWERS: &str = "tests/plugins/future/answers.txt";
/// What only hosts hand out, and which `MADE` has them hand out.
const OF_HOSTS: [&str; 1] = ["SETTING"];

/// The value that each enumeration of the future has more; a severity stands between two others.
const VALUE: &str = "200";
const SEVERITY: &str = "25";
/// The flags that nobody knows.
const FLAG: &str = "1 << 30";
const TRAIT: &str = "1 << 40";

/// The places in the host where it hands out what is of the future: for this name, or this text.
const MADE: [(&str, &str, &str); 4] = [
    (
        "host/loader/src/manifest/setting.rs",
        "        kind: SettingKind::STRING,\n",
        "        kind: if text == \"of the future\" { SettingKind(200) } else { SettingKind::STRING },\n",
    ),
    (
        "host/core/src/boundary/session/context.rs",
        "        let Some(kind) = session.frame.pass_kind(name) else {\n",
        "        if name == \"of.the.Future\" {\n\
         return input::answer_with(out, || Ok(PassKind(200)));\n}\n        \
         let Some(kind) = session.frame.pass_kind(name) else {\n",
    ),
    (
        "host/core/src/boundary/session/module_input.rs",
        "        kind: f.kind(),\n",
        "        kind: match f.text(f.name()) {\n\
         \"of.the.Future\" => passdock_abi::FunctionKind(200),\n_ => f.kind(),\n},\n",
    ),
    (
        "host/core/src/boundary/table/functions.rs",
        "            let name = input::text(name, \"name of a value\")?;\n",
        "            let name = input::text(name, \"name of a value\")?;\n\
         if name == \"of the future\" {\n\
         let (status, message) = (Status(200), String::new());\n\
         return Err(EditError { status, message });\n}\n",
    ),
];

/// The places in the host where it makes words of flags.
const FLAGS: [(&str, &str); 10] = [
    ("host/ir/src/edit/create.rs", "flags: 0,"),
    (
        "host/ir/src/edit/create.rs",
        "flags: kind | Value::TOUCHED,",
    ),
    ("host/ir/src/edit/region.rs", "flags: 0,"),
    ("host/ir/src/edit/region.rs", "flags: Port::TOUCHED,"),
    (
        "host/ir/src/text/parse/function.rs",
        "flags: Port::TOUCHED,",
    ),
    ("host/ir/src/edit/constant.rs", "flags: Constant::TOUCHED,"),
    ("host/ir/src/pool.rs", "flags: 0,"),
    ("host/ir/src/function/types.rs", "flags: 0,"),
    // What it makes, it knows.
    ("host/ir/src/verify/structure.rs", "!(FLAGS | Value::DEAD)"),
    (
        "plugin-api/abi/src/grow.rs",
        "(Type::UNRANKED | Type::MAY_ALIAS)",
    ),
];

/// Gives the future what today doesn't know.
pub(super) fn change(patches: &mut Patches, root: &Path) -> Result<()> {
    for header in HEADERS {
        let text = fs::read_to_string(root.join(header))?;
        for (line, prefix) in enumerations(&text) {
            let value = if prefix == "SEVERITY" {
                SEVERITY
            } else {
                VALUE
            };
            let appended = format!("{line}\n#define PASSDOCK_{prefix}_FUTURE {value}u");
            patches.change(header, format!("{line}\n"), format!("{appended}\n"));
        }
    }
    for (file, from, to) in MADE {
        patches.change(file, from, to);
    }
    for (file, word) in FLAGS {
        let end = word.len() - 1;
        let flagged = format!("{} | {FLAG}{}", &word[..end], &word[end..]);
        patches.change(file, word, flagged);
    }
    patches.change(
        "host/core/src/analyses/names.rs",
        "                    flags,\n",
        format!("                    flags: flags | {FLAG},\n"),
    );
    patches.change(
        "host/core/src/boundary/op/definitions.rs",
        "        traits.unwrap_or(0)\n",
        format!(
            "        traits.map_or(0, |traits| if traits == 0 {{ 0 }} else {{ traits | {TRAIT} }})\n"
        ),
    );
    covered(root)
}

/// Each enumeration of a header: the line that declares it, and the prefix of its values.
fn enumerations(header: &str) -> impl Iterator<Item = (&str, String)> {
    header.lines().filter_map(|line| {
        let name = line.strip_prefix("typedef uint32_t passdock_")?;
        let name = name.strip_suffix(';')?;
        if name.ends_with("_id") {
            return None;
        }
        let name = name.strip_suffix("_kind").unwrap_or(name);
        let name = name.strip_prefix("op_").unwrap_or(name);
        Some((line, name.to_uppercase()))
    })
}

/// Fails if an enumeration of the header has no value that one side meets without knowing it.
fn covered(root: &Path) -> Result<()> {
    let plugin = fs::read_to_string(root.join(PLUGIN))?;
    for header in HEADERS {
        let text = fs::read_to_string(root.join(header))?;
        for (line, prefix) in enumerations(&text) {
            let is_asked = plugin.contains(&format!("PASSDOCK_{prefix}_FUTURE"));
            let start = format!("{prefix}_");
            let is_renumbered = RENUMBERED.iter().any(|(_, c, ..)| c.starts_with(&start));
            if !is_asked && !is_renumbered && !OF_HOSTS.contains(&prefix.as_str()) {
                bail!(
                    "nobody meets PASSDOCK_{prefix}_FUTURE, of `{line}` in {header}: let {PLUGIN} hand \
                     it to the host, or the host of `MADE` to a plugin"
                );
            }
        }
    }
    Ok(())
}

/// Hands each side what it doesn't know, and compares what is said.
pub(super) fn test(ages: &Ages, project: &Project) -> Result<()> {
    let mut said = of_the_host(ages, project)?;
    said += &of_plugins(ages, project)?;
    let answers = project.root.join(ANSWERS);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&answers, said)?;
        return Ok(());
    }
    if fs::read_to_string(&answers)? != said {
        bail!(
            "{ANSWERS} says otherwise, and `UPDATE_EXPECT=1 cargo xtask test future` writes it:\n{said}"
        );
    }
    Ok(())
}

/// What today's host says to a plugin of the future.
fn of_the_host(ages: &Ages, project: &Project) -> Result<String> {
    let passdock = future::command(&ages.today, &ages.today, project)?;
    let place = passdock.with_file_name("unknown");
    fs::create_dir_all(&place)?;
    let library = place.join(library_name("future"));
    let mut compiler = needed("gcc")?;
    compiler
        .args(["-std=c11", "-shared", "-fPIC", "-I"])
        .arg(ages.future.include())
        .args(WARNINGS)
        // The future's structs have a field more, of which the header's initialisers don't know.
        .arg("-Wno-missing-field-initializers")
        .arg(project.root.join(PLUGIN))
        .arg("-o")
        .arg(&library);
    shell::run(&mut compiler)?;
    let model = place.join("model.ir");
    fs::write(
        &model,
        "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17, \"future\" = 1) {\n    \
         %y = future.Op(%x) {a = 1}\n    return %y\n  }\n}\n",
    )?;
    let mut said = "Today's host, asked by a plugin of the future:\n".to_owned();
    for pass in ["Asks", "Answers", "Loop"] {
        let mut run = Command::new(&passdock);
        run.arg("run").arg(&model).arg("--plugin").arg(&library);
        run.args(["--json", "--passes", &format!("future.transform.{pass}")]);
        said += &told(&mut run, &library)?;
    }
    let mut run = Command::new(&passdock);
    run.arg("run").arg(&model).arg("--plugin").arg(&library);
    run.args(["--json", "--passes", "relax.transform.InferType"]);
    said += &told(&mut run, &library)?;
    Ok(said)
}

/// What a plugin of today says to a host of the future.
fn of_plugins(ages: &Ages, project: &Project) -> Result<String> {
    let passdock = future::command(&ages.future, &ages.today, project)?;
    let place = passdock.with_file_name("unknown");
    fs::create_dir_all(&place)?;
    let pipeline = place.join("pipeline.toml");
    fs::write(
        &pipeline,
        "[[passes]]\nname = \"t.transform.Understands\"\noptions = { word = \"of the future\" }\n",
    )?;
    let model = place.join("model.ir");
    let function = |name: &str| {
        format!(
            "  fn @{name}(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{\n    \
             %y = onnx.Relu(%x)\n    return %y\n  }}\n"
        )
    };
    let functions = function("main") + &function("of.the.Future");
    fs::write(&model, format!("module {{\n{functions}}}\n"))?;
    let library = library_name("passdock_conformance_plugin");
    let library = ages.today.built().join(library);
    let mut run = Command::new(&passdock);
    run.arg("run").arg(&pipeline).arg(&model).arg("--json");
    run.arg("--plugin").arg(&library);
    Ok("\nA plugin of today, in a host of the future:\n".to_owned() + &told(&mut run, &library)?)
}

/// The diagnostics of a run, which may fail: of each its severity, its message and its notes. The plugin's
/// path is left out.
fn told(run: &mut Command, library: &Path) -> Result<String> {
    let output = run.output()?;
    let report: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("no report but {}: {said}", output.status)
    })?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told = String::new();
    for said in report["diagnostics"].as_array().into_iter().flatten() {
        let message = text(&said["message"]);
        // How to run it again, with names of files of this very run.
        if message.contains("reproducer") {
            continue;
        }
        told += &format!("{}: {message}\n", text(&said["severity"]));
        for note in said["notes"].as_array().into_iter().flatten() {
            told += &format!("  {}\n", text(note));
        }
    }
    Ok(told.replace(&library.display().to_string(), "FILE"))
}
