//! Reading and editing a function.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::{dump, mock::scratch};
use passdock_plugin_api::{Attr, Status};

/// `main(x) { a = Relu(x); b = Relu(a); c = Add(b, b); return c }`, and the three ops.
fn chain(f: &mut Function) -> Result<[OpId; 3], EditError> {
    let ty = f.add_type(&TypeSpec::shaped(DType::F32, &[2, 3]))?;
    let mut b = FunctionBuilder::new(f);
    let x = b.param("x", ty)?;
    let relu = |x| OpBuilder::new("onnx.Relu").operand(x).result(ty);
    let first = b.op(relu(x))?;
    let a = b.function().result(first, 0);
    let second = b.op(relu(a))?;
    let r = b.function().result(second, 0);
    let third = b.op(OpBuilder::new("onnx.Add").operands([r, r]).result(ty))?;
    let c = b.function().result(third, 0);
    b.finish(&[c])?;
    Ok([first, second, third])
}

#[track_caller]
fn check(edit: impl FnOnce(&mut Function, [OpId; 3]) -> Result<(), EditError>, after: &str) {
    scratch(|f, _| {
        let ops = chain(f).unwrap();
        edit(f, ops).unwrap();
        assert_eq!(dump(f), after);
    });
}

#[test]
fn a_built_function_reads_as_it_was_built() {
    check(
        |_, _| Ok(()),
        "@main(v0)\n  \
         v1 = onnx.Relu(v0)\n  \
         v2 = onnx.Relu(v1)\n  \
         v3 = onnx.Add(v2, v2)\n  \
         return(v3)\n",
    );
}

#[test]
fn replacing_by_values_moves_all_uses() {
    check(
        |f, [first, second, _]| f.replace_op_with(second, &[f.result(first, 0)]),
        "@main(v0)\n  \
         v1 = onnx.Relu(v0)\n  \
         v3 = onnx.Add(v1, v1)\n  \
         return(v3)\n",
    );
}

#[test]
fn replacing_by_an_op_keeps_number_and_place() {
    check(
        |f, [first, second, _]| {
            let x = f.result(first, 0);
            let gelu = OpBuilder::new("acme.Gelu").operands([x, ValueId::NONE]);
            let new = f.replace_op(second, gelu.attr("alpha", 0.5))?;
            assert_eq!(f.operand(new, 1), None);
            assert_eq!(f.operand_count(new), 2);
            Ok(())
        },
        "@main(v0)\n  \
         v1 = onnx.Relu(v0)\n  \
         v4 = acme.Gelu(v1, _) alpha=0.5\n  \
         v3 = onnx.Add(v4, v4)\n  \
         return(v3)\n",
    );
}

#[test]
fn operands_are_set_appended_and_left_out() {
    check(
        |f, [first, second, third]| {
            let (a, b) = (f.result(first, 0), f.result(second, 0));
            f.set_operand(third, 0, a)?;
            f.set_operand(third, 2, ValueId::NONE)?;
            assert_eq!((f.use_count(a), f.use_count(b)), (2, 1));
            Ok(())
        },
        "@main(v0)\n  \
         v1 = onnx.Relu(v0)\n  \
         v2 = onnx.Relu(v1)\n  \
         v3 = onnx.Add(v1, v2, _)\n  \
         return(v3)\n",
    );
}

#[test]
fn iterators_skip_what_is_erased_meanwhile_and_end_with_the_function() {
    let mut kept = None;
    scratch(|f, _| {
        let [first, second, third] = chain(f).unwrap();
        let mut met = Vec::new();
        for op in f.ops_named("onnx.Relu") {
            met.push(op);
            if op == first {
                let x = f.params()[0];
                f.replace_op_with(second, &[x]).unwrap();
            }
        }
        assert_eq!(met, [first]);
        let backwards: Vec<OpId> = f.ops().rev().skip(1).collect();
        assert_eq!(backwards, [third, first]);
        assert_eq!(f.iter().count(), 3);
        let uses: Vec<_> = f
            .uses(f.params()[0])
            .map(|one| (one.op, one.index))
            .collect();
        assert_eq!(uses.len(), 3); // once by `first`, twice by `third`
        assert_eq!(f.users(f.params()[0]).filter(|op| *op == third).count(), 1);
        kept = Some(f.ops());
    });
    assert_eq!(kept.unwrap().next(), None);
}

#[test]
fn refused_edits_change_nothing_and_say_why() {
    scratch(|f, _| {
        let [first, second, _] = chain(f).unwrap();
        let before = dump(f);
        let error = f.erase_op(first).unwrap_err();
        assert_eq!(error.status, Status::REFUSED);
        assert_eq!(error.message, "op0 can't be erased: its result v1 is used");
        assert_eq!(error.op, Some(first));
        assert_eq!(PassError::from(error).op, Some(first));

        let error = f.replace_op_with(second, &[]).unwrap_err();
        assert_eq!(
            error.message,
            "op1 has 1 results, and 0 values were given for them"
        );
        let error = f.erase_op(OpId(77)).unwrap_err();
        assert_eq!(error.status, Status::STALE);
        // This host can't erase constants: its table has no such function.
        let error = f.erase_constant(ConstId(0)).unwrap_err();
        assert_eq!(error.status, Status::UNSUPPORTED);
        assert!(error.message.contains("`erase_constant`"), "{}", error);
        f.set_opset("acme", 1).unwrap();
        assert_eq!(f.set_opset("acme", 2).unwrap_err().status, Status::REFUSED);
        assert_eq!((f.opset("acme"), f.opset("other")), (Some(1), None));
        assert_eq!(dump(f), before);
    });
}

#[test]
fn a_stale_id_is_never_another_op() {
    scratch(|f, _| {
        let [first, second, _] = chain(f).unwrap();
        f.replace_op_with(second, &[f.result(first, 0)]).unwrap();
        assert!(f.is_live(first) && !f.is_live(second));
        let read =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f.name(second).to_owned()));
        let panic = read.unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(
            message.starts_with("op1 names nothing in this function"),
            "{}",
            message
        );
        assert_eq!(f.use_count(ValueId::NONE), 0);
        assert_eq!(f.defining_op(ValueId::NONE), None);
    });
}

#[test]
fn attributes_come_back_as_they_were_set() {
    scratch(|f, _| {
        let [op, ..] = chain(f).unwrap();
        f.set_attr(op, "axis", -1).unwrap();
        f.set_attr(op, "alpha", 0.25).unwrap();
        f.set_attr(op, "mode", "same").unwrap();
        f.set_attr(op, "pads", [1, 2]).unwrap();
        f.set_attr(op, "scales", [0.5f32]).unwrap();
        f.set_attr(op, "names", ["a", "", "ü"]).unwrap();
        f.set_attr(op, "axis", 7).unwrap();
        assert_eq!(f.int(op, "axis"), Some(7));
        assert_eq!(f.float(op, "alpha"), Some(0.25));
        assert_eq!(f.string(op, "mode"), Some("same"));
        assert_eq!(f.ints(op, "pads"), Some(&[1, 2][..]));
        assert_eq!(f.floats(op, "scales"), Some(&[0.5][..]));
        let names: Vec<&[u8]> = f.strings(op, "names").unwrap().collect();
        assert_eq!(names, ["a".as_bytes(), b"", "ü".as_bytes()]);
        // Of another kind, or not there.
        assert_eq!(f.int(op, "mode"), None);
        assert_eq!(f.int(op, "never-heard-of"), None);
        assert_eq!(f.attrs(op).count(), 6);
        let copy = f
            .attr(op, "names")
            .and_then(|attr| attr.to_value())
            .unwrap();
        f.remove_attr(op, "names").unwrap();
        assert!(f.attr(op, "names").is_none());
        f.set_function_attr("SkipOptimization", copy).unwrap();
        assert!(matches!(
            f.function_attr("SkipOptimization"),
            Some(Attr::Strings(_))
        ));
    });
}

#[test]
fn types_and_constants_are_read_in_place() {
    scratch(|f, _| {
        let n = f.intern("n").unwrap();
        let dims = [Dim::symbol(n), Dim::constant(3), Dim::UNKNOWN];
        let ty = f.add_type(&TypeSpec::tensor(DType::F32, dims)).unwrap();
        let again = f.add_type(&TypeSpec::tensor(DType::F32, dims)).unwrap();
        assert_eq!(ty, again);
        assert_eq!(f.ty(ty).to_string(), "f32[n,3,?]");
        assert_eq!(f.ty(ty).rank(), Some(3));
        assert_eq!(f.ty(ty).shape(), None);
        let unranked = f.add_type(&TypeSpec::unranked(DType::I64)).unwrap();
        assert_eq!(f.ty(unranked).rank(), None);

        let axes = f.add_ints(&[1, -2]).unwrap();
        assert_eq!(f.shape(axes), Some(vec![2]));
        assert_eq!(f.constant_ints(axes), Ok(Some(vec![1, -2])));
        assert_eq!(f.constant_floats(axes), Ok(None));
        assert!(f.constant(axes).is_some() && f.defining_op(axes).is_none());
    });
}
