//! The passes of a request, resolved and in order.

use std::collections::BTreeSet;
use std::path::Path;

use passdock_core::{
    ErrorKind, PassError, PassRef, Phase, Registry, Sequential, disable_children, suggest,
};

use toml::Spanned;

use super::config::check_options;
use super::phases::Phases;
use super::request::Request;
use super::{plugins, rules};
use crate::pipeline_file::{Options, PassTable, PipelineFile, SourceText, values};

/// The name of the Sequential that contains a pipeline's passes.
pub const PIPELINE: &str = "pipeline";

/// The pass that raises the opset, and its option.
pub(crate) const RAISE_OPSET: (&str, &str) = ("relax.transform.RaiseOpset", "to");

/// Returns the Sequential of a pipeline's passes followed by those of the request. The pass that raises the opset is
/// prepended if requested.
pub(super) fn sequential(
    request: &Request,
    file: &PipelineFile,
    registry: &Registry,
    phases: &mut Phases,
) -> Result<Sequential, PassError> {
    let lists = Lists {
        request,
        source: &file.source,
        registry,
        phases_seen: None,
    };
    let mut passes = Vec::new();
    if let Some(to) = request.raise_opset {
        let (name, option) = RAISE_OPSET;
        check_opset(to, registry)?;
        let options = toml::Table::from_iter([(option.to_owned(), to.into())]);
        passes.push(registry.get_pass_with_options(name, &options)?);
    }
    passes.extend(lists.children(&file.passes, &file.passes, phases)?);
    for name in &request.passes {
        passes.push(match rules::is_file(name) {
            true => rules::read(Path::new(name), registry)?.into_pass(None),
            false => registry.get_pass(name)?,
        });
    }
    Ok(Sequential::new(passes).name(PIPELINE))
}

/// Checks that the pass can raise models to the requested opset. The error refers to the command line instead of the
/// pass's option.
fn check_opset(to: i64, registry: &Registry) -> Result<(), PassError> {
    let (name, option) = RAISE_OPSET;
    let schema = registry.option_schema(name)?;
    let field = schema.fields.iter().find(|field| field.name == option);
    // In the pass's option, 0 means no change. On the command line it is an error.
    let Some((_, newest)) = field.and_then(|field| field.range) else {
        return Ok(());
    };
    if (1..=newest).contains(&to) {
        return Ok(());
    }
    let message = format!("cannot raise the model to opset {to}");
    let error = PassError::new(ErrorKind::Usage, message);
    Err(error.help(format!(
        "use an opset from 1 to {newest}, the newest that `{name}` supports"
    )))
}

/// Context for resolving the entries of a pipeline.
struct Lists<'l> {
    request: &'l Request,
    source: &'l SourceText,
    registry: &'l Registry,
    /// In a built-in pipeline, the phases of the outer pipelines, which take precedence.
    phases_seen: Option<&'l BTreeSet<Phase>>,
}

impl Lists<'_> {
    /// Resolves a list of entries, each of which is one pass or the passes of a phase. `outer` has all entries of the
    /// pipeline. The recursion is bounded by the parser's nesting limit.
    fn children(
        &self,
        tables: &[PassTable],
        outer: &[PassTable],
        phases: &mut Phases,
    ) -> Result<Vec<PassRef>, PassError> {
        let (registry, source) = (self.registry, self.source);
        let mut passes = Vec::with_capacity(tables.len());
        for table in tables {
            match table {
                PassTable::Pass {
                    name,
                    options,
                    disabled,
                } => passes.push(self.pass(name, options, disabled)?),
                PassTable::Rules { file, name } => passes.push(self.rules(file, name.as_ref())?),
                PassTable::Imported(path) => {
                    let text = self.request.pipeline.as_ref();
                    let trusted = self.request.trust || text.is_some_and(|text| text.of_program);
                    let pass = registry.import_pass(path.get_ref(), trusted);
                    passes.push(pass.map_err(source.at(path.span()))?);
                }
                PassTable::Phase(phase) => {
                    let is_scheduled = phases.phases_in_order().contains(phase.get_ref());
                    let is_duplicate = |phases_seen: &BTreeSet<Phase>| {
                        is_scheduled || phases_seen.contains(phase.get_ref())
                    };
                    if self.phases_seen.is_some_and(is_duplicate) {
                        continue;
                    }
                    if is_scheduled {
                        let name = phase.get_ref().name();
                        let message = format!("duplicate phase `{name}`");
                        let error = source.error(phase.span(), "duplicate phase", message);
                        return Err(error.help("remove one of them: its passes would run twice"));
                    }
                    for name in phases.fill(*phase.get_ref()) {
                        passes.push(registry.get_pass(name)?);
                    }
                }
                PassTable::BuiltIn {
                    name,
                    source: text,
                    disabled,
                    passes: inner,
                } => {
                    let mut phases_seen = self.phases_seen.cloned().unwrap_or_default();
                    phases_in(outer, &mut phases_seen);
                    let lists = Lists {
                        source: text,
                        phases_seen: Some(&phases_seen),
                        ..*self
                    };
                    plugins::check_built_in(registry, self.request, name.get_ref(), inner)
                        .map_err(source.at(name.span()))?;
                    let inner = lists.children(inner, inner, phases)?;
                    self.check_disabled(disabled, &inner)?;
                    let sequential = Sequential::new(inner)
                        .name(name.get_ref())
                        .disabled(values(disabled));
                    passes.push(sequential.into_pass());
                }
                PassTable::Sequential {
                    name,
                    opt_level,
                    required,
                    disabled,
                    passes: inner,
                } => {
                    for name in required {
                        let pass = registry.get_pass(name.get_ref());
                        pass.map_err(source.at(name.span()))?;
                    }
                    let inner = self.children(inner, outer, phases)?;
                    self.check_disabled(disabled, &inner)?;
                    let sequential = Sequential::new(inner)
                        .name(name.get_ref())
                        .opt_level(*opt_level)
                        .required(values(required))
                        .disabled(values(disabled));
                    passes.push(sequential.into_pass());
                }
            }
        }
        Ok(passes)
    }

    /// Resolves a pass by name. Children of a Sequential may be disabled.
    fn pass(
        &self,
        name: &Spanned<String>,
        options: &Options,
        disabled: &[Spanned<String>],
    ) -> Result<PassRef, PassError> {
        let (registry, source) = (self.registry, self.source);
        let schema = registry.option_schema(name.get_ref());
        let schema = schema.map_err(source.at(name.span()))?;
        check_options(&schema, options, source)?;
        let options = rules::with_texts(options, &schema, self.request, source, registry)?;
        let pass = registry.get_pass_with_options(name.get_ref(), &options);
        let pass = pass.map_err(source.at(name.span()))?;
        let Some(first) = disabled.first() else {
            return Ok(pass);
        };
        let Some(sequential) = pass.as_sequential() else {
            let name = &pass.info().name;
            let message = format!("cannot disable passes of `{name}`: not a Sequential");
            return Err(source.error(first.span(), "", message));
        };
        self.check_disabled(disabled, sequential.passes())?;
        Ok(disable_children(pass, values(disabled)))
    }

    /// Resolves a .rules file to a pass. Names of existing passes are rejected, because reports would be ambiguous.
    fn rules(
        &self,
        file: &Spanned<String>,
        name: Option<&Spanned<String>>,
    ) -> Result<PassRef, PassError> {
        if let Some(name) = name.filter(|name| self.registry.contains(name.get_ref())) {
            let message = format!("a pass is already named `{}`", name.get_ref());
            let error = (self.source).error(name.span(), "name of another pass", message);
            return Err(error.help("choose another name, or remove it to use that of the file"));
        }
        let path = self.request.path_in_pipeline_dir(file.get_ref());
        let read = path.and_then(|path| rules::read(&path, self.registry));
        let read = read.map_err(self.source.at(file.span()))?;
        Ok(read.into_pass(name.map(|name| name.get_ref().as_str())))
    }

    /// Rejects disabled names that aren't children of the Sequential.
    fn check_disabled(
        &self,
        disabled: &[Spanned<String>],
        passes: &[PassRef],
    ) -> Result<(), PassError> {
        for name in disabled {
            let canonical = self.registry.canonical(name.get_ref());
            if passes.iter().all(|pass| pass.info().name != canonical) {
                let names = passes.iter().map(|pass| pass.info().name.as_str());
                let message = format!(
                    "cannot disable `{}`: the Sequential has no such pass",
                    name.get_ref()
                );
                let mut error = self.source.error(name.span(), "", message);
                error.help = suggest::help(name.get_ref(), names);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Adds the phases of a pipeline, without those of built-in pipelines in it.
fn phases_in(tables: &[PassTable], phases_in_order: &mut BTreeSet<Phase>) {
    for table in tables {
        match table {
            PassTable::Phase(phase) => _ = phases_in_order.insert(*phase.get_ref()),
            PassTable::Sequential { passes, .. } => phases_in(passes, phases_in_order),
            _ => {}
        }
    }
}

/// Returns all passes in a Sequential, at any depth.
pub(crate) fn passes_in(sequential: &Sequential) -> Vec<PassRef> {
    let mut passes = Vec::new();
    let mut open: Vec<PassRef> = sequential.passes().to_vec();
    while let Some(pass) = open.pop() {
        let inner = pass.as_sequential().into_iter();
        open.extend(inner.flat_map(|inner| inner.passes().to_vec()));
        passes.push(pass);
    }
    passes
}

/// Returns the names of all Sequentials of a pipeline file, and that of the run.
pub(super) fn sequential_names(tables: &[PassTable]) -> Vec<String> {
    let mut names = vec![PIPELINE.to_owned()];
    let mut left = vec![tables];
    while let Some(tables) = left.pop() {
        for table in tables {
            if let PassTable::Sequential { name, passes, .. }
            | PassTable::BuiltIn { name, passes, .. } = table
            {
                names.push(name.get_ref().clone());
                left.push(passes);
            }
        }
    }
    names
}

/// Returns the names of all passes in a run and in the registry.
pub(super) fn known_names(registry: &Registry, sequential: &Sequential) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = registry.pass_names().into_iter().collect();
    let passes = passes_in(sequential).into_iter();
    names.extend(passes.map(|pass| pass.info().name.clone()));
    names
}

/// Rejects unknown names of passes to require or disable. Otherwise a misspelled name would silently have no effect.
pub(super) fn check_names(
    request: &Request,
    file: &PipelineFile,
    registry: &Registry,
    sequential: &Sequential,
) -> Result<(), PassError> {
    let names = known_names(registry, sequential);
    let check_for = |name: &str, what: &str| {
        if names.contains(&registry.canonical(name)) {
            return Ok(());
        }
        let message = format!("cannot {what} `{name}`: no pass has that name");
        let near = suggest::help(name, names.iter().map(String::as_str));
        let list = || "run `passdock list passes` to list all passes".to_owned();
        Err(PassError::new(ErrorKind::UnknownPass, message).help(near.unwrap_or_else(list)))
    };
    let check = |name: &str| check_for(name, "require or disable");
    let context = &file.context;
    for name in context.required_pass.iter().chain(&context.disabled_pass) {
        check(name.get_ref()).map_err(file.source.at(name.span()))?;
    }
    let names = request.required_pass.iter().chain(&request.disabled_pass);
    names.map(String::as_str).try_for_each(check)?;
    let requested = request.instruments.iter();
    let printed = requested.flat_map(|requested| requested.flagged_passes());
    let mut printed = printed.map(|(_, name)| name);
    printed.try_for_each(|name| match name {
        "all" | PIPELINE => Ok(()),
        name => check_for(name, "print the module around"),
    })
}
