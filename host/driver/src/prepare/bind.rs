//! `--bind NAME=VALUE`: sizes for the model's dim symbols, and values for its parameters. The model determines which of
//! the two a name is. Passes of the standard plugins bind it before all other passes.

use std::ops::Range;

use passdock_abi::FunctionKind;
use passdock_ir::{Function, Module};

use super::blame;
use super::passes::PIPELINE;
use super::request::Request;
use crate::pipeline_file::parse_value;
use passdock_core::{ErrorKind, PassError, PassRef, Registry, Sequential, suggest};

/// The binding passes. They run at any level.
pub(crate) const PASSES: [&str; 2] = [
    "relax.transform.BindParams",
    "relax.transform.BindSymbolicVars",
];

/// Allows reading the files of a request's bindings from a sandbox. Invalid ones are reported later.
pub(super) fn allow_files(request: &Request) {
    for text in &request.bind {
        if let Ok(binding) = Binding::read(text)
            && let Some(file) = binding.value.as_str()
        {
            passdock_sandbox::allow_read(file);
        }
    }
}

/// Returns the Sequential with the binding passes for a request prepended.
pub(super) fn with_bindings(
    sequential: &Sequential,
    request: &Request,
    module: &Module,
    registry: &Registry,
) -> Result<Sequential, PassError> {
    let names = Names::new(module);
    let mut symbols = toml::Table::new();
    let mut params = toml::Table::new();
    for text in &request.bind {
        let binding = Binding::read(text)?;
        let (pass, field, table) = match names.is_symbol(&binding)? {
            true => (PASSES[1], "dims", &mut symbols),
            false => (PASSES[0], "params", &mut params),
        };
        let name = binding.name();
        check(registry, pass, field, name, &binding.value).map_err(|error| match error.kind {
            ErrorKind::Config => shown(error, text, binding.value_span.clone()),
            _ => error,
        })?;
        if table
            .insert(name.to_owned(), binding.value.clone())
            .is_some()
        {
            let message = format!("`{name}` is bound twice");
            let error =
                PassError::new(ErrorKind::Config, message).help("remove one of the bindings");
            return Err(shown(error, text, binding.name_span));
        }
    }
    let mut passes: Vec<PassRef> = Vec::new();
    // Symbols first: binding a parameter also determines its symbols, which would then no longer exist.
    for (pass, field, table) in [(PASSES[1], "dims", symbols), (PASSES[0], "params", params)] {
        if !table.is_empty() {
            // Nested in the field's table, because a bound name may equal the name of an option.
            let options = toml::Table::from_iter([(field.to_owned(), table.into())]);
            passes.push(registry.get_pass_with_options(pass, &options)?);
        }
    }
    passes.extend(sequential.passes().iter().cloned());
    Ok(Sequential::new(passes).name(PIPELINE))
}

/// Checks that the pass accepts a value.
fn check(
    registry: &Registry,
    pass: &str,
    field: &str,
    name: &str,
    value: &toml::Value,
) -> Result<(), PassError> {
    let entry = toml::Table::from_iter([(name.to_owned(), value.clone())]);
    let options = toml::Table::from_iter([(field.to_owned(), entry.into())]);
    registry
        .option_schema(pass)?
        .accept_part(&options.into())
        .map(drop)
        .map_err(PassError::from)
}

/// A binding `NAME=VALUE`, whose value is TOML.
struct Binding<'a> {
    text: &'a str,
    /// The range of the trimmed name, in bytes.
    name_span: Range<usize>,
    value: toml::Value,
    value_span: Range<usize>,
}

impl<'a> Binding<'a> {
    fn read(text: &'a str) -> Result<Binding<'a>, PassError> {
        let invalid = |message: &str| PassError::new(ErrorKind::Config, message);
        let Some((name, value)) = text.split_once('=') else {
            let error = invalid("missing value for `--bind`").help("write `--bind NAME=VALUE`");
            return Err(shown(error, text, 0..text.len()));
        };
        let start = name.len() - name.trim_start().len();
        let value_span = name.len() + 1..text.len();
        match parse_value(value) {
            Some(value) => Ok(Binding {
                text,
                name_span: start..start + name.trim().len(),
                value,
                value_span,
            }),
            None => {
                let error = invalid("invalid TOML value");
                let error = error.help("put a string in quotes: `--bind 'NAME=\"text\"'`");
                Err(shown(error, text, value_span))
            }
        }
    }

    fn name(&self) -> &'a str {
        &self.text[self.name_span.clone()]
    }
}

fn shown(error: PassError, binding: &str, span: Range<usize>) -> PassError {
    blame::in_argument(error, "--bind", binding, span)
}

/// The names in a model that can be bound.
struct Names {
    symbols: Vec<String>,
    params: Vec<String>,
}

impl Names {
    fn new(module: &Module) -> Names {
        let mut names = Names {
            symbols: Vec::new(),
            params: Vec::new(),
        };
        let is_graph = |f: &&Function| f.kind() == FunctionKind::GRAPH;
        let functions: Vec<&Function> = match module.function_named("main") {
            Some(main) => vec![main],
            None => module.functions().map(AsRef::as_ref).collect(),
        };
        for f in functions.into_iter().filter(is_graph) {
            let params = || f.args(f.body());
            let ports = f.ports(f.body()).iter().map(|port| port.ty);
            let symbols = f.dim_symbols(params().map(|param| f.value(param).ty).chain(ports));
            let text = |symbol| f.text(symbol).to_owned();
            let written = |symbol| passdock_onnx::name_in_file(f.text(symbol)).to_owned();
            names.symbols.extend(symbols.into_iter().map(written));
            let named = params().filter_map(|param| f.value(param).name.option());
            names.params.extend(named.map(text));
        }
        names
    }

    /// Returns `true` if a name is a dim symbol, and `false` if it is a parameter.
    ///
    /// # Errors
    /// If it is both or neither.
    fn is_symbol(&self, binding: &Binding<'_>) -> Result<bool, PassError> {
        let name = binding.name();
        let has = |names: &[String]| names.iter().any(|own| own == name);
        let error = |message| PassError::new(ErrorKind::Config, message);
        let error = match (has(&self.symbols), has(&self.params)) {
            (true, false) => return Ok(true),
            (false, true) => return Ok(false),
            (true, true) => error(format!(
                "`{name}` is both a dim symbol and a parameter of the model"
            ))
            .help(format!(
                "bind it in a pipeline, with `{}` or `{}`",
                PASSES[1], PASSES[0]
            )),
            (false, false) => {
                let symbols = || self.symbols.iter().map(String::as_str);
                let params = || self.params.iter().map(String::as_str);
                let mut error = error(format!("the model has no dim symbol or parameter `{name}`"));
                error.help = suggest::help(name, symbols().chain(params()));
                error.note(format!(
                    "dim symbols: {}; parameters: {}",
                    suggest::listed(symbols()),
                    suggest::listed(params())
                ))
            }
        };
        Err(shown(error, binding.text, binding.name_span.clone()))
    }
}
