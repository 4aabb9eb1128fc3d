//! Host passes: one that applies another pass to some functions, one that filters functions, and one that prints.

use std::collections::HashSet;
use std::sync::Arc;

use passdock_abi::{OpId, SymbolId};
use passdock_diagnostic::suggest;
use passdock_ir::{AttrData, EditFailure, Function, Module, NewAttr};
use regex_lite::Regex;

use crate::config::{ConfigValue, Schema};
use crate::context::PassContext;
use crate::error::{ErrorKind, PassError};
use crate::instrument::Sink;
use crate::instrument::built_in::shown;
use crate::pass::{PassDeclaration, PassInfo, PassRef, create_unscoped_pass, with_options};

/// Creates a pass whose body uses the IR directly instead of the SDK.
pub fn create_host_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&Module, &PassContext) -> Result<Module, PassError> + Send + Sync + 'static,
{
    // The run loop has pushed the pass's own context.
    let body = move |module: &Module, _: &ConfigValue| body(module, &PassContext::current());
    create_unscoped_pass(declared, Box::new(body))
}

/// Creates a pass named `ApplyPassTo<regex>` that runs another pass on the functions whose names match a regular
/// expression from their first character on.
///
/// The inner pass gets the other functions as external ones: they have the attribute `Extern`, so function passes skip
/// them. They are restored afterwards, whatever the inner pass did to them. For that their ops are copied, but not
/// their weights. If no function matches, no pass runs; with `error_if_no_function_matches_regex` that is an error.
///
/// # Errors
/// If `regex` isn't a regular expression.
pub fn apply_pass_to_function(
    pass: impl Into<PassRef>,
    regex: &str,
    error_if_no_function_matches_regex: bool,
) -> Result<PassRef, PassError> {
    let pass = pass.into();
    let pattern = Regex::new(&format!("^(?:{regex})")).map_err(|error| {
        let message = format!("invalid regular expression `{regex}`: {error}");
        PassError::new(ErrorKind::Config, message)
    })?;
    let declared = PassInfo::new(format!("ApplyPassTo{regex}"));
    let regex = regex.to_owned();
    Ok(create_host_pass(declared, move |module, cx| {
        let is_other = |f: &&Arc<Function>| !pattern.is_match(f.text(f.name()));
        let others: Vec<Arc<Function>> = module.functions().filter(is_other).cloned().collect();
        match others.len() == module.len() {
            true if error_if_no_function_matches_regex => Err(no_match(&regex, module)),
            true => {
                cx.meet_unrun(&*pass);
                Ok(module.clone())
            }
            false => on_the_rest(&pass, module, others, cx),
        }
    }))
}

/// Runs a pass with some functions marked as external, and restores those.
fn on_the_rest(
    pass: &PassRef,
    module: &Module,
    others: Vec<Arc<Function>>,
    cx: &PassContext,
) -> Result<Module, PassError> {
    let external = module.symbols().intern("Extern");
    let mut before = module.clone();
    for other in &others {
        if let Some(function) = before.function_mut(other.name()) {
            let attr = NewAttr::new(external, AttrData::Int(1));
            function.set_attr(OpId::NONE, &attr).map_err(failed)?;
        }
    }
    let mut after = pass.call_in(before.clone(), cx)?;
    if after.is_same(&before) {
        return Ok(module.clone());
    }
    for other in others {
        match after.function(other.name()) {
            Some(_) => after.replace(other),
            None => after.insert(other),
        }
        .map_err(failed)?;
    }
    Ok(after)
}

fn no_match(regex: &str, module: &Module) -> PassError {
    let names = suggest::listed(module.functions().map(|f| f.text(f.name())));
    let message = format!("no function matches `{regex}`; the functions are {names}");
    PassError::new(ErrorKind::Failed, message)
}

/// Creates a module pass named `Filter` that removes the functions which don't satisfy a predicate. The predicate must
/// hold for callees of retained functions, too.
pub fn filter(keep: impl Fn(&Function) -> bool + Send + Sync + 'static) -> PassRef {
    create_host_pass(PassInfo::new("Filter"), move |module, _| {
        let dropped = module.functions().filter(|f| !keep(f));
        let dropped: HashSet<SymbolId> = dropped.map(|f| f.name()).collect();
        let mut filtered = module.clone();
        if !dropped.is_empty() {
            filtered.retain(|function| !dropped.contains(&function.name()));
        }
        Ok(filtered)
    })
}

passdock_plugin_api::options! {
    /// The options of `PrintIR`.
    struct PrintIr {
        /// The heading.
        header: String = "",
    }
}

/// Creates the pass `PrintIR`, which prints the module under a heading, its option `header`, and changes nothing. It
/// isn't registered by default: the command registers it with standard error as its sink.
pub fn printing(sink: Sink) -> PassRef {
    let schema = Schema::from_options::<PrintIr>("PrintIR");
    let declared = PassDeclaration {
        changes_interface: false,
        aliases: ["transform.PrintIR", "relay.transform.PrintIR"]
            .map(str::to_owned)
            .to_vec(),
        ..PassInfo::new("PrintIR").options::<PrintIr>()
    };
    let body = move |module: &Module, options: &ConfigValue| {
        let PrintIr { header } = schema.read(options)?;
        sink(&format!("PrintIR({header}):\n{}", shown(module)));
        Ok(module.clone())
    };
    create_unscoped_pass(declared, Box::new(body))
}

/// Creates the pass [`printing`] with a heading.
pub fn print_ir(header: impl Into<String>, sink: Sink) -> PassRef {
    let mut options = toml::Table::new();
    options.insert("header".to_owned(), header.into().into());
    with_options(printing(sink), &options).expect("the pass has the option `header`")
}

fn failed(error: EditFailure) -> PassError {
    PassError::new(ErrorKind::Failed, error.to_string())
}
