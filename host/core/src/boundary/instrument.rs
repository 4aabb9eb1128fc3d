//! The calls of a plugin's instrument: an instance, the pass that it gets, and its answer.

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, Status};
use passdock_diagnostic::Diagnostic;
use passdock_ir::Module;
use passdock_loader::{LoadedInstrument, MissingDefinition, PassInfo};

use super::session::context::CallFailure;
use super::session::frame::Frame;
use super::session::{ContextSession, ModuleSession, ending, entry, input};
use crate::config::ConfigValue;
use crate::error::Provider;

/// The most bytes of an instrument's report that are kept.
const MAX_REPORT: usize = 1 << 20;

/// An instance, which is destroyed when this is dropped, at the latest.
pub struct Instance {
    entry: abi::InstrumentEntry,
    handle: *mut c_void,
    /// Buffers that each call uses again.
    functions: Vec<FunctionEntry>,
    required: Vec<abi::Str>,
}

// SAFETY: the contract says that an instance is called on any thread, one call at a time, for which
// `&mut` stands here; the list of texts is empty between calls.
unsafe impl Send for Instance {}

/// The pass that an instrument's callback is about.
#[derive(Clone, Copy)]
pub struct PassCall<'a> {
    /// The module that the pass works on, or that it made.
    pub module: &'a Module,
    /// The name, level and requirements of the pass.
    pub info: &'a PassInfo,
    /// The plugin that provides the pass.
    pub provider: Option<&'a Provider>,
    /// The frame of the call: the run around it.
    pub frame: &'a dyn Frame,
}

/// The result of a callback, and the diagnostics that it emitted.
pub struct Answer<T> {
    /// The result, or the failure.
    pub result: Result<T, Box<CallFailure>>,
    /// The diagnostics that the callback emitted.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Answer<T> {
    /// The answer of a callback that emitted no diagnostics.
    #[inline]
    fn silent(value: T) -> Answer<T> {
        Answer {
            result: Ok(value),
            diagnostics: Vec::new(),
        }
    }

    /// Maps the result to another one, and keeps the diagnostics.
    #[inline]
    fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Box<CallFailure>>) -> Answer<U> {
        Answer {
            result: self.result.and_then(next),
            diagnostics: self.diagnostics,
        }
    }
}

/// The arguments of a callback around a pass.
struct Told<'a> {
    instance: *mut c_void,
    context: *mut abi::Context,
    module: &'a abi::ModuleRef,
    pass: &'a abi::PassInfo,
}

impl Instance {
    /// Makes an instance of an instrument with some options.
    pub fn new(
        instrument: &LoadedInstrument,
        frame: &dyn Frame,
        options: &ConfigValue,
    ) -> Answer<Instance> {
        let LoadedInstrument { entry, create } = *instrument;
        let mut handle = ptr::null_mut();
        let created = speak(frame, options, ptr::null(), |context| {
            // SAFETY: the function and its state come from the table of a plugin that stays loaded;
            // the context lives until it returns.
            unsafe { create(entry.state, context, &mut handle) }
        });
        created.and_then(|()| {
            Ok(Instance {
                entry,
                handle,
                functions: Vec::new(),
                required: Vec::new(),
            })
        })
    }

    /// Calls `enter_pass_ctx`, before the context is entered.
    pub fn enter_pass_ctx(&mut self, frame: &dyn Frame, options: &ConfigValue) -> Answer<()> {
        self.watch_context(frame, options, self.entry.enter_pass_ctx)
    }

    /// Calls `exit_pass_ctx`, after the context was left.
    pub fn exit_pass_ctx(&mut self, frame: &dyn Frame, options: &ConfigValue) -> Answer<()> {
        self.watch_context(frame, options, self.entry.exit_pass_ctx)
    }

    fn watch_context(
        &mut self,
        frame: &dyn Frame,
        options: &ConfigValue,
        callback: Option<abi::WatchContext>,
    ) -> Answer<()> {
        let Some(callback) = callback else {
            return Answer::silent(());
        };
        // SAFETY: the function comes from the table of a plugin that stays loaded; the instance is
        // this call's alone, and the context lives until it returns.
        speak(frame, options, ptr::null(), |context| unsafe {
            callback(self.handle, context)
        })
    }

    /// Calls `should_run`: whether the pass may run.
    pub fn should_run(&mut self, options: &ConfigValue, pass: PassCall<'_>) -> Answer<bool> {
        let Some(callback) = self.entry.should_run else {
            return Answer::silent(true);
        };
        let mut runs = 1;
        let answer = self.watch_pass(options, pass, "", |told| {
            // SAFETY: as in `tell`; `runs` lives until the function returns.
            unsafe {
                callback(
                    told.instance,
                    told.context,
                    told.module,
                    told.pass,
                    &mut runs,
                )
            }
        });
        answer.and_then(|()| Ok(runs != 0))
    }

    /// Calls `run_before_pass`, before the pass runs.
    pub fn run_before_pass(&mut self, options: &ConfigValue, pass: PassCall<'_>) -> Answer<()> {
        self.tell(options, pass, "", self.entry.run_before_pass)
    }

    /// Calls `run_after_pass`, after the pass ran.
    pub fn run_after_pass(&mut self, options: &ConfigValue, pass: PassCall<'_>) -> Answer<()> {
        self.tell(options, pass, "", self.entry.run_after_pass)
    }

    /// Calls `pass_failed`, with the message of the pass's error.
    pub fn pass_failed(
        &mut self,
        options: &ConfigValue,
        pass: PassCall<'_>,
        error: impl FnOnce() -> String,
    ) -> Answer<()> {
        match self.entry.pass_failed {
            None => Answer::silent(()),
            callback => self.tell(options, pass, &error(), callback),
        }
    }

    #[inline]
    fn tell(
        &mut self,
        options: &ConfigValue,
        pass: PassCall<'_>,
        error: &str,
        callback: Option<abi::WatchPass>,
    ) -> Answer<()> {
        let Some(callback) = callback else {
            return Answer::silent(());
        };
        self.watch_pass(options, pass, error, |told| {
            // SAFETY: the function comes from the table of a plugin that stays loaded; the instance
            // is this call's alone; handles and records live until it returns.
            unsafe { callback(told.instance, told.context, told.module, told.pass) }
        })
    }

    #[inline]
    fn watch_pass(
        &mut self,
        options: &ConfigValue,
        pass: PassCall<'_>,
        error: &str,
        call: impl FnOnce(Told<'_>) -> Status,
    ) -> Answer<()> {
        self.functions.clear();
        self.functions.extend(pass.module.functions().map(entry));
        let session = ModuleSession::reading(pass.module, &self.functions, 0);
        let required = pass.info.required.iter();
        self.required
            .extend(required.map(|name| abi::Str::new(name)));
        let info = abi::PassInfo {
            opt_level: pass.info.opt_level,
            name: abi::Str::new(&pass.info.name),
            plugin: pass
                .provider
                .map_or(abi::Str::EMPTY, |provider| abi::Str::new(&provider.plugin)),
            required: self.required.as_ptr(),
            required_count: self.required.len(),
            error: abi::Str::new(error),
            ..abi::PassInfo::EMPTY
        };
        let answer = speak(pass.frame, options, &session, |context| {
            call(Told {
                instance: self.handle,
                context,
                module: &session.reference(),
                pass: &info,
            })
        });
        self.required.clear();
        answer
    }

    /// The instrument's report; `None` if it has none.
    pub fn report(&mut self, frame: &dyn Frame, options: &ConfigValue) -> Answer<Option<String>> {
        let Some(callback) = self.entry.report else {
            return Answer::silent(None);
        };
        let mut text = abi::Str::EMPTY;
        // SAFETY: as in `watch_context`; `text` lives until the function returns.
        let answer = speak(frame, options, ptr::null(), |context| unsafe {
            callback(self.handle, context, &mut text)
        });
        answer.and_then(|()| {
            // SAFETY: the contract: the text lives until the next call on the instance.
            match unsafe { input::said_text(text, "report", MAX_REPORT) } {
                Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
                Err(error) => Err(Box::new(CallFailure::new(error.message))),
            }
        })
    }
}

impl Instance {
    /// Frees the instance; the failure that it told of.
    pub fn end(mut self) -> Option<CallFailure> {
        self.free()
    }

    fn free(&mut self) -> Option<CallFailure> {
        let destroy = self.entry.destroy.take()?;
        // SAFETY: the function comes from the table of a plugin that stays loaded; the instance
        // was made by it and isn't used any more.
        ending::free(|| unsafe { destroy(self.handle) })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.free();
    }
}

/// Calls an instrument with a context of its own, in which diagnostics may be about a module.
#[inline]
fn speak(
    frame: &dyn Frame,
    options: &ConfigValue,
    module: *const ModuleSession<'_>,
    call: impl FnOnce(*mut abi::Context) -> Status,
) -> Answer<()> {
    let context = ContextSession::new(frame, options);
    let status = {
        let _entered = context.enter(ptr::null(), module);
        call(context.handle())
    };
    let missing = context.missing_definition();
    if status == Status::OK && missing.is_none() && context.is_silent() {
        return Answer::silent(());
    }
    answer(status, missing, &context)
}

/// The answer of an instrument that failed or emitted diagnostics.
#[cold]
fn answer(
    status: Status,
    missing: Option<MissingDefinition>,
    context: &ContextSession<'_>,
) -> Answer<()> {
    let result = match (status, missing) {
        (Status::OK, None) => Ok(()),
        // Without the definition the answer may be wrong.
        (Status::OK, Some(error)) => Err(CallFailure::new(error.to_string())),
        (Status(code), _) => Err(CallFailure {
            panicked: status == Status::PANICKED,
            ..context.take_failure().unwrap_or_else(|| {
                CallFailure::new(format!("it answered status {code} and didn't say why"))
            })
        }),
    };
    Answer {
        result: result.map_err(Box::new),
        diagnostics: context.take_diagnostics(),
    }
}
