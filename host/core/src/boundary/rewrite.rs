//! `ContextApi::rewrite`: rewriting by rules in text form, for plugins without an SDK that parses rules.
//!
//! The host parses and applies such rules with its own SDK. The sessions don't depend on that.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use passdock_abi::{RewriteDesc, Status};
use passdock_ir::{Edit, EditFailure};
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;

use super::op::OpQueries;
use super::run::tables;
use super::session::input;
use crate::{rules, util};

/// The maximum number of cached texts. Plugins have fewer.
const MAX_CACHED: usize = 1024;

impl OpQueries<'_> {
    pub(super) unsafe fn rewrite(&self, desc: &RewriteDesc) -> Edit {
        // SAFETY: the text is valid during the call, by the plugin ABI.
        let text = unsafe { input::text(desc.rules, "text of the rules")? };
        let rules = read(text, self.context.op_defs())?;
        // SAFETY: both sessions live until the call returns, and the plugin doesn't edit meanwhile.
        let (mut function, cx) = unsafe {
            (
                sdk::Function::from_raw(tables(), self.session.reference()),
                sdk::PassContext::from_raw(tables(), self.context.handle(), std::ptr::null()),
            )
        };
        let done = cx.rewrite(&mut function, &[&rules]);
        done.map_err(|error| EditFailure {
            status: error.status.unwrap_or(Status::REJECTED),
            message: error.message,
        })
    }
}

/// Parsed and checked rules, by their text and the id of the op definitions.
type RulesCache = HashMap<(String, u64), Arc<sdk::Rules>>;

/// Parses rules and checks them against op definitions. Results are cached.
fn read(text: &str, ops: &OpDefs) -> Result<Arc<sdk::Rules>, EditFailure> {
    static CACHE: LazyLock<Mutex<RulesCache>> = LazyLock::new(Mutex::default);
    let key = (text.to_owned(), ops.id());
    if let Some(rules) = util::lock(&CACHE).get(&key) {
        return Ok(rules.clone());
    }
    let to_failure = |error: sdk::rewrite::RuleError| {
        let before = text.get(..error.at.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let help = match rules::help(&error, text) {
            None => String::new(),
            Some(help) => format!("; {help}"),
        };
        EditFailure::rejected(format!("line {line} of the rules: {}{help}", error.message))
    };
    let rules = sdk::Rules::parse(text).map_err(to_failure)?;
    rules::check(&rules, ops).map_err(to_failure)?;
    let rules = Arc::new(rules);
    let mut cache = util::lock(&CACHE);
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert(key, rules.clone());
    Ok(rules)
}
