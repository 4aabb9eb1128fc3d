//! `ContextApi`, with its rewriting by rules in text, for plugins that have no SDK to read them.
//!
//! The host reads such rules with its own SDK, on tables that the sessions below know nothing of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use passdock_abi as abi;
use passdock_abi::{RewriteDesc, Status};
use passdock_ir::EditError;
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;

use super::run::tables;
use super::session::context::{self, ContextSession};
use super::session::function::FunctionSession;
use super::session::{gate, input};
use crate::{rules, util};

pub(in crate::boundary) static CONTEXT: abi::ContextApi = abi::ContextApi {
    rewrite: Some(rewrite),
    ..context::CALLS
};

/// The most texts of rules that are kept: more than plugins have.
const MOST_KEPT: usize = 1024;

/// `ContextApi::rewrite`.
///
/// # Safety
/// As the contract says: the handles are those that the host handed out, and the text is readable.
unsafe extern "C" fn rewrite(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    desc: *const RewriteDesc,
) -> Status {
    // SAFETY: the contract's, here and below.
    unsafe {
        gate::call(FunctionSession::of(f), |session| {
            let ops = ContextSession::of(cx)?.op_defs();
            let text = input::text(input::described(desc)?.rules, "text of the rules")?;
            let rules = read(text, ops)?;
            let Some(tables) = tables() else {
                return Err(EditError::invalid("The host has no tables."));
            };
            let mut function = sdk::Function::from_raw(tables, session.reference());
            let cx = sdk::PassContext::from_raw(tables, cx, std::ptr::null());
            let done = cx.rewrite(&mut function, &[&rules]);
            done.map_err(|error| EditError {
                status: error.status.unwrap_or(Status::REFUSED),
                message: error.message,
            })
        })
    }
}

/// Texts that were read and held to definitions.
type Kept = HashMap<(String, u64), Arc<sdk::Rules>>;

/// The rules of a text, which is read once, and held to these definitions.
fn read(text: &str, ops: &OpDefs) -> Result<Arc<sdk::Rules>, EditError> {
    static KEPT: OnceLock<Mutex<Kept>> = OnceLock::new();
    let key = (text.to_owned(), ops.id());
    let keep = KEPT.get_or_init(Mutex::default);
    if let Some(rules) = util::lock(keep).get(&key) {
        return Ok(rules.clone());
    }
    let refused = |error: sdk::RuleError| {
        let before = text.get(..error.at.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let help = match rules::help(&error, text) {
            None => String::new(),
            Some(help) => format!(" {help}"),
        };
        EditError::invalid(format!("Line {line} of the rules: {}{help}", error.message))
    };
    let rules = sdk::Rules::parse(text).map_err(refused)?;
    rules::check(&rules, ops).map_err(refused)?;
    let rules = Arc::new(rules);
    let mut kept = util::lock(keep);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(key, rules.clone());
    Ok(rules)
}
