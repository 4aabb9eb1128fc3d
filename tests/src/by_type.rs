//! Rules of the pass infrastructure that Rust's types keep: what would break one doesn't compile.
//!
//! Where the rule speaks of values that come from a file, a test of the conformance suite shows the
//! same for TOML.

/// KEEP. `required` is a list; a string is rejected.
///
/// ```
/// passdock::PassInfo::new("a").required(["b"]);
/// ```
/// ```compile_fail,E0277
/// passdock::PassInfo::new("a").required("b");
/// ```
pub fn r005_required_is_a_list() {}

/// KEEP. A context's fields are read-only once it is built.
///
/// ```
/// let cx = passdock::PassContext::builder().opt_level(3).build().unwrap();
/// assert_eq!(cx.opt_level(), 3);
/// ```
/// ```compile_fail,E0616
/// let mut cx = passdock::PassContext::builder().build().unwrap();
/// cx.opt_level = 3;
/// ```
pub fn r026_contexts_are_read_only() {}

/// KEEP. The lists of names accept any collection.
///
/// ```
/// # use std::collections::BTreeSet;
/// let cx = passdock::PassContext::builder;
/// cx().required_pass(["a"]).disabled_pass(vec!["b".to_owned()]);
/// cx().required_pass(BTreeSet::from(["a"])).disabled_pass(&["b".to_owned()]);
/// ```
pub fn r027_names_accept_any_collection() {}

/// FIX. A string isn't a list of names.
///
/// TVM: it is split into letters.
///
/// ```compile_fail,E0277
/// passdock::PassContext::builder().disabled_pass("FoldConstant");
/// ```
pub fn r028_string_is_rejected_as_list_of_names() {}

/// KEEP. Names are strings, levels are integers ≥ 0, and there are no other fields.
///
/// ```compile_fail,E0308
/// passdock::PassContext::builder().opt_level("2");
/// ```
/// ```compile_fail,E0308
/// passdock::PassContext::builder().opt_level(true);
/// ```
/// ```compile_fail,E0277
/// passdock::PassContext::builder().required_pass([1]);
/// ```
pub fn r030_other_types_are_rejected() {}

/// KEEP. A config value can't be None.
///
/// ```compile_fail,E0277
/// passdock::PassContext::builder().config("tir.limit", None::<i64>);
/// ```
pub fn r039_none_is_rejected_as_value() {}

/// KEEP. The caller's config value isn't changed: it is moved or cloned.
///
/// ```compile_fail,E0382
/// let value = passdock::toml::Value::from(8);
/// let cx = passdock::PassContext::builder().config("tir.limit", value);
/// println!("{value}");
/// ```
pub fn r041_config_value_is_not_changed() {}

/// KEEP. A Sequential takes a list of passes; a single pass is rejected.
///
/// ```compile_fail,E0277
/// let pass = passdock::Registry::new().get_pass("a").unwrap();
/// passdock::Sequential::new(pass);
/// ```
pub fn r070_sequential_takes_a_list() {}

/// FIX. A child must be a pass, not None.
///
/// TVM: a None child fails at run time, after other passes ran.
///
/// ```compile_fail,E0277
/// let pass = passdock::Registry::new().get_pass("a").unwrap();
/// passdock::Sequential::new([Some(pass), None]);
/// ```
pub fn r071_every_child_is_a_pass() {}

/// FIX. A module pass edits its module in place; it can't return None.
///
/// TVM: None is an error at run time that doesn't name the pass.
///
/// ```
/// # use passdock::{PassInfo, create_module_pass};
/// create_module_pass(PassInfo::new("a"), |_, _| Ok(()));
/// ```
/// ```compile_fail,E0308
/// # use passdock::{PassInfo, create_module_pass};
/// create_module_pass(PassInfo::new("a"), |_, _| None);
/// ```
pub fn r078_module_pass_edits_in_place() {}

/// FIX. A pass can't be called with None.
///
/// TVM: it fails after instruments were called with None.
///
/// ```compile_fail,E0308
/// let pass = passdock::Registry::new().get_pass("a").unwrap();
/// pass.call(None);
/// ```
pub fn r079_pass_must_be_called_with_a_module() {}

/// FIX. A function pass sees its module read-only.
///
/// TVM: it can add functions to it.
///
/// ```
/// # use passdock::{PassInfo, create_function_pass};
/// create_function_pass(PassInfo::new("a"), |_, cx| {
///     let module = cx.module().ok_or("there is none")?;
///     module.snapshot("main")?;
///     Ok(())
/// });
/// ```
/// ```compile_fail,E0596
/// # use passdock::{PassInfo, create_function_pass};
/// create_function_pass(PassInfo::new("a"), |_, cx| {
///     let module = cx.module().ok_or("there is none")?;
///     module.remove("main")?;
///     Ok(())
/// });
/// ```
pub fn r083_module_of_function_pass_is_read_only() {}

/// FIX. A function pass edits its function in place; it can't return None.
///
/// TVM: None is stored in the module.
///
/// ```compile_fail,E0308
/// # use passdock::{PassInfo, create_function_pass};
/// create_function_pass(PassInfo::new("a"), |_, _| None);
/// ```
pub fn r084_function_pass_edits_in_place() {}

/// FIX. It can't return a value of another kind either.
///
/// TVM: a TypeError that names neither pass nor function.
///
/// ```compile_fail,E0308
/// # use passdock::{Module, PassInfo, create_function_pass};
/// create_function_pass(PassInfo::new("a"), |_, _| Ok(Module::new()));
/// ```
pub fn r085_function_pass_cannot_return_other_kinds() {}

/// FIX. A prim function pass can't return None either; module passes remove functions.
///
/// TVM: None removes the function.
///
/// ```compile_fail,E0308
/// # use passdock::{PassInfo, create_prim_func_pass};
/// create_prim_func_pass(PassInfo::new("a"), |_, _| None);
/// ```
pub fn r086_prim_function_pass_cannot_remove_functions() {}

/// FIX. `should_run` returns a bool.
///
/// TVM: None or a string is a TypeError that doesn't name the instrument.
///
/// ```
/// # use passdock::{InstrumentResult, PassCall, PassInstrument};
/// struct Asks;
/// impl PassInstrument for Asks {
///     fn name(&self) -> &str {
///         "asks"
///     }
///     fn should_run(&self, _: &PassCall<'_>) -> InstrumentResult<bool> {
///         Ok(true)
///     }
/// }
/// ```
/// ```compile_fail,E0308
/// # use passdock::{InstrumentResult, PassCall, PassInstrument};
/// struct Asks;
/// impl PassInstrument for Asks {
///     fn name(&self) -> &str {
///         "asks"
///     }
///     fn should_run(&self, _: &PassCall<'_>) -> InstrumentResult<bool> {
///         Ok(None)
///     }
/// }
/// ```
pub fn r105_should_run_returns_a_bool() {}

/// FIX. Instruments get a read-only module.
///
/// TVM: changes in `run_before_pass` are seen by the pass.
///
/// ```compile_fail,E0596
/// # use passdock::{InstrumentResult, PassCall, PassInstrument};
/// struct Edits;
/// impl PassInstrument for Edits {
///     fn name(&self) -> &str {
///         "edits"
///     }
///     fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
///         let PassCall { module, .. } = *call;
///         let main = module.symbols().intern("main");
///         module.remove(main);
///         Ok(())
///     }
/// }
/// ```
pub fn r118_instruments_get_a_read_only_module() {}
