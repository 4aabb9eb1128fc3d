//! Running passes on IR text, for tests of this project and of programs that embed the library.

use passdock_ir::text;

use crate::model_file;
use crate::pipeline_file::parse_value;
use passdock_core::{ContextBuilder, ErrorKind, PassContext, PassError, PassRef, Registry};

/// Runs passes by name, in order, on IR text, at the highest level and with full verification. Returns the resulting
/// text, or the error as rendered for a terminal.
///
/// `configure` may change the context, for example set config options.
pub fn run_on_text(
    registry: &Registry,
    passes: &[&str],
    source: &str,
    configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
) -> String {
    let found = passes.iter().map(|name| registry.get_pass(name));
    let run = || {
        run(
            registry,
            found.collect::<Result<_, _>>()?,
            source,
            configure,
        )
    };
    rendered(run())
}

/// Like [`run_on_text`], for one pass with options such as `batch = 1, height = 640`, in the syntax of an inline TOML
/// table.
pub fn run_with_options(registry: &Registry, pass: &str, options: &str, source: &str) -> String {
    let run = || {
        let options = parse_value(&format!("{{ {options} }}"));
        let Some(toml::Value::Table(options)) = options else {
            let message = "invalid options: not a TOML table";
            return Err(PassError::new(ErrorKind::Config, message));
        };
        let pass = registry.get_pass_with_options(pass, &options)?;
        run(registry, vec![pass], source, |context| context)
    };
    rendered(run())
}

fn run(
    registry: &Registry,
    passes: Vec<PassRef>,
    source: &str,
    configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
) -> Result<String, PassError> {
    let mut module = model_file::parse_text("test.ir", source)?;
    let context = configure(PassContext::builder().registry(registry).opt_level(4)).build()?;
    for pass in passes {
        module = context.scope(|_| pass.call(module))?;
    }
    Ok(text::print(&module))
}

fn rendered(result: Result<String, PassError>) -> String {
    result.unwrap_or_else(|error| error.to_diagnostic().render(false))
}
