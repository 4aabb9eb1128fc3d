//! Attention, and what language models keep from step to step.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn attention_grows_what_it_keeps() {
    check(
        23,
        "%q: f32[b,8,s,64], %k: f32[b,2,s,64], %v: f16[b,2,s,32], %pk: f32[b,2,p,64], %pv: f16[b,2,p,32], %u: f32[*]",
        "
    %0 = onnx.Attention(%q, %k, %v)
    %1, %2, %3, %4 = onnx.Attention(%q, %k, %v, _, %pk, %pv)
    %5, %6, %7, %8 = onnx.Attention(%q, %k, %v)
    %9 = onnx.Attention(%u, %k, %v)
",
        expect![[r#"
            %0 = onnx.Attention(%q, %k, %v) : f32[b,8,s,32]
            %1, %2, %3, %4 = onnx.Attention(%q, %k, %v, _, %pk, %pv) : f32[b,8,s,32], f32[b,2,p+s,64], f16[b,2,p+s,32], f32[b,8,s,p+s]
            %5, %6, %7, %8 = onnx.Attention(%q, %k, %v) : f32[b,8,s,32], f32[b,2,s,64], f16[b,2,s,32], f32[b,8,s,s]
            %9 = onnx.Attention(%u, %k, %v) : f32[*]
        "#]],
    );
    check(
        24,
        "%q: f32[b,s,512], %k: f32[b,t,128], %v: f32[b,t,64]",
        "\n    %0, %1, %2, %3 = onnx.Attention(%q, %k, %v) {kv_num_heads = 2, q_num_heads = 8}\n",
        expect![[r#"
            %0, %1, %2, %3 = onnx.Attention(%q, %k, %v) {kv_num_heads = 2, q_num_heads = 8} : f32[b,s,256], f32[b,2,t,64], f32[b,2,t,32], f32[b,8,s,t]
        "#]],
    );
}

#[test]
fn heads_must_fit() {
    let params = "%q: f32[1,2,12], %k: f32[1,2,12]";
    wrong(
        23,
        params,
        "%0 = onnx.Attention(%q, %k, %k)",
        expect!["onnx.Attention: operand 0 has three dims, but there is no `q_num_heads`"],
    );
    wrong(
        23,
        params,
        "%0 = onnx.Attention(%q, %k, %k) {kv_num_heads = 5, q_num_heads = 5}",
        expect!["onnx.Attention: 12 isn't a multiple of 5"],
    );
    wrong(
        23,
        params,
        "%0 = onnx.Attention(%q, %k, %k) {kv_num_heads = 4, q_num_heads = 3}",
        expect!["onnx.Attention: 4 and 3 should be the same size"],
    );
    wrong(
        27,
        params,
        "%0, %1 = onnx.LinearAttention(%q, %k, %k) {kv_num_heads = 0, q_num_heads = 3}",
        expect!["onnx.LinearAttention: its `kv_num_heads` can't be 0: it is at least 1"],
    );
    wrong(
        23,
        "%q: f32[1,2,3,4], %c: f32[2,2]",
        "%0 = onnx.RotaryEmbedding(%c, %c, %c)",
        expect!["onnx.RotaryEmbedding: its operand has 2 dims, not three or four"],
    );
    wrong(
        24,
        "%q: f32[1,2,3,4], %c: f32[1,2,5,5]",
        "%0 = onnx.TensorScatter(%q, %c)",
        expect!["onnx.TensorScatter: 4 and 5 should be the same size"],
    );
    wrong(
        28,
        "%q: f32[1,2,3,4], %c: f32[1,2,5,5]",
        "%0 = onnx.SwiGLU(%q, %c)",
        expect!["onnx.SwiGLU: 3 and 5 should be the same size"],
    );
}

#[test]
fn states_have_their_shapes() {
    check(
        28,
        "%q: f32[b,s,64], %k: f32[b,s,32], %v: f32[b,s,16], %p: f16[b,4,8,4], %x: f32[b,c,l], %w: f32[c,1,4], %a: f32[b,s,m,4], %i: f32[b,s,2]",
        "
    %0, %1 = onnx.LinearAttention(%q, %k, %v) {kv_num_heads = 4, q_num_heads = 8}
    %2, %3 = onnx.LinearAttention(%q, %k, %v, %p) {kv_num_heads = 4, q_num_heads = 8}
    %4, %5 = onnx.CausalConvWithState(%x, %w)
    %6 = onnx.RotaryEmbedding(%a, %i, %i)
    %7 = onnx.RotaryEmbedding(%q, %i, %i) {num_heads = 8}
    %8 = onnx.TensorScatter(%a, %a)
    %9 = onnx.SwiGLU(%q, %q)
    %10 = ai.onnx.preview.FlexAttention(%a, %a, %a)
",
        expect![[r#"
            %0, %1 = onnx.LinearAttention(%q, %k, %v) {kv_num_heads = 4, q_num_heads = 8} : f32[b,s,32], f32[b,4,8,4]
            %2, %3 = onnx.LinearAttention(%q, %k, %v, %p) {kv_num_heads = 4, q_num_heads = 8} : f32[b,s,32], f16[b,4,8,4]
            %4, %5 = onnx.CausalConvWithState(%x, %w) : f32[b,c,l], f32[b,c,3]
            %6 = onnx.RotaryEmbedding(%a, %i, %i) : f32[b,s,m,4]
            %7 = onnx.RotaryEmbedding(%q, %i, %i) {num_heads = 8} : f32[b,s,64]
            %8 = onnx.TensorScatter(%a, %a) : f32[b,s,m,4]
            %9 = onnx.SwiGLU(%q, %q) : f32[b,s,64]
            %10 = ai.onnx.preview.FlexAttention(%a, %a, %a) : f32[b,s,m,4]
        "#]],
    );
}
