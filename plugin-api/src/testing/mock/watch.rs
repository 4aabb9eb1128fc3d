//! An instrument in a test: made and called through its plugin's table, as a host does, around
//! edits of one function.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::Status;

use super::arena::MockFunction;
use super::context::{Failure, MockContext};
use super::module::MockModule;
use super::tables::{host, tables};
use crate::data::OptionValue;
use crate::ir::Function;
use crate::plugin::StaticPlugin;
use crate::raw::text;

/// An instance of an instrument, and a module with the graph function `main` for it to look at.
pub struct Watch {
    entry: abi::InstrumentEntry,
    instance: *mut c_void,
    context: Box<MockContext>,
    module: Box<MockModule>,
}

impl Watch {
    /// Makes an instance of a plugin's instrument; why it refused, if it did. Options that aren't
    /// given are at their defaults.
    pub fn new(
        plugin: &StaticPlugin,
        instrument: &str,
        options: &[(&str, OptionValue)],
    ) -> Result<Watch, Failure> {
        // SAFETY: this is the host, and keeps the contract.
        let entry = unsafe {
            let table = (plugin.entry)(host());
            assert!(!table.is_null(), "the plugin refuses the mock host");
            let (base, count) = ((*table).instruments, (*table).instrument_count as usize);
            let entries = std::slice::from_raw_parts(base, count);
            let mut named = entries.iter();
            let found = named.find(|entry| text(entry.name) == instrument);
            *found.unwrap_or_else(|| panic!("the plugin has no instrument `{}`", instrument))
        };
        let mut watch = Watch {
            entry,
            instance: std::ptr::null_mut(),
            context: Box::default(),
            module: Box::new(MockModule {
                function: MockFunction::new(),
                error: String::new(),
            }),
        };
        let given = options.iter();
        watch.context.options = given
            .map(|(name, value)| ((*name).to_owned(), value.into()))
            .collect();
        let create = entry.create.expect("an instrument can be made");
        let mut instance = std::ptr::null_mut();
        // SAFETY: as above.
        watch.call(|_, context| unsafe { create(entry.state, context, &mut instance) })?;
        watch.instance = instance;
        Ok(watch)
    }

    /// Changes the function `main`, as a pass would.
    pub fn edit(&mut self, then: impl FnOnce(&mut Function)) {
        let handle: *mut MockFunction = &mut *self.module.function;
        // SAFETY: the function lives as long as `self`, and only `then` uses it.
        unsafe {
            (*handle).refresh();
            let reference = abi::FunctionRef {
                handle: handle.cast(),
                view: (*handle).view,
            };
            then(&mut Function::from_raw(tables(), reference));
        }
    }

    /// The context is about to be entered.
    pub fn enter_pass_ctx(&mut self) -> Result<(), Failure> {
        let run = self.entry.enter_pass_ctx.expect("the SDK fills all in");
        // SAFETY: the instance is alive, and so is the context until the function returns.
        self.call(|instance, context| unsafe { run(instance, context) })
    }

    /// The context was left.
    pub fn exit_pass_ctx(&mut self) -> Result<(), Failure> {
        let run = self.entry.exit_pass_ctx.expect("the SDK fills all in");
        // SAFETY: as above.
        self.call(|instance, context| unsafe { run(instance, context) })
    }

    /// Whether the pass may run.
    pub fn should_run(&mut self, pass: &str) -> Result<bool, Failure> {
        let run = self.entry.should_run.expect("the SDK fills all in");
        let mut runs = 1;
        self.told(pass, "", |instance, context, module, info| {
            // SAFETY: as above; the records live until the function returns.
            unsafe { run(instance, context, module, info, &mut runs) }
        })?;
        Ok(runs != 0)
    }

    /// The pass is about to run.
    pub fn run_before_pass(&mut self, pass: &str) -> Result<(), Failure> {
        let run = self.entry.run_before_pass.expect("the SDK fills all in");
        // SAFETY: as above.
        self.told(pass, "", |i, context, m, info| unsafe {
            run(i, context, m, info)
        })
    }

    /// The pass ran.
    pub fn run_after_pass(&mut self, pass: &str) -> Result<(), Failure> {
        let run = self.entry.run_after_pass.expect("the SDK fills all in");
        // SAFETY: as above.
        self.told(pass, "", |i, context, m, info| unsafe {
            run(i, context, m, info)
        })
    }

    /// The pass failed.
    pub fn pass_failed(&mut self, pass: &str, error: &str) -> Result<(), Failure> {
        let run = self.entry.pass_failed.expect("the SDK fills all in");
        // SAFETY: as above.
        self.told(pass, error, |i, context, m, info| unsafe {
            run(i, context, m, info)
        })
    }

    /// The report that the instrument has to show.
    pub fn report(&mut self) -> Result<String, Failure> {
        let run = self.entry.report.expect("the SDK fills all in");
        let mut shown = abi::Str::EMPTY;
        // SAFETY: as above.
        self.call(|instance, context| unsafe { run(instance, context, &mut shown) })?;
        // SAFETY: lives until the next call on the instance.
        Ok(unsafe { text(shown) }.to_owned())
    }

    /// The messages of the diagnostics since this was last asked.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.context.messages)
    }

    fn call(
        &mut self,
        run: impl FnOnce(*mut c_void, *mut abi::Context) -> Status,
    ) -> Result<(), Failure> {
        let context: *mut MockContext = &mut *self.context;
        if run(self.instance, context.cast()).is_ok() {
            return Ok(());
        }
        let failure = self.context.failure.take();
        Err(failure.expect("a function that fails says why"))
    }

    fn told(
        &mut self,
        pass: &str,
        error: &str,
        run: impl FnOnce(
            *mut c_void,
            *mut abi::Context,
            *const abi::ModuleRef,
            *const abi::PassInfo,
        ) -> Status,
    ) -> Result<(), Failure> {
        let module: *mut MockModule = &mut *self.module;
        // SAFETY: only this thread has the module.
        let entry = unsafe {
            (*module).function.refresh();
            abi::FunctionEntry {
                name: (*(*module).function.view).name,
                kind: abi::FunctionKind::GRAPH,
                op_count: (*(*module).function.view).op_count,
                reserved: 0,
            }
        };
        let view = abi::ModuleView {
            struct_size: std::mem::size_of::<abi::ModuleView>() as u32,
            reserved: 0,
            version: 0,
            symbols: std::ptr::null(),
            functions: abi::Column {
                base: (&entry as *const abi::FunctionEntry).cast(),
                len: 1,
                stride: std::mem::size_of::<abi::FunctionEntry>() as u32,
            },
        };
        let reference = abi::ModuleRef {
            handle: module.cast(),
            view: &view,
        };
        let info = abi::PassInfo {
            struct_size: std::mem::size_of::<abi::PassInfo>() as u32,
            opt_level: 0,
            name: abi::Str::new(pass),
            plugin: abi::Str::EMPTY,
            required: std::ptr::null(),
            required_count: 0,
            error: abi::Str::new(error),
        };
        self.call(|instance, context| run(instance, context, &reference, &info))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.entry.destroy, self.instance.is_null()) {
            // SAFETY: made by `create`, and not used after this.
            unsafe { destroy(self.instance) }
        }
    }
}
