//! A small module, passes that record their runs, and an instrument that records all callbacks.

use std::sync::{Arc, Mutex};

use expect_test::Expect;
use passdock::Frame;
use passdock::PassCall;
use passdock::{
    ContextBuilder, InstrumentResult, Module, PassContext, PassDeclaration, PassError, PassInfo,
    PassInstrument, PassRef, Registry, create_host_pass,
};
use passdock_abi as abi;
use passdock_ir::text;
use passdock_plugin_api as sdk;

/// Two graph functions and a prim function.
pub(crate) const TEXT: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }

  fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    return %0
  }

  prim @loop(%a: buffer<f32[8]>) {
    return
  }
}
"#;

pub(crate) fn module() -> Module {
    parse(TEXT)
}

pub(crate) fn parse(source: &str) -> Module {
    text::parse(source).unwrap_or_else(|error| panic!("{error:?}"))
}

/// A plugin with a pass and an op definition, whose entry rejects every host.
pub(crate) const REJECTING: sdk::StaticPlugin = {
    unsafe extern "C" fn reject(
        _: *const abi::Host,
        attach: *mut abi::Attach,
    ) -> *const abi::Plugin {
        // SAFETY: the host's `Attach` is valid until this function returns.
        unsafe { (*attach).reason = abi::Str::new("it has no license.") };
        std::ptr::null()
    }
    let manifest = b"[plugin]\n\
            name = 'gone'\nversion = '1.0.0'\nabi = '1.0'\nmin_host = '1.0'\nir = '1.0'\npanic = 'unwind'\n\
            [[pass]]\nname = 'gone.transform.Gone'\nkind = 'module'\n\
            [[op]]\nname = 'onnx.Relu'\nsince = 1\n\0";
    // SAFETY: an entry that always returns null is valid.
    unsafe { sdk::StaticPlugin::new(reject, manifest) }
};

/// Recorded events, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn new() -> Log {
        Log::default()
    }

    pub(crate) fn add(&self, event: impl Into<String>) {
        self.0.lock().unwrap().push(event.into());
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: Expect) {
        let events = self.take();
        expected.assert_eq(&events.join("\n"));
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// A pass that records its name and changes nothing.
    pub(crate) fn pass(&self, declared: impl Into<PassDeclaration>) -> PassRef {
        let declared = declared.into();
        let (log, name) = (self.clone(), declared.info.name.clone());
        create_host_pass(declared, move |module, _| {
            log.add(format!("run {name}"));
            Ok(module.clone())
        })
    }

    pub(crate) fn tap(&self, name: &str) -> Tap {
        Tap {
            name: name.to_owned(),
            log: self.clone(),
            fails: None,
            vetoes: false,
        }
    }
}

/// A pass `sets_metadata` that changes no function.
pub(crate) fn sets_metadata() -> PassRef {
    create_host_pass(info("sets_metadata"), |module, _| {
        let mut after = module.clone();
        after.set_metadata(vec![("key".to_owned(), "value".to_owned())]);
        Ok(after)
    })
}

/// An instrument that records its callbacks, and may fail.
pub(crate) struct Tap {
    name: String,
    log: Log,
    fails: Option<&'static str>,
    vetoes: bool,
}

impl Tap {
    /// Makes a callback fail.
    pub(crate) fn fails(mut self, callback: &'static str) -> Tap {
        self.fails = Some(callback);
        self
    }

    /// Makes the instrument skip each pass.
    pub(crate) fn vetoes(mut self) -> Tap {
        self.vetoes = true;
        self
    }

    fn event(&self, callback: &str, pass: &str) -> InstrumentResult {
        let event = format!("{} {callback} {pass}", self.name);
        self.log.add(event.trim_end());
        match self.fails == Some(callback) {
            true => Err(format!("{} is broken", self.name).into()),
            false => Ok(()),
        }
    }
}

impl PassInstrument for Tap {
    fn name(&self) -> &str {
        &self.name
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.event("enter", "")
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.event("exit", "")
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        let PassCall { info, .. } = *call;
        self.event("should_run", &info.name)?;
        Ok(!self.vetoes)
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        self.event("before", &info.name)
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        self.event("after", &info.name)
    }

    fn pass_failed(&self, call: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        let _ = self.event("failed", &info.name);
        Ok(())
    }
}

pub(crate) fn info(name: &str) -> PassInfo {
    PassInfo::new(name)
}

/// Returns a registry with these passes, and a context builder that uses it.
pub(crate) fn registered(passes: impl IntoIterator<Item = PassRef>) -> (Registry, ContextBuilder) {
    let registry = Registry::new();
    for pass in passes {
        registry.register(pass).unwrap();
    }
    let context = PassContext::builder()
        .registry(&registry)
        .on_diagnostic(|_| ());
    (registry, context)
}

/// Returns the error's text.
#[track_caller]
pub(crate) fn error<T>(result: Result<T, PassError>) -> String {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    }
}
