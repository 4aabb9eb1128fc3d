//! PartitionGraph, after TVM's `tests/python/relay/test_pass_partition_graph.py`.

use super::{check_merged, check_partitioned};

#[test]
fn single_op() {
    check_partitioned(
        &[("c", "onnx.Add")],
        "%x: f32[10], %y: f32[10]",
        "%z = onnx.Add(%x, %y)
         return %z",
        &["Add"],
    );
}

#[test]
fn sanitized() {
    check_partitioned(
        &[("unsanitary-name++", "onnx.Add onnx.Sub onnx.Mul")],
        "%x: f32[10], %y: f32[10]",
        "%a = onnx.Add(%x, %y)
         %l = onnx.Log(%a)
         %e = onnx.Exp(%a)
         %z = onnx.Concat(%l, %e) {axis = 0}
         return %z",
        &["Add"],
    );
}

#[test]
fn ccompiler() {
    check_partitioned(
        &[("c", "onnx.Add onnx.Sub onnx.Mul")],
        "%x: f32[10], %y: f32[10]",
        "%a = onnx.Add(%x, %x)
         %b = onnx.Mul(%y, %y)
         %z = onnx.Sub(%b, %a)
         return %z",
        &["Add", "Mul", "Sub"],
    );
}

#[test]
fn dnnl() {
    check_merged(
        &[("dnnl", "onnx.Conv onnx.Add")],
        "%x: f32[1,32,14,14], %w: f32[32,1,3,3]",
        "%a = onnx.Conv(%x, %w) {group = 32, pads = [1, 1, 1, 1]}
         %b = onnx.Conv(%a, %w) {group = 32, pads = [1, 1, 1, 1]}
         %z = onnx.Add(%a, %b)
         return %z",
        &["Conv Conv Add"],
    );
}

#[test]
fn constant_propagation() {
    check_partitioned(
        &[("c", "onnx.Add")],
        "%y: f32[8]",
        "%x = const f32[8] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
         %a = onnx.Add(%x, %y)
         %z = onnx.Log(%a)
         return %z",
        &["Add"],
    );
}

#[test]
fn multiple_outputs() {
    check_merged(
        &[("t", "onnx.Conv onnx.BatchNormalization onnx.Relu")],
        "%x: f32[1,3,8,8], %w: f32[16,3,3,3], %g: f32[16], %b: f32[16], %m: f32[16], %v: f32[16]",
        "%a = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %n, %nm, %nv = onnx.BatchNormalization(%a, %g, %b, %m, %v) {training_mode = 1}
         %r = onnx.Relu(%n)
         %p = onnx.Abs(%nm)
         %q = onnx.Abs(%nv)
         return %r, %p, %q",
        &["Conv BatchNormalization Relu"],
    );
}

#[test]
fn same_output_region() {
    check_merged(
        &[("c", "onnx.Sub onnx.Log onnx.Mul")],
        "%x: f32[10], %y: f32[10], %w: f32[10]",
        "%a = onnx.Add(%x, %y)
         %s = onnx.Sub(%a, %w)
         %l = onnx.Log(%a)
         %z = onnx.Mul(%l, %s)
         return %z",
        &["Sub Log Mul"],
    );
}

#[test]
fn different_output_region() {
    check_merged(
        &[("c", "onnx.Sub onnx.Log")],
        "%x: f32[10], %y: f32[10], %w: f32[10]",
        "%a = onnx.Add(%x, %y)
         %s = onnx.Sub(%a, %w)
         %l = onnx.Log(%a)
         %z = onnx.Mul(%l, %s)
         return %z",
        &["Sub", "Log"],
    );
}

#[test]
fn duplicate_outputs() {
    check_merged(
        &[("t", "onnx.Abs")],
        "%x: f32[10]",
        "%a = onnx.Abs(%x)
         %p = onnx.Relu(%a)
         %q = onnx.Tanh(%a)
         %r = onnx.Log(%a)
         return %p, %q, %r",
        &["Abs"],
    );
}

#[test]
fn dup_merge_tgi() {
    check_merged(
        &[("t", "onnx.BatchNormalization onnx.Relu")],
        "%x: f32[1,16,8,8], %g: f32[16], %b: f32[16], %m: f32[16], %v: f32[16]",
        "%n, %nm, %nv = onnx.BatchNormalization(%x, %g, %b, %m, %v) {training_mode = 1}
         %r = onnx.Relu(%n)
         %p = onnx.Tanh(%nm)
         %q = onnx.Log(%nm)
         return %r, %p, %q",
        &["BatchNormalization Relu"],
    );
}

#[test]
fn constant_tuples() {
    check_merged(
        &[("t", "onnx.Concat")],
        "%a: f32[10,10], %b: f32[10,10]",
        "%one = const f32[10,1] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
         %c = onnx.Abs(%a)
         %z = onnx.Concat(%c, %b, %one) {axis = 1}
         return %z",
        &["Concat"],
    );
}

#[test]
fn flatten_tuple_output() {
    check_merged(
        &[("t", "onnx.Split onnx.Abs")],
        "%a: f32[10,10]",
        "%s, %t = onnx.Split(%a) {axis = 0}
         %b = onnx.Abs(%s)
         %c = onnx.Concat(%s, %t) {axis = 0}
         %r = onnx.Relu(%b)
         return %c, %r",
        &["Split Abs"],
    );
}

#[test]
fn tuple_output_exec() {
    check_merged(
        &[("c", "onnx.Add onnx.Sub")],
        "%x: f32[10], %y: f32[10]",
        "%p = onnx.Add(%x, %y)
         %q = onnx.Sub(%x, %y)
         return %p, %q",
        &["Add", "Sub"],
    );
}
