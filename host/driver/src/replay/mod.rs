//! Replaying reproducers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use crate::model_file::ReadOptions;
use crate::oracle::{Oracle, Verdict};
use crate::pipeline::{self, PipelineText, Report, Request, Watch};
use crate::prepare::{TRUST, is_inside};
use crate::reproducer::{
    ABOUT, About, BEFORE, Failure, PIPELINE, PluginFile, ReproducerTest, VERSION, hash_range,
};
use passdock_core::{Diagnostic, ErrorKind, PassError, Plugin, Registry, Severity};

/// A parsed reproducer.
///
/// # Examples
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub use passdock_driver::*;
/// # }
/// use passdock::oracle::Verdict;
/// use passdock::replay::{ReplayResult, Reproducer};
/// use passdock::{PassInfo, Registry, create_function_pass, pipeline};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let info = PassInfo::new("demo.transform.Fail").opt_level(0);
/// registry.register(create_function_pass(info, |_f, _cx| Err("not implemented".into())))?;
///
/// let directory = tempfile::tempdir()?;
/// let model = directory.path().join("model.ir");
/// std::fs::write(&model, "module { fn @main(%x: f32[2]) -> (%x: f32[2]) { return %x } }")?;
/// let request = pipeline::Request {
///     passes: vec!["demo.transform.Fail".to_owned()],
///     reproducer_dir: Some(directory.path().to_owned()),
///     model,
///     ..Default::default()
/// };
/// let (report, _failure) = pipeline::run(&registry, &request, Default::default());
/// let written = report.reproducer.ok_or("no reproducer")?;
///
/// let reproducer = Reproducer::open(written.as_ref(), false)?;
/// // The reproducer has no test command.
/// let mut oracle = |_: &_, _: &_| Ok(Verdict::Unknown);
/// let request = pipeline::Request::default();
/// let replay = reproducer.replay(&registry, request, false, &mut oracle, Default::default());
/// assert_eq!(replay.result, ReplayResult::Same);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reproducer {
    dir: PathBuf,
    about: About,
    pipeline: String,
    trust: bool,
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayResult {
    /// The same pass failed in the same way.
    Same,
    /// A different failure.
    Other,
    /// No failure.
    None,
}

/// A replay: the actual and the expected failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// How the failure compares with the expected one.
    pub result: ReplayResult,
    /// The failure in the reproducer.
    pub expected: Failure,
    /// The failure of this run.
    pub failure: Option<Failure>,
    /// The report of the run.
    #[serde(flatten)]
    pub report: Report,
}

impl Reproducer {
    /// Reads the reproducer in a directory. Only a trusted one may run a command, load plugins that it names, and read
    /// or write files outside of its directory.
    ///
    /// # Errors
    /// If the directory isn't a reproducer, can't be read, or needs trust that it doesn't have.
    pub fn open(dir: &Path, trust: bool) -> Result<Reproducer, PassError> {
        let shown = dir.display();
        let usage_error = |message: String| PassError::new(ErrorKind::Usage, message);
        if !dir.join(ABOUT).is_file() {
            let message = format!("`{shown}` is not a reproducer: it has no `{ABOUT}`");
            return Err(
                usage_error(message).help("pass a reproducer directory that `passdock run` wrote")
            );
        }
        let outside = |name: &&str| !is_inside(dir, &dir.join(name));
        let mut links = [ABOUT, PIPELINE, BEFORE].into_iter().filter(outside);
        if let Some(name) = links.next().filter(|_| !trust) {
            let message =
                format!("`{name}` of reproducer `{shown}` is a link out of its directory");
            return Err(usage_error(message).help(TRUST));
        }
        let read = |name: &str| {
            passdock_files::read_to_string(&dir.join(name)).map_err(|error| {
                let message = format!("could not read `{name}` of reproducer `{shown}`: {error}");
                usage_error(message).caused_by(Arc::new(error))
            })
        };
        let text = read(ABOUT)?;
        let invalid = |error: &toml::de::Error| {
            let message = error.message();
            usage_error(format!(
                "invalid `{ABOUT}` in reproducer `{shown}`: {message}"
            ))
        };
        let table: toml::Table = toml::from_str(&text).map_err(|error| invalid(&error))?;
        let version = table.get("version").and_then(toml::Value::as_integer);
        if version.is_some_and(|version| version > i64::from(VERSION)) {
            let message = format!("reproducer `{shown}` requires a newer version of passdock");
            return Err(usage_error(message).help("upgrade passdock"));
        }
        let reproducer = Reproducer {
            dir: dir.to_path_buf(),
            about: toml::from_str(&text).map_err(|error| invalid(&error))?,
            pipeline: read(PIPELINE)?,
            trust,
        };
        match reproducer.trust_reasons()?.as_slice() {
            _ if trust => {}
            [] => {}
            needs => {
                let needs = needs.join(", ");
                let message = format!("reproducer `{shown}` is not trusted: it {needs}");
                return Err(usage_error(message).help(TRUST));
            }
        }
        Ok(reproducer)
    }

    /// Lists the actions of the reproducer that require trust.
    fn trust_reasons(&self) -> Result<Vec<String>, PassError> {
        let pipeline = self.request(Request::default()).pipeline_file()?;
        let test = self.about.test.iter();
        let mut needs: Vec<String> = test
            .map(|test| format!("runs the command `{}`", test.command))
            .collect();
        let plugins = pipeline.plugins.dirs.iter().chain(&pipeline.plugins.files);
        needs.extend(plugins.map(|named| format!("loads plugins from `{}`", named.get_ref())));
        let mut files: Vec<&str> = self.about.data.iter().map(|data| &*data.file).collect();
        files.sort_unstable();
        files.dedup();
        needs.extend(files.iter().map(|file| format!("reads `{file}`")));
        Ok(needs)
    }

    /// Returns the test command for the result, if the pass itself doesn't fail.
    pub fn test(&self) -> Option<&ReproducerTest> {
        self.about.test.as_ref()
    }

    /// Returns the path of the original model, as the user gave it.
    pub fn model(&self) -> Option<&str> {
        self.about.model.as_deref()
    }

    /// Runs the reproducer with a registry's passes, and with the plugins of `request`. With `locked`, plugins whose
    /// files differ from the original ones are rejected. `oracle` runs the [`ReproducerTest`], if there is one, on the
    /// modules before and after the passes. The report contains all errors.
    pub fn replay(
        &self,
        registry: &Registry,
        request: Request,
        locked: bool,
        oracle: &mut Oracle<'_>,
        watch: Watch,
    ) -> Replay {
        let request = self.request(request);
        let (report, error, ran) = match self.differences(registry, &request, locked) {
            Ok(differences) => {
                let (mut report, result) =
                    pipeline::run_staged(registry, &request, None, watch).commit();
                report.diagnostics.splice(0..0, differences);
                let error = match result {
                    Err(error) => Some(error),
                    Ok(after) if self.test().is_some() => {
                        let checked = self.check_output(&request, &after, oracle);
                        if let Err(error) = &checked {
                            report.ok = false;
                            report.exit_status = error.exit_status();
                            report.diagnostics.push(error.to_diagnostic());
                        }
                        checked.err()
                    }
                    Ok(_) => None,
                };
                (report, error, true)
            }
            Err(error) => (Report::failed(&request.model, &error), Some(error), false),
        };
        let failure = error.as_ref().map(Failure::from);
        let expected = self.about.failure.clone();
        let result = match &failure {
            None => ReplayResult::None,
            Some(failure) if ran && failure.is_same(&expected) => ReplayResult::Same,
            Some(_) => ReplayResult::Other,
        };
        Replay {
            result,
            expected,
            failure,
            report,
        }
    }

    fn request(&self, request: Request) -> Request {
        Request {
            pipeline: Some(PipelineText::from_file(
                self.dir.join(PIPELINE),
                &*self.pipeline,
            )),
            model: self.dir.join(BEFORE),
            verify: self.about.verify,
            // The hashes of referenced data were checked.
            read: ReadOptions {
                outside_data: self.trust,
            },
            trust: self.trust,
            resumes: true,
            ..request
        }
    }

    /// Returns an error unless the oracle accepts the result.
    fn check_output(
        &self,
        request: &Request,
        after: &Module,
        oracle: &mut Oracle<'_>,
    ) -> Result<(), PassError> {
        let before = request.read_model()?;
        let error = |message: &str| PassError::new(ErrorKind::Check, message);
        match oracle(&before, after)? {
            Verdict::Good => Ok(()),
            Verdict::Bad => {
                let mut error = error(&self.about.failure.message);
                error.pass.clone_from(&self.about.failure.pass);
                Err(error)
            }
            Verdict::Unknown => Err(error("the test command is inconclusive")
                .help("run it where `bisect` ran, with everything that the command needs")),
        }
    }

    /// Compares the environment with the original one. Returns tolerable differences as warnings.
    fn differences(
        &self,
        registry: &Registry,
        request: &Request,
        locked: bool,
    ) -> Result<Vec<Diagnostic>, PassError> {
        self.check_data()?;
        // The run reports unusable files.
        let files = request.plugin_files.iter();
        let named = files.filter_map(|file| Plugin::open(file).ok());
        let mut plugins: Vec<Arc<Plugin>> = named.map(Arc::new).collect();
        plugins.extend(registry.discover(&request.search_dirs([]))?.plugins);
        plugins.extend(registry.plugins());
        let differences = self.about.plugins.iter().filter_map(|expected| {
            let name = expected.name.as_str();
            let plugin = plugins.iter().find(|plugin| plugin.name() == name);
            difference(expected, plugin.map(|plugin| &**plugin))
        });
        let mut warnings = Vec::new();
        for (message, help) in differences {
            if locked {
                return Err(PassError::new(ErrorKind::Plugin, message).help(help));
            }
            warnings.push(Diagnostic::new(Severity::Warning, "plugin", message).help(help));
        }
        Ok(warnings)
    }

    fn check_data(&self) -> Result<(), PassError> {
        for range in &self.about.data {
            let file = &range.file;
            let bytes = format!(
                "{} bytes at offset {} of `{file}`",
                range.length, range.offset
            );
            let message = match hash_range(file.as_ref(), range.offset, range.length) {
                Ok(hash) if hash == range.blake3 => continue,
                Ok(_) => format!("{bytes} changed since the reproducer was written"),
                Err(error) => format!("could not read {bytes}: {error}"),
            };
            return Err(PassError::new(ErrorKind::Read, message).help(
                "restore the file, or write the reproducer again with `passdock run … --self-contained`",
            ));
        }
        Ok(())
    }
}

/// Describes how a plugin differs from the original one, with a suggested fix.
fn difference(expected: &PluginFile, found: Option<&Plugin>) -> Option<(String, &'static str)> {
    let PluginFile { name, version, .. } = expected;
    let help = "the failure may not occur, or may differ";
    let Some(found) = found else {
        let file = expected.file.as_ref();
        let file = file.map_or_else(String::new, |file| format!(" from file `{file}`"));
        let message = format!("missing plugin {name} {version}, which was loaded{file}");
        return Some((
            message,
            "name its file with `--plugin FILE`, or its directory with `--plugin-dir DIR`",
        ));
    };
    let origin = found.origin();
    let now = PluginFile::new(found);
    if now.version != *version {
        let message = format!(
            "plugin {origin} is {name} {}, but the reproducer was written with {version}",
            now.version
        );
        return Some((message, help));
    }
    match (&now.blake3, &expected.blake3) {
        (Some(now), Some(then)) if now != then => {
            let message = format!(
                "plugin {origin} is {name} {version}, but its file differs from the one that the reproducer was \
                 written with"
            );
            Some((message, help))
        }
        _ => None,
    }
}
