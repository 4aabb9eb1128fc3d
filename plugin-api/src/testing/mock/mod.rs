//! A host in memory that is just large enough for unit tests: it keeps one function, does the
//! common edits, and refuses what would leave a use without its value. No verifier, no text.
//! [`Watch`] shows it to an instrument.
//!
//! What it lacks (op definitions, dim expressions, other passes) is missing from its tables, as in
//! an older host.
#![allow(unsafe_code)]

mod analyses;
mod arena;
mod regions;
mod tables;
mod watch;

use std::cell::RefCell;
use std::collections::HashMap;

use passdock_abi as abi;
use passdock_abi::{OpId, SettingKind, Status, SymbolId};

use crate::context::PassContext;
use crate::function::Function;
use crate::setting::OptionValue;
use arena::MockFunction;
use tables::{host, tables};
pub use watch::Watch;

/// Calls back with an empty graph function named `main`, and a context of level 2.
pub fn scratch<R>(then: impl FnOnce(&mut Function, &PassContext) -> R) -> R {
    crate::gate::install_hook();
    let mut context = MockContext::default();
    let mut body = MockFunction::new();
    let (context, handle): (*mut MockContext, *mut MockFunction) = (&mut context, &mut *body);
    // SAFETY: both live until this function returns, and only the answer uses them.
    let (mut function, cx) = unsafe {
        (*handle).refresh();
        let reference = abi::FunctionRef {
            handle: handle.cast(),
            view: (*handle).view,
        };
        (
            Function::from_raw(tables(), reference),
            PassContext::from_raw(tables(), context.cast(), None),
        )
    };
    let answer = then(&mut function, &cx);
    if function.as_raw().handle != handle.cast() {
        // Swapped with another scratch function's, which may be gone: nothing is safe any more.
        std::process::abort();
    }
    answer
}

/// Calls a plugin's pass as a host does, through its table; the failure it told, if it failed.
pub fn run_pass(
    plugin: &crate::StaticPlugin,
    pass: &str,
    build: impl FnOnce(&mut Function),
    look: impl FnOnce(&Function),
) -> (Status, Option<Failure>) {
    let mut context = MockContext::default();
    let context: *mut MockContext = &mut context;
    let mut body = MockFunction::new();
    let handle: *mut MockFunction = &mut *body;
    // SAFETY: this is the host, and keeps the contract: the handles live until the end.
    unsafe {
        let table = (plugin.entry)(host());
        assert!(!table.is_null(), "the plugin refuses the mock host");
        let passes = std::slice::from_raw_parts((*table).passes, (*table).pass_count as usize);
        let entry = passes
            .iter()
            .find(|entry| crate::raw::text(entry.name) == pass);
        let entry = entry.unwrap_or_else(|| panic!("the plugin has no pass `{}`", pass));
        (*handle).refresh();
        let reference = abi::FunctionRef {
            handle: handle.cast(),
            view: (*handle).view,
        };
        build(&mut Function::from_raw(tables(), reference));
        let run = entry.run_function.expect("only function passes run here");
        let status = run(entry.state, context.cast(), &reference, std::ptr::null());
        look(&Function::from_raw(tables(), reference));
        (status, (*context).failure.take())
    }
}

/// Why a pass failed, as the host was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The op.
    pub op: Option<OpId>,
    /// The sentence.
    pub message: String,
    /// The panic's source file, or empty.
    pub file: String,
    /// Its line, or 0.
    pub line: u32,
}

#[derive(Default)]
struct MockContext {
    failure: Option<Failure>,
    /// The options that are given.
    options: HashMap<String, MockOption>,
    /// What diagnostics said.
    messages: Vec<String>,
}

/// The value of an option, as it crosses.
struct MockOption((SettingKind, i64, f64, String));

impl From<&OptionValue> for MockOption {
    fn from(value: &OptionValue) -> MockOption {
        MockOption(match value {
            OptionValue::Bool(value) => (SettingKind::BOOL, i64::from(*value), 0.0, String::new()),
            OptionValue::Int(value) => (SettingKind::INT, *value, 0.0, String::new()),
            OptionValue::Float(value) => (SettingKind::FLOAT, 0, *value, String::new()),
            OptionValue::String(value) => (SettingKind::STRING, 0, 0.0, value.clone()),
            OptionValue::Strings(list) => {
                let joined = list.iter().map(|item| format!("{}\0", item)).collect();
                (SettingKind::STRINGS, list.len() as i64, 0.0, joined)
            }
            OptionValue::Table(entries) => {
                let entry = |(name, value): &(String, _)| format!("{}\0{}\0", name, value);
                let joined = entries.iter().map(entry).collect();
                (SettingKind::TABLE, entries.len() as i64, 0.0, joined)
            }
            // Only in a table.
            OptionValue::List(_) => (SettingKind::NONE, 0, 0.0, String::new()),
        })
    }
}

thread_local! {
    static SYMBOLS: RefCell<MockSymbols> = RefCell::new(MockSymbols::new());
}

/// One set a thread: interned text stays where it is as long as the thread lives.
struct MockSymbols {
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, SymbolId>,
}

impl MockSymbols {
    fn new() -> MockSymbols {
        let mut symbols = MockSymbols {
            texts: Vec::new(),
            ids: HashMap::new(),
        };
        for text in abi::symbol::WELL_KNOWN {
            symbols.intern(text);
        }
        symbols
    }

    fn intern(&mut self, text: &str) -> SymbolId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = SymbolId(self.texts.len() as u32);
        self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }
}
