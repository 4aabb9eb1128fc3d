//! FuseOps, after TVM's `tests/python/relay/test_pass_fuse_ops.py`: what `relax` has not.

use super::{check_fused, check_fused_within};

#[test]
fn myia() {
    check_fused(
        "%x: i64[], %y: i64[]",
        "%g = onnx.Greater(%x, %y)
         %r = onnx.If(%g) : i64[]
         region then_branch {
         yield %x
         }
         region else_branch {
         yield %y
         }
         return %r",
        &[],
    );
}

#[test]
fn split() {
    check_fused(
        "%x: f32[6,9]",
        "%a, %b, %c = onnx.Split(%x) {axis = 0}
         %r = acme.Ref(%b) : f32[2,9]
         %y = onnx.Add(%a, %r)
         %z = onnx.Add(%y, %c)
         return %z",
        &["Add Add"],
    );
}

#[test]
fn fuse_take() {
    check_fused(
        "%x: f32[10,1]",
        "%i = const i64[1] [0]
         %c = onnx.Concat(%x, %x) {axis = -1}
         %z = onnx.Gather(%c, %i) {axis = 0}
         return %z",
        &["Concat Gather"],
    );
}

#[test]
fn fuse_gather_nd() {
    check_fused(
        "%x: f32[10,1]",
        "%i = const i64[2,2] [0, 1, 1, 0]
         %c = onnx.Concat(%x, %x) {axis = -1}
         %z = onnx.GatherND(%c, %i)
         return %z",
        &["Concat GatherND"],
    );
}

#[test]
fn bcast_reduce_scalar() {
    check_fused(
        "%x: i32[]",
        "%t = const i32[] 10
         %l = onnx.Less(%x, %t)
         %c = onnx.Cast(%l) {to = 2}
         %z = onnx.ReduceMin(%c) {keepdims = 0}
         return %z",
        &["Less Cast ReduceMin"],
    );
}

#[test]
fn dynamic_squeeze_slice_take() {
    check_fused(
        "%x: f32[a,b,4], %t: i64[k]",
        "%ax = const i64[1] [0]
         %s = const i64[2] [0, 0]
         %e = const i64[2] [15130, 2147483647]
         %q = onnx.Squeeze(%x, %ax)
         %sl = onnx.Slice(%q, %s, %e)
         %z = onnx.Gather(%sl, %t) {axis = 0}
         return %z",
        &["Squeeze Slice Gather"],
    );
}

#[test]
fn fuse_max_diamond() {
    let (mut body, mut out) = (String::new(), "x".to_owned());
    for diamond in 0..3 {
        for branch in ["p", "q"] {
            let mut from = out.clone();
            for at in 0..5 {
                let made = format!("{branch}{diamond}_{at}");
                body += &format!("%{made} = onnx.Exp(%{from})\n");
                from = made;
            }
        }
        out = format!("r{diamond}");
        body += &format!("%{out} = onnx.Add(%p{diamond}_4, %q{diamond}_4)\n");
    }
    body += &format!("return %{out}");
    let kernel = "Exp Exp Exp Exp Exp Exp Exp Exp Exp Exp Add";
    check_fused_within("max_depth = 11", "%x: f32[10,20]", &body, &[kernel; 3]);
}

#[test]
fn fuse_max_num_args() {
    // TVM makes one kernel as large as it may be, and lets the rest go in kernels of two ops and single ones.
    let (mut params, mut body, mut out) = (
        Vec::new(),
        "%one = const f32[] 1.0\n".to_owned(),
        "w0".to_owned(),
    );
    for at in 0..10 {
        params.push(format!("%x{at}: f32[10,20]"));
        body += &format!("%y{at} = onnx.Add(%x{at}, %one)\n%w{at} = onnx.Exp(%y{at})\n");
        if at > 0 {
            body += &format!("%s{at} = onnx.Add(%{out}, %w{at})\n");
            out = format!("s{at}");
        }
    }
    body += &format!("return %{out}");
    let first = "Add Exp Add Exp Add Add Exp Add";
    let next = "Add Exp Add Add Exp Add";
    let expected = [first, next, next, next, "Add Exp Add"];
    check_fused_within("max_args = 4", &params.join(", "), &body, &expected);
}
