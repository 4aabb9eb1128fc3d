//! The command and plugins built for Windows, run by wine: what of them depends on the system.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::project::{Profile, Project};
use crate::shell;
use crate::test::steps::NotHere;
use crate::test::windows::{TARGET, needs_target};

const GCC: &str = "x86_64-w64-mingw32-gcc";
/// Debian keeps it beside the path unless it also has the one for 32 bits.
const WINES: [&str; 3] = ["wine64", "/usr/lib/wine/wine64", "wine"];
const MODEL: &str = "examples/models/digits.onnx";

/// A library of Windows that older versions of wine are without, and Rust's standard library needs. It
/// lies beside the executable, as libraries of a runtime do, and is no plugin.
const RUNTIME: &str = "bcryptprimitives";
const RUNTIME_SOURCE: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{ return SystemFunction036(bytes, (ULONG)count); }
";

/// Builds the command, the standard plugins, one in Rust and one in C, and runs them.
pub(crate) fn test(project: &Project) -> Result<()> {
    needs_target(project)?;
    if !shell::exists(GCC) {
        bail!(NotHere(format!(
            "no {GCC}, which links for Windows (Debian: gcc-mingw-w64-x86-64)"
        )));
    }
    let Some(wine) = WINES.into_iter().find(|wine| shell::exists(wine)) else {
        bail!(NotHere("no wine (Debian: wine64)".to_owned()));
    };
    let place = Place::build(project, wine)?;
    for (what, test) in TESTS {
        println!("{what}");
        test(&place).with_context(|| format!("under wine: {what}"))?;
    }
    Ok(())
}

/// The command and the standard plugins.
const PACKAGES: [&str; 4] = [
    "passdock-cli",
    "passdock-onnx-ops",
    "passdock-relax",
    "passdock-tir",
];
/// A plugin whose passes fail.
const FAILING: &str = "passdock-misbehaving";

/// The file of a package's library on Windows.
fn library(package: &str) -> String {
    format!("{}.dll", package.replace('-', "_"))
}

type Test = fn(&Place) -> Result<()>;

const TESTS: [(&str, Test); 7] = [
    ("plugins are found, and nothing else", finds_plugins),
    ("plugins in Rust and in C run", runs_plugins),
    ("what is written is what this system writes", same_bytes),
    ("a model is replaced in its place", writes_in_place),
    (
        "what can't be a plugin has its sentence",
        refuses_what_is_broken,
    ),
    ("a failure is an exit status and a reproducer", fails),
    ("a pass is found that changes a model", bisects),
];

/// Executables and libraries for Windows, and a directory to work in.
struct Place {
    wine: &'static str,
    root: PathBuf,
    /// This system's command.
    passdock: PathBuf,
}

impl Place {
    fn build(project: &Project, wine: &'static str) -> Result<Place> {
        let root = project.target.join("wine");
        for name in ["bin", "plugins", "failing", "work"] {
            let directory = root.join(name);
            if directory.exists() {
                fs::remove_dir_all(&directory)?;
            }
            fs::create_dir_all(&directory)?;
        }
        let build = |more: &[&str]| {
            let packages = PACKAGES.iter().flat_map(|name| ["--package", name]);
            shell::run(project.cargo().arg("build").args(packages).args(more))
        };
        build(&[])?;
        build(&["--package", FAILING, "--target", TARGET])?;
        let built = project.target.join(TARGET).join("debug");
        let mut copies = vec![("passdock.exe".to_owned(), "bin")];
        copies.extend(PACKAGES[1..].iter().map(|name| (library(name), "bin")));
        copies.push((library(FAILING), "failing"));
        for (name, to) in copies {
            fs::copy(built.join(&name), root.join(to).join(&name))?;
        }
        let vendor = project.target.join("vendor");
        let mut build = project.cargo();
        build.args(["build", "--offline", "--target", TARGET]);
        build.current_dir(project.root.join("examples/hello-pass"));
        shell::run(build.env("CARGO_TARGET_DIR", &vendor))?;
        fs::copy(
            vendor.join(TARGET).join("debug/hello_pass.dll"),
            root.join("plugins/hello_pass.dll"),
        )?;
        fs::write(root.join("runtime.c"), RUNTIME_SOURCE)?;
        let runtime = root.join("bin").join(format!("{RUNTIME}.dll"));
        compile(project, &root.join("runtime.c"), &runtime, &["-ladvapi32"])?;
        let source = project.root.join("examples/c-pass/c_pass.c");
        compile(project, &source, &root.join("plugins/c_pass.dll"), &[])?;
        fs::copy(project.root.join(MODEL), root.join("work/digits.onnx"))?;
        Ok(Place {
            wine,
            root,
            passdock: project.passdock(Profile::Dev),
        })
    }

    fn work(&self, name: &str) -> PathBuf {
        self.root.join("work").join(name)
    }

    /// What the command does and says under wine.
    fn output(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(self.wine);
        command
            .arg(self.root.join("bin/passdock.exe"))
            .args(arguments)
            .current_dir(self.root.join("work"))
            .env("WINEPREFIX", self.root.join("prefix"))
            .env("WINEDEBUG", "-all")
            // Nothing of .NET or HTML is asked for, and the library beside the executable is taken.
            .env("WINEDLLOVERRIDES", format!("mscoree,mshtml=;{RUNTIME}=n,b"))
            .env_remove("PASSDOCK_PLUGIN_PATH");
        // Files and no pipes: wine's own processes keep those open for seconds after the command's end.
        let [out, err] = ["stdout", "stderr"].map(|name| self.root.join(name));
        command.stdin(Stdio::null());
        command.stdout(File::create(&out)?);
        command.stderr(File::create(&err)?);
        let output = Output {
            status: command.status().context("wine can't be started")?,
            stdout: fs::read(out)?,
            stderr: fs::read(err)?,
        };
        for said in [&output.stdout, &output.stderr] {
            let said = String::from_utf8_lossy(said);
            if said.contains(r"\\?\") || said.contains(r"\\\\?\\") {
                bail!("a path of the system's own spelling is shown: {said}");
            }
        }
        Ok(output)
    }

    /// What the command says on standard output, of a run that succeeds and complains of nothing.
    fn read(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || said.contains("warning") {
            bail!("{arguments:?} ended with {}: {said}", output.status);
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.read(arguments)?)?)
    }

    /// Fails unless the command ends with a status and says all the texts.
    fn says(&self, arguments: &[&str], status: i32, texts: &[&str]) -> Result<()> {
        let output = self.output(arguments)?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if output.status.code() != Some(status) {
            let got = output.status;
            bail!("{arguments:?} should end with {status}, not {got}: {said}");
        }
        match texts.iter().find(|text| !said.contains(**text)) {
            Some(text) => bail!("{arguments:?} should say `{text}`: {said}"),
            None => Ok(()),
        }
    }
}

/// Compiles a library of one C file for Windows.
fn compile(project: &Project, source: &Path, made: &Path, more: &[&str]) -> Result<()> {
    let mut gcc = Command::new(GCC);
    gcc.args(["-std=c11", "-O2", "-shared", "-Wall", "-Wextra", "-Werror"]);
    gcc.args(["-I", "plugin-api/abi/include"]);
    gcc.arg(source).arg("-o").arg(made).args(more);
    shell::run(gcc.current_dir(&project.root))
}

fn finds_plugins(place: &Place) -> Result<()> {
    let finds = |directory: &str, expected: &[&str]| -> Result<()> {
        let listed = place.json(&["list", "--json", "--plugin-dir", directory])?;
        let passes = listed["passes"].as_array().context("no list of passes")?;
        let is_there = |pass: &&&str| passes.iter().any(|known| known["name"] == **pass);
        match expected.iter().find(|pass| !is_there(pass)) {
            Some(pass) => bail!("{pass} isn't found: {listed}"),
            None => Ok(()),
        }
    };
    let standard = ["relax.transform.FoldConstant", "tir.transform.UnrollLoop"];
    let vendors = ["c", "hello"].map(|who| format!("{who}.transform.FuseDoubleRelu"));
    finds(
        "../plugins",
        &[standard[0], standard[1], &vendors[0], &vendors[1]],
    )?;
    // Two files of the same length and time are two files.
    fs::create_dir(place.work("twins"))?;
    let mut bytes = fs::read(place.root.join("plugins/c_pass.dll"))?;
    let now = std::time::SystemTime::now();
    for twin in ["c", "d"] {
        for name in ["name = \"c", "c.transform", "c.counter"] {
            let letter = name.find('c').unwrap_or_default();
            for at in 0..bytes.len().saturating_sub(name.len()) {
                if bytes[at..].starts_with(name.as_bytes()) {
                    bytes[at + letter] = twin.as_bytes()[0];
                }
            }
        }
        let path = place.work("twins").join(format!("{twin}_pass.dll"));
        fs::write(&path, &bytes)?;
        File::options().write(true).open(&path)?.set_modified(now)?;
    }
    let twins = ["c", "d"].map(|who| format!("{who}.transform.FuseDoubleRelu"));
    finds("twins", &[&twins[0], &twins[1]])?;
    place.says(
        &["inspect", "../plugins/c_pass.dll"],
        0,
        &["contract", "c.transform.FuseDoubleRelu", "c.counter"],
    )
}

fn runs_plugins(place: &Place) -> Result<()> {
    let passes = ["c", "hello"].map(|who| format!("{who}.transform.FuseDoubleRelu"));
    for pass in passes {
        let mut arguments = vec!["run", "digits.onnx", "--json", "--jobs", "2"];
        arguments.extend(["--instrument", "c.counter", "--plugin-dir", "../plugins"]);
        let report = place.json(&[&arguments[..], &["--passes", &pass]].concat())?;
        if report["passes"][0]["status"] != "changed" {
            bail!("{pass} should change the example model: {report}");
        }
        if report["instruments"][0]["text"] != "2 passes ran, 0 were vetoed" {
            bail!("c.counter should have counted two passes: {report}");
        }
    }
    Ok(())
}

const PASSES: &str = "FoldConstant,DeadCodeElimination";

fn same_bytes(place: &Place) -> Result<()> {
    let run = ["run", "digits.onnx", "--passes", PASSES, "-o"];
    for name in ["here.onnx", "here.ir"] {
        let other = name.replace("here", "there");
        let mut here = Command::new(&place.passdock);
        here.args(run)
            .arg(name)
            .current_dir(place.root.join("work"));
        shell::read(&mut here)?;
        place.read(&[&run[..], &[&other]].concat())?;
        if fs::read(place.work(name))? != fs::read(place.work(&other))? {
            bail!("{name} and {other} differ");
        }
    }
    place.says(&["diff", "here.onnx", "there.onnx"], 0, &[])?;
    let stats = |path| place.json(&["stats", path, "--json"]);
    if stats("there.onnx")?["ops"] != stats("here.onnx")?["ops"] {
        bail!("`stats` counts otherwise");
    }
    Ok(())
}

fn writes_in_place(place: &Place) -> Result<()> {
    let files = || -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(place.work("own"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    };
    fs::create_dir(place.work("own"))?;
    place.read(&["convert", "digits.onnx", "own/m.onnx"])?;
    place.read(&["run", "own/m.onnx", "-o", "own/m.onnx", "--passes", PASSES])?;
    place.says(&["diff", "own/m.onnx", "there.onnx"], 0, &[])?;
    // Now with data in a file of its own, which other data replaces.
    let all = ["--external-data", "all"];
    place.read(&[&["convert", "digits.onnx", "own/m.onnx"][..], &all].concat())?;
    if files()? != ["m.onnx", "m.onnx.data"] {
        bail!("the model and its data should be there: {:?}", files()?);
    }
    let run = ["run", "own/m.onnx", "-o", "own/m.onnx", "--passes", PASSES];
    place.read(&[&run[..], &all].concat())?;
    place.says(&["diff", "own/m.onnx", "there.onnx"], 0, &[])?;
    // What a dead run left, and a file that was still in use, goes with the next run.
    fs::write(place.work("own/.passdock-dead.part"), "")?;
    place.read(&["convert", "own/m.onnx", "own/n.onnx"])?;
    let names = files()?;
    let is_data = |name: &&String| name.ends_with(".data");
    let others = names.iter().filter(|name| !is_data(name));
    if names.iter().filter(is_data).count() != 1 || !others.eq(["m.onnx", "n.onnx"]) {
        bail!("two models and their data should be there: {names:?}");
    }
    place.says(&["diff", "own/m.onnx", "own/n.onnx"], 0, &[])
}

fn refuses_what_is_broken(place: &Place) -> Result<()> {
    fs::create_dir(place.work("broken"))?;
    let good = fs::read(place.root.join("plugins/hello_pass.dll"))?;
    let header = u32::from_le_bytes(good[0x3c..0x40].try_into()?) as usize;
    let mut arm = good.clone();
    arm[header + 4..header + 6].copy_from_slice(&0xaa64_u16.to_le_bytes());
    let runtime = fs::read(place.root.join("bin").join(format!("{RUNTIME}.dll")))?;
    for (name, bytes, said) in [
        ("arm.dll", &arm[..], "is a Windows library for aarch64"),
        ("cut.dll", &good[..good.len() / 2], "it is cut off"),
        ("empty.dll", b"", "it is empty"),
        ("other.dll", &runtime, "it doesn't export"),
        ("text.dll", b"text", "it isn't a shared library"),
        ("linux.so", b"", "it is a library for Linux"),
    ] {
        let path = place.work("broken").join(name);
        fs::write(&path, bytes)?;
        let said = [name, said];
        place.says(&["list", "--plugin-dir", "broken"], 0, &said)?;
        fs::remove_file(path)?;
    }
    Ok(())
}

fn fails(place: &Place) -> Result<()> {
    let failing = ["--plugin-dir", "../failing"];
    let run = ["run", "digits.onnx", "-o", "failed.onnx", "--passes"];
    let run = [&run[..], &["bad.transform.Panic"], &failing].concat();
    place.says(&run, 1, &["The pass panicked", "failed.onnx.reproducer"])?;
    if place.work("failed.onnx").exists() {
        bail!("a run that fails should write no model");
    }
    let replay = ["replay", "failed.onnx.reproducer", "--locked"];
    let replay = [&replay[..], &failing].concat();
    place.says(&replay, 1, &["the same failure"])?;
    place.says(&["stats", "missing.onnx"], 1, &["it can't be read"])?;
    place.says(&["run", "digits.onnx", "--passes", "No"], 2, &["`No`"])
}

fn bisects(place: &Place) -> Result<()> {
    let check = r#""..\bin\passdock.exe" diff {in} {}"#;
    let passes = ["digits.onnx", "--passes", PASSES, "--check", check];
    let bisect = [&["bisect"][..], &passes, &["-o", "found"]].concat();
    let found = "relax.transform.FoldConstant of plugin relax breaks the model";
    place.says(&bisect, 0, &[found])?;
    place.says(&["replay", "found/reproducer"], 1, &["the same failure"])?;
    let reduce = [&["reduce"][..], &passes, &["-o", "least.ir"]].concat();
    place.says(&reduce, 0, &["written to least.ir"])
}
