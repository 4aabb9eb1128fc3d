//! Reading and editing one function. Each pass expects this input: `@main(x)` with `a = Relu(x)`, `b = Relu(a)`,
//! `c = Add(b, b)`.

use crate::dump::dump;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::Status;

/// Returns the three ops.
pub fn chain(f: &Function) -> Result<[OpId; 3], PassError> {
    let ops: Vec<OpId> = f.ops().take(3).collect();
    match ops[..] {
        [first, second, third] => Ok([first, second, third]),
        _ => Err("the function hasn't three ops".into()),
    }
}

pub fn keep(f: &mut Function, cx: &PassContext) -> PassResult {
    let [first, second, third] = chain(f)?;
    assert_eq!(f.name(first), "onnx.Relu");
    assert_eq!(f.operand(second, 0), Some(f.result(first, 0)));
    assert_eq!(f.operand_count(third), 2);
    assert_eq!(f.terminator(f.body()), f.next_op(third));
    assert!(f.is_before(first, third) && !f.is_before(third, first));
    assert_eq!(f.shape(f.params()[0]), Some(vec![2, 3]));
    assert_eq!(cx.opt_level(), 4);
    Ok(())
}

pub fn replace_with_values(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, _] = chain(f)?;
    f.replace_op_with(second, &[f.result(first, 0)])?;
    assert!(f.is_live(first) && !f.is_live(second));
    Ok(())
}

pub fn replace_by_op(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, _] = chain(f)?;
    f.set_opset("acme", 1)?;
    let x = f.result(first, 0);
    let gelu = OpBuilder::new("acme.Gelu").operands([x, ValueId::NONE]);
    let new = f.replace_op(second, gelu.attr("alpha", 0.5))?;
    assert_eq!(f.operand(new, 1), None);
    assert_eq!(f.operand_count(new), 2);
    Ok(())
}

pub fn set_operands(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, third] = chain(f)?;
    let (a, b) = (f.result(first, 0), f.result(second, 0));
    f.set_operand(third, 0, a)?;
    f.set_operand(third, 2, ValueId::NONE)?;
    assert_eq!((f.use_count(a), f.use_count(b)), (2, 1));
    Ok(())
}

/// Iteration skips ops that were erased meanwhile.
pub fn iterate(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, third] = chain(f)?;
    let x = f.params()[0];
    let mut met = Vec::new();
    for op in f.ops_named("onnx.Relu") {
        met.push(op);
        if op == first {
            f.replace_op_with(second, &[x])?;
        }
    }
    assert_eq!(met, [first]);
    let backwards: Vec<OpId> = f.ops().rev().skip(1).collect();
    assert_eq!(backwards, [third, first]);
    assert_eq!(f.iter().count(), 3);
    let uses: Vec<_> = f.uses(x).map(|one| (one.op, one.index)).collect();
    assert_eq!(uses.len(), 3); // once by `first`, twice by `third`
    assert_eq!(f.users(x).filter(|op| *op == third).count(), 1);
    Ok(())
}

/// Rejected edits change nothing and return an error.
pub fn rejected_edits(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, _] = chain(f)?;
    let before = dump(f);
    let error = f.erase_op(first).unwrap_err();
    assert_eq!((error.status, error.op), (Status::REJECTED, Some(first)));
    assert!(error.message.contains("is used"), "{}", error);
    assert_eq!(PassError::from(error).op, Some(first));

    let error = f.replace_op_with(second, &[]).unwrap_err();
    assert_eq!(error.status, Status::INVALID, "{}", error);
    let error = f.erase_op(OpId(77)).unwrap_err();
    assert_eq!(error.status, Status::STALE, "{}", error);
    f.set_opset("acme", 2)?;
    assert_eq!(f.set_opset("acme", 1).unwrap_err().status, Status::REJECTED);
    assert_eq!((f.opset("acme"), f.opset("other")), (Some(2), None));
    f.set_opset("other", 1)?;
    f.set_opset("other", 0)?;
    assert_eq!(f.opset("other"), None);
    assert_eq!(f.set_opset("", 0).unwrap_err().status, Status::REJECTED);
    assert_eq!(dump(f), before);
    Ok(())
}

/// A stale id is never reused for another op.
pub fn stale(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, third] = chain(f)?;
    f.replace_op_with(second, &[f.result(first, 0)])?;
    let relu = OpBuilder::new("onnx.Relu").operand(f.params()[0]);
    let new = f.create_op(relu.untyped_results(1), Position::before(third))?;
    assert!(new != second && !f.is_live(second));
    assert_eq!(f.erase_op(second).unwrap_err().status, Status::STALE);
    f.erase_op(new)?;
    assert_eq!(f.use_count(ValueId::NONE), 0);
    assert_eq!(f.defining_op(ValueId::NONE), None);
    Ok(())
}

/// Attributes are read as they were set.
pub fn attributes(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [op, ..] = chain(f)?;
    f.set_attr(op, "axis", -1)?;
    f.set_attr(op, "alpha", 0.25)?;
    f.set_attr(op, "mode", "same")?;
    f.set_attr(op, "pads", [1, 2])?;
    f.set_attr(op, "scales", [0.5f32])?;
    f.set_attr(op, "names", ["a", "", "ü"])?;
    f.set_attr(op, "axis", 7)?;
    assert_eq!(f.int(op, "axis"), Some(7));
    assert_eq!(f.float(op, "alpha"), Some(0.25));
    assert_eq!(f.string(op, "mode"), Some("same"));
    assert_eq!(f.ints(op, "pads"), Some(&[1, 2][..]));
    assert_eq!(f.floats(op, "scales"), Some(&[0.5][..]));
    let names: Vec<&[u8]> = f.strings(op, "names").ok_or("no names")?.collect();
    assert_eq!(names, ["a".as_bytes(), b"", "ü".as_bytes()]);
    // Attributes of another kind, and absent ones.
    assert_eq!(f.int(op, "mode"), None);
    assert_eq!(f.int(op, "never-heard-of"), None);
    assert_eq!(f.attrs(op).count(), 6);
    let copy = f.attr(op, "names").and_then(|attr| attr.to_value());
    f.remove_attr(op, "names")?;
    assert!(f.attr(op, "names").is_none());
    f.set_function_attr("labels", copy.ok_or("no value")?)?;
    assert!(matches!(f.function_attr("labels"), Some(Attr::Strings(_))));
    Ok(())
}

/// Types and constants are read in place.
pub fn types(f: &mut Function, _cx: &PassContext) -> PassResult {
    let n = f.intern("n")?;
    let dims = [Dim::symbol(n), Dim::constant(3), Dim::UNKNOWN];
    let ty = f.add_type(&TypeSpec::tensor(DType::F32, dims))?;
    let again = f.add_type(&TypeSpec::tensor(DType::F32, dims))?;
    assert_eq!(ty, again);
    assert_eq!(f.ty(ty).to_string(), "f32[n,3,?]");
    assert_eq!(f.ty(ty).rank(), Some(3));
    assert_eq!(f.ty(ty).shape(), None);
    let unranked = f.add_type(&TypeSpec::unranked(DType::I64))?;
    assert_eq!(f.ty(unranked).rank(), None);

    let axes = f.add_ints(&[1, -2])?;
    assert_eq!(f.shape(axes), Some(vec![2]));
    assert_eq!(f.constant_ints(axes), Ok(Some(vec![1, -2])));
    assert_eq!(f.constant_floats(axes), Ok(None));
    assert!(f.defining_op(axes).is_none());
    f.erase_constant(f.constant(axes).ok_or("no constant")?)?;
    Ok(())
}
