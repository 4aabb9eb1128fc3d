//! Passes on IR text, for tests: of this project and of whoever embeds the library.

use passdock_ir::text;

use crate::context::PassContext;
use crate::model_file;
use crate::registry::Registry;

/// Runs passes, by name and in order, over IR text, at the highest level and with everything
/// verified; answers the text that comes out, or the error as a terminal would show it.
///
/// `configure` may set config options and more on the context.
pub fn run_on_text(
    registry: &Registry,
    passes: &[&str],
    source: &str,
    configure: impl FnOnce(crate::ContextBuilder) -> crate::ContextBuilder,
) -> String {
    let run = || {
        let mut module = model_file::parse_text("test.ir", source)?;
        let context = configure(PassContext::builder().registry(registry).opt_level(4)).build()?;
        for name in passes {
            let pass = registry.get_pass(name)?;
            module = context.scope(|_| pass.call(module))?;
        }
        Ok(text::print(&module))
    };
    run().unwrap_or_else(|error: crate::PassError| error.to_diagnostic().render(false))
}
