//! Passes on the module: several functions at once, and handles that end.

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{FunctionKind, OpId, Status, SymbolId, TypeId, ValueId};
use passdock_core::boundary::host;

use crate::support::{module, raw, run_module, text};

#[test]
fn module_pass_edits_several_functions() {
    let module = module();
    let changed = run_module(&module, |m, _| {
        let before = m.snapshot("main")?;
        let f = m.edit("main")?;
        let last = f.ops_named("t.A").nth(1).ok_or("no op")?;
        let value = f.operand(last, 0).ok_or("no operand")?;
        f.replace_op_with(last, &[value])?;
        let after = m.snapshot("main")?;
        assert_eq!((before.op_count(), after.op_count()), (3, 2));
        // An edit after a snapshot copies again, and the snapshot doesn't change.
        let f = m.edit("main")?;
        let param = f.params()[0];
        f.set_value_name(param, "renamed")?;
        assert_eq!(after.value_name(after.params()[0]), Some("x"));
        m.remove("gone")?;
        let created = m.create("helper", FunctionKind::GRAPH, None)?;
        let body = created.body();
        let arg = created.add_arg(body, "p", TypeId(0))?;
        created.set_results(body, &[arg])?;
        let names: Vec<String> = m.functions().map(|e| m.text(e.name).to_owned()).collect();
        assert_eq!(names, ["main", "helper"]);
        assert!(m.create("helper", FunctionKind::GRAPH, None).is_err());
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    let list: Vec<(&str, usize)> = changed
        .functions()
        .map(|f| (f.text(f.name()), f.op_count()))
        .collect();
    assert_eq!(list, [("main", 1), ("helper", 0)]);
    assert_eq!(module.len(), 2);
}

#[test]
fn running_a_pass_invalidates_handles() {
    let module = module();
    let changed = run_module(&module, |m, cx| {
        let f = m.edit("main")?;
        let param = f.params()[0];
        f.set_value_name(param, "renamed")?;
        let stale = f.as_raw();
        m.run_pass(cx, "t.transform.Remove")?;
        assert_eq!(m.functions().len(), 1);
        // SAFETY: the handle has ended, which the host must detect.
        let status =
            unsafe { raw().set_value_type.expect("present")(stale.handle, ValueId(0), TypeId(0)) };
        assert_eq!(status, Status::STALE);
        assert_eq!(m.edit("main")?.value_name(ValueId(0)), Some("renamed"));
        let unknown = m
            .run_pass(cx, "t.transform.Nobody")
            .expect_err("no such pass");
        assert_eq!(unknown.message, "no pass is named `t.transform.Nobody`");
        assert_eq!(unknown.status, Some(Status::NOT_FOUND));
        Ok(())
    });
    assert_eq!(changed.expect("works").expect("changed").len(), 1);
}

#[test]
fn outlining_is_rejected_with_a_message() {
    let failed = run_module(&module(), |m, _| {
        let main = m.functions().next().ok_or("no function")?.name;
        let module = m.as_raw().handle;
        let mut created = SymbolId::NONE;
        let outline = |name, size: usize, created: *mut SymbolId| {
            let desc = abi::OutlineDesc {
                struct_size: size as u32,
                function: main,
                ops: &OpId(0),
                op_count: 1,
                name: abi::Str::new(name),
                ..abi::OutlineDesc::EMPTY
            };
            let mut call = OpId::NONE;
            // SAFETY: the handle is live, and the other pointers are valid or null.
            unsafe {
                let modules = &*host().get().modules;
                let status = modules.outline.expect("present")(module, &desc, created, &mut call);
                let message = text(modules.last_error.expect("present")(module));
                match status {
                    Status::OK => "outlined".to_owned(),
                    Status(code) => format!("{code} {message}"),
                }
            }
        };
        let size = size_of::<abi::OutlineDesc>();
        let results = [
            outline("onnx.Block", size, &mut created),
            outline("acme.Block", 4, &mut created),
            outline("acme.Block", size, std::ptr::null_mut()),
            outline("acme.Block", size, &mut created),
            outline("acme.Block", size, &mut created),
        ];
        Err(results.join("\n").into())
    });
    expect![["
        2 function name `onnx.Block` needs a domain to differ from ONNX operators, as in `acme.Block`
        3 invalid name \"\": expected `DOMAIN.NAME`, with quotes around parts with characters other than letters, \
          digits and `_`
        3 the pointer to the result is null
        outlined
        1 op0 was erased"]]
    .assert_eq(&failed.expect_err("the pass fails"));
}
