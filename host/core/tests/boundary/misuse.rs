//! Misuse of the plugin ABI: each case is a status and a message.

use expect_test::{Expect, expect};
use passdock_abi as abi;
use passdock_abi::{ConstId, DType, Dim, OpId, RegionId, Status, SymbolId, TypeId, ValueId};
use passdock_core::boundary::host;
use passdock_plugin_api::PassContext;

use crate::support::{TestFrame, module, raw, run, text};

#[test]
fn read_only_handles_reject_edits() {
    let module = module();
    let failed = run(&module, &TestFrame::new(), |_, cx| {
        let module = cx.module().ok_or("no module")?;
        let snapshot = module.snapshot("gone")?;
        // SAFETY: the handle is live. It is read-only, which the host must detect.
        let status = unsafe { raw().erase_op.expect("present")(snapshot.as_raw().handle, OpId(0)) };
        assert_eq!(status, Status::REJECTED);
        // SAFETY: as above.
        let error = unsafe { text(raw().last_error.expect("present")(snapshot.as_raw().handle)) };
        Err(error.into())
    });
    expect!["failed: cannot edit a snapshot of a function [main]"]
        .assert_eq(&failed.expect_err("a snapshot"));
    let module_ref = |cx: &PassContext| cx.module().map(|m| m.as_raw().handle);
    let failed = run(&module, &TestFrame::new(), move |_, cx| {
        let handle = module_ref(cx).ok_or("no module")?;
        let mut out = abi::FunctionRef {
            handle: std::ptr::null_mut(),
            view: std::ptr::null(),
        };
        // SAFETY: the handle is live. A function pass may not edit the module, which the host must detect.
        let error = unsafe {
            let modules = &*host().get().modules;
            assert_eq!(
                modules.edit.expect("present")(handle, SymbolId(12), &mut out),
                Status::REJECTED
            );
            text(modules.last_error.expect("present")(handle))
        };
        Err(error.into())
    });
    expect!["failed: only a module pass can edit the module [main]"]
        .assert_eq(&failed.expect_err("a function pass"));
}

/// Each misuse of a table by a plugin returns a status and a message, and changes nothing.
#[test]
fn misuse_is_rejected_with_a_message() {
    let module = module();
    type Case = (&'static str, fn(*mut abi::Function) -> Status, Expect);
    let cases: Vec<Case> = vec![
        (
            "no description",
            |f| create(f, std::ptr::null()),
            expect!["failed: the pointer to the OpDesc is null [main]"],
        ),
        (
            "a short description",
            |f| {
                let mut desc = op_desc();
                desc.struct_size = 4;
                create(f, &desc)
            },
            expect![
                "failed: invalid name \"\": expected `DOMAIN.NAME`, with quotes around parts with characters other \
                 than letters, digits and `_` [main]"
            ],
        ),
        (
            "an endless description",
            |f| {
                let mut desc = op_desc();
                desc.struct_size = u32::MAX;
                create(f, &desc)
            },
            expect![
                "failed: invalid `struct_size` 4294967295 of `OpDesc`: expected the size of the struct in bytes [main]"
            ],
        ),
        (
            "a count without a list",
            |f| {
                let mut desc = op_desc();
                desc.operand_count = 3;
                create(f, &desc)
            },
            expect!["failed: the pointer to the operands is null [main]"],
        ),
        (
            "a list that is too long",
            |f| {
                let mut desc = op_desc();
                desc.operands = &ValueId(0);
                desc.operand_count = usize::MAX;
                create(f, &desc)
            },
            expect![
                "failed: the list of operands is too long: 18446744073709551615 elements [main]"
            ],
        ),
        (
            "an unknown value",
            |f| {
                let mut desc = op_desc();
                let operand = ValueId(999);
                desc.operands = &operand;
                desc.operand_count = 1;
                create(f, &desc)
            },
            expect!["failed: function `@main` has no value v999 [main]"],
        ),
        (
            "an unknown name",
            |f| {
                let mut desc = op_desc();
                desc.name = SymbolId(123_456);
                create(f, &desc)
            },
            expect!["failed: sym123456 is not a symbol of the module [main]"],
        ),
        (
            "an attribute of an unknown kind",
            |f| {
                let mut attr = attr_desc();
                attr.kind = abi::AttrKind(77);
                let mut desc = op_desc();
                desc.attrs = &attr;
                desc.attr_count = 1;
                create(f, &desc)
            },
            expect!["failed: unknown attribute kind 77 [main]"],
        ),
        (
            "an op at an unknown location",
            |f| {
                let mut desc = op_desc();
                desc.loc = abi::LocId(7);
                create(f, &desc)
            },
            expect!["failed: function `@main` has no location loc7 [main]"],
        ),
        (
            "a region without a name",
            |f| {
                let mut desc = op_desc();
                let region = abi::RegionDesc {
                    name: SymbolId::NONE,
                    ..abi::RegionDesc::EMPTY
                };
                (desc.regions, desc.region_count) = (&region, 1);
                create(f, &desc)
            },
            expect!["failed: _ is not a symbol of the module [main]"],
        ),
        (
            "an attribute without a name",
            |f| set_attr(f, OpId(0), |attr| attr.name = abi::symbol::EMPTY),
            expect!["failed: missing name of an attribute [main]"],
        ),
        (
            "an op attribute marked as a parameter",
            |f| set_attr(f, OpId(0), |attr| attr.flags = abi::Attr::PARAM),
            expect![
                "failed: attribute `index` of an op cannot be a parameter; only functions have attribute parameters \
                    [main]"
            ],
        ),
        (
            "an attribute of a terminator",
            |f| set_attr(f, OpId(2), |_| {}),
            expect![
                "failed: cannot set an attribute of op2 (return): terminators have no attributes [main]"
            ],
        ),
        (
            "a reference to an unknown name",
            |f| {
                set_attr(f, OpId(0), |attr| {
                    (attr.kind, attr.bits) = (abi::AttrKind::REFERENCE, 123_456);
                })
            },
            expect!["failed: sym123456 is not a symbol of the module [main]"],
        ),
        (
            "a reference to an unknown attribute kind",
            |f| {
                set_attr(f, OpId(0), |attr| {
                    attr.kind = abi::AttrKind::REFERENCE;
                    attr.stands_for = abi::AttrKind(15);
                })
            },
            expect!["failed: unknown attribute kind 15 [main]"],
        ),
        (
            "a kind that only references have",
            |f| set_attr(f, OpId(0), |attr| attr.stands_for = abi::AttrKind::INT),
            expect!["failed: only a reference attribute can have `stands_for` [main]"],
        ),
        (
            "too many bits of a float",
            |f| {
                set_attr(f, OpId(0), |attr| {
                    (attr.kind, attr.bits) = (abi::AttrKind::FLOAT, 1 << 32);
                })
            },
            expect!["failed: expected 32 bits for an attribute, found 0x100000000 [main]"],
        ),
        (
            "too many bits of a type",
            |f| {
                set_attr(f, OpId(0), |attr| {
                    (attr.kind, attr.bits) = (abi::AttrKind::TYPE, 1 << 32);
                })
            },
            expect!["failed: expected 32 bits for an attribute, found 0x100000000 [main]"],
        ),
        (
            "a type of an unknown kind",
            |f| add_type(f, |desc| desc.kind = abi::TypeKind(99)),
            expect!["failed: unknown type kind 99 [main]"],
        ),
        (
            "a dtype of a newer ABI",
            |f| {
                let status = add_type(f, |desc| desc.dtype = DType(1 << 16));
                assert_eq!(status, Status::UNSUPPORTED);
                status
            },
            expect!["failed: unknown dtype 65536 [main]"],
        ),
        (
            "an invalid symbol as a dim",
            |f| {
                add_type(f, |desc| {
                    static DIM: Dim = Dim::symbol(SymbolId(123_456));
                    (desc.dims, desc.dim_count) = (&DIM, 1);
                })
            },
            expect!["failed: sym123456 is not a symbol of the module [main]"],
        ),
        (
            "a negative size",
            |f| {
                add_type(f, |desc| {
                    static DIM: Dim = Dim::constant(-1);
                    (desc.dims, desc.dim_count) = (&DIM, 1);
                })
            },
            expect!["failed: negative dim in a shape [main]"],
        ),
        (
            "a name that isn't UTF-8",
            |f| {
                let name = abi::Str {
                    ptr: b"\xff".as_ptr(),
                    len: 1,
                };
                // SAFETY: all pointers are valid. The text isn't.
                unsafe { raw().set_value_name.expect("present")(f, ValueId(0), name) }
            },
            expect!["failed: the name is not UTF-8 [main]"],
        ),
        (
            "an earlier opset version",
            |f| {
                // SAFETY: all pointers are valid.
                unsafe {
                    let set = raw().set_opset.expect("present");
                    assert!(set(f, abi::Str::new("t"), 1).is_ok());
                    assert!(set(f, abi::Str::new("t"), 2).is_ok());
                    set(f, abi::Str::new("t"), 1)
                }
            },
            expect![
                "failed: cannot lower the function's version of domain `t` from 2 to 1: its ops may need the later \
                    version [main]"
            ],
        ),
        (
            "the ONNX domain named `onnx`",
            |f| {
                // SAFETY: all pointers are valid.
                unsafe { raw().set_opset.expect("present")(f, abi::Str::new("onnx"), 17) }
            },
            expect![[
                r#"failed: invalid domain `onnx`: `set_opset` expects "" for the domain of ONNX [main]"#
            ]],
        ),
        (
            "the ONNX domain named `ai.onnx`",
            |f| {
                // SAFETY: all pointers are valid.
                unsafe {
                    let set = raw().set_opset.expect("present");
                    assert!(set(f, abi::Str::new("ai.onnx"), 17).is_ok());
                    set(f, abi::Str::new(""), 16)
                }
            },
            expect![
                "failed: cannot lower the function's version of domain `onnx` from 17 to 16: its ops may need the \
                    later version [main]"
            ],
        ),
        (
            "too many domains",
            |f| {
                let set = raw().set_opset.expect("present");
                let statuses = (0..2000).map(|number| {
                    let domain = format!("domain{number}");
                    // SAFETY: all pointers are valid.
                    unsafe { set(f, abi::Str::new(&domain), 1) }
                });
                statuses
                    .into_iter()
                    .find(|status| !status.is_ok())
                    .unwrap_or(Status::OK)
            },
            expect![
                "failed: cannot add domain `domain1024`: the function has the maximum of 1024 domains [main]"
            ],
        ),
        (
            "an unknown location",
            |f| {
                let (locs, mut out) = ([abi::LocId::NONE, abi::LocId(7)], abi::LocId::NONE);
                // SAFETY: all pointers are valid.
                unsafe { raw().fuse_locs.expect("present")(f, locs.as_ptr(), 2, &mut out) }
            },
            expect!["failed: function `@main` has no location loc7 [main]"],
        ),
        (
            "inlining a function body",
            |f| {
                // SAFETY: an empty list.
                unsafe {
                    raw().inline_region.expect("present")(f, RegionId(0), std::ptr::null(), 0)
                }
            },
            expect!["failed: cannot inline the body of a function: it has no parent op [main]"],
        ),
        (
            "an unknown location set on an op",
            |f| {
                // SAFETY: all pointers are valid.
                unsafe { raw().set_loc.expect("present")(f, OpId(0), abi::LocId(7)) }
            },
            expect!["failed: function `@main` has no location loc7 [main]"],
        ),
        (
            "comparing unknown constants",
            |f| {
                let mut out = 0;
                // SAFETY: all pointers are valid.
                unsafe {
                    raw().constants_equal.expect("present")(f, ConstId(0), ConstId(99), &mut out)
                }
            },
            expect!["failed: function `@main` has no constant const0 [main]"],
        ),
        (
            "the hash of an unknown constant",
            |f| {
                let mut out = 0;
                // SAFETY: all pointers are valid.
                unsafe { raw().constant_hash.expect("present")(f, ConstId(99), &mut out) }
            },
            expect!["failed: function `@main` has no constant const99 [main]"],
        ),
        (
            "a null pointer for the result",
            |f| {
                let at = abi::Position::end_of(RegionId(0));
                // SAFETY: the pointer for the result is null, which the host must detect.
                unsafe {
                    raw().create_op.expect("present")(f, &op_desc(), &at, std::ptr::null_mut())
                }
            },
            expect!["failed: the pointer to the result is null [main]"],
        ),
    ];
    for (title, misuse, expected) in cases {
        let failed = run(&module, &TestFrame::new(), move |f, _| {
            let handle = f.as_raw().handle;
            let status = misuse(handle);
            assert_ne!(status, Status::OK, "{title}");
            // SAFETY: the handle is live.
            let error = unsafe { text(raw().last_error.expect("present")(handle)) };
            Err(error.into())
        });
        expected.assert_eq(&failed.expect_err(title));
    }
    // A null handle can't store a message, so there is only a status.
    // SAFETY: the handle is null, which the host must detect.
    let status = unsafe { raw().erase_op.expect("present")(std::ptr::null_mut(), OpId(0)) };
    assert_eq!(status, Status::INVALID);
}

/// A 0 of a zeroed description counts as no symbol, where a symbol may be NONE.
#[test]
fn empty_symbol_counts_as_none() {
    let module = module();
    run(&module, &TestFrame::new(), |f, _| {
        let handle = f.as_raw().handle;
        let ty = |name: SymbolId, kind: abi::TypeKind| {
            let dims = [abi::Dim {
                denotation: name,
                ..abi::Dim::constant(3)
            }];
            let desc = abi::TypeDesc {
                kind,
                dtype: DType::F32,
                name,
                dims: dims.as_ptr(),
                dim_count: 1,
                ..abi::TypeDesc::EMPTY
            };
            let mut out = TypeId::NONE;
            // SAFETY: all pointers are valid.
            let status = unsafe { raw().add_type.expect("present")(handle, &desc, &mut out) };
            (status, out)
        };
        for kind in [abi::TypeKind::TENSOR, abi::TypeKind::BUFFER] {
            let result = ty(SymbolId::NONE, kind);
            assert_eq!(result.0, Status::OK);
            assert_eq!(ty(abi::symbol::EMPTY, kind), result);
        }
        let unnamed = ty(abi::symbol::EMPTY, abi::TypeKind::OPAQUE);
        assert_eq!(unnamed.0, Status::INVALID);
        Ok(())
    })
    .unwrap();
}

fn create(f: *mut abi::Function, desc: *const abi::OpDesc) -> Status {
    let at = abi::Position::end_of(RegionId(0));
    let mut out = OpId::NONE;
    // SAFETY: non-null pointers are valid.
    let status = unsafe { raw().create_op.expect("present")(f, desc, &at, &mut out) };
    assert!(out.is_none());
    status
}

fn set_attr(f: *mut abi::Function, op: OpId, change: impl FnOnce(&mut abi::AttrDesc)) -> Status {
    let mut attr = attr_desc();
    change(&mut attr);
    // SAFETY: all pointers are valid.
    unsafe { raw().set_attr.expect("present")(f, op, &attr) }
}

fn add_type(f: *mut abi::Function, change: impl FnOnce(&mut abi::TypeDesc)) -> Status {
    let mut desc = abi::TypeDesc {
        struct_size: size_of::<abi::TypeDesc>() as u32,
        kind: abi::TypeKind::TENSOR,
        dtype: DType::F32,
        lanes: 0,
        flags: 0,
        name: SymbolId::NONE,
        dims: std::ptr::null(),
        dim_count: 0,
        layout: std::ptr::null(),
        layout_count: 0,
        items: std::ptr::null(),
        item_count: 0,
    };
    change(&mut desc);
    let mut out = TypeId::NONE;
    // SAFETY: non-null pointers are valid.
    unsafe { raw().add_type.expect("present")(f, &desc, &mut out) }
}

fn op_desc() -> abi::OpDesc {
    abi::OpDesc {
        name: abi::symbol::IF,
        loc: abi::LocId::NONE,
        attr_stride: size_of::<abi::AttrDesc>() as u32,
        region_stride: size_of::<abi::RegionDesc>() as u32,
        ..abi::OpDesc::EMPTY
    }
}

fn attr_desc() -> abi::AttrDesc {
    abi::AttrDesc {
        struct_size: size_of::<abi::AttrDesc>() as u32,
        kind: abi::AttrKind::INT,
        name: abi::symbol::INDEX,
        flags: 0,
        bits: 0,
        data: std::ptr::null(),
        count: 0,
        stands_for: abi::AttrKind::NONE,
        reserved: 0,
    }
}

/// A handle is rejected on another thread, whatever the pass does meanwhile.
#[test]
fn handles_are_rejected_on_another_thread() {
    let module = module();
    let result = run(&module, &TestFrame::new(), |f, cx| {
        let context = cx.as_raw();
        let function = f.as_raw().handle;
        let modules = cx.module().ok_or("no module")?.as_raw().handle;
        let handles = [context.addr(), function.addr(), modules.addr()];
        let misuse = move || {
            let [context, function, modules] = handles;
            let (context, function) =
                (context as *mut abi::Context, function as *mut abi::Function);
            let modules = modules as *mut abi::Module;
            let host = host().get();
            let mut out = abi::FunctionRef {
                handle: std::ptr::null_mut(),
                view: std::ptr::null(),
            };
            // SAFETY: the handles are live. The host must detect that they are used on another thread.
            unsafe {
                let (cx, functions, of_modules) =
                    (&*host.context, &*host.functions, &*host.modules);
                assert_eq!(cx.opt_level.expect("present")(context), 0);
                cx.rewrote.expect("present")(context, abi::Str::new("a"));
                assert_eq!(
                    [
                        cx.emit.expect("present")(context, &abi::Diagnostic::EMPTY),
                        functions.erase_op.expect("present")(function, OpId(0)),
                        of_modules.edit.expect("present")(modules, SymbolId(0), &mut out),
                    ],
                    [Status::INVALID; 3]
                );
                let messages = [
                    text(cx.last_error.expect("present")(context)),
                    text(functions.last_error.expect("present")(function)),
                    text(of_modules.last_error.expect("present")(modules)),
                ];
                let other = "belongs to another thread";
                assert!(
                    messages.iter().all(|message| message.ends_with(other)),
                    "{messages:?}"
                );
            }
        };
        let threads: Vec<_> = (0..2)
            .map(|_| std::thread::spawn(move || (0..2000).for_each(|_| misuse())))
            .collect();
        for _ in 0..2000 {
            f.set_function_attr("seen", 1)?;
            assert!(cx.may_rewrite("a"));
        }
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")?;
        }
        Ok(())
    });
    assert!(result.expect("works").is_some());
}
