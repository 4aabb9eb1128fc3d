//! Attention and related operators of language models.

use passdock_plugin_api::{Dim, attrs};

use super::operator::{Operator, body};
use super::shape::same_type;
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    ATTENTION,
    ATTENTION.since(24).operands((3, 7)),
    ATTENTION.since(25).operands((3, 7)).attrs(attrs![
        is_causal: int = 0, kv_num_heads: int, left_window_size: int = -1, q_num_heads: int,
        qk_matmul_output_mode: int = 0, right_window_size: int = -1, scale: float,
        softcap: float = 0.0, softmax_precision: int,
    ]),
    Operator::new("onnx.CausalConvWithState", 27, (2, 4))
        .results((2, 2))
        .attrs(attrs![activation: string = "none"])
        .infers(causal_conv)
        .decomposes(body!("CausalConvWithState")),
    Operator::new("onnx.LinearAttention", 27, (3, 6))
        .results((2, 2))
        .attrs(attrs![
            chunk_size: int = 64, kv_num_heads: required int, q_num_heads: required int,
            scale: float = 0.0, update_rule: string = "gated_delta",
        ])
        .infers(linear_attention)
        .decomposes(body!("LinearAttention")),
    Operator::new("onnx.RotaryEmbedding", 23, (3, 4))
        .attrs(attrs![interleaved: int = 0, num_heads: int, rotary_embedding_dim: int = 0])
        .infers(rotary_embedding)
        .decomposes(body!("RotaryEmbedding")),
    Operator::new("onnx.SwiGLU", 28, (2, 2))
        .attrs(attrs![alpha: float = 1.0])
        .infers(gated)
        .decomposes(body!("SwiGLU")),
    Operator::new("onnx.TensorScatter", 24, (2, 3))
        .attrs(attrs![axis: int = -2, mode: string = "linear"])
        .infers(tensor_scatter),
];

const ATTENTION: Operator = Operator::new("onnx.Attention", 23, (3, 6))
    .results((1, 4))
    .attrs(attrs![
        is_causal: int = 0, kv_num_heads: int, q_num_heads: int,
        qk_matmul_output_mode: int = 0, scale: float, softcap: float = 0.0,
        softmax_precision: int,
    ])
    .infers(attention)
    .decomposes(body!("Attention"));

/// The dims of queries, keys or values: batch, heads, length and head size. With three dims, the last one has all
/// heads.
struct Heads {
    batch: Dim,
    heads: Dim,
    length: Dim,
    size: Dim,
    /// Whether the heads have a separate dim.
    apart: bool,
}

/// Returns the dims of an operand, or `None` if its rank is unknown.
fn heads(op: &Infer, index: usize, attr: &str) -> Inferred<Option<Heads>> {
    let Some(dims) = op.dims(index) else {
        return Ok(None);
    };
    Ok(Some(match dims[..] {
        [batch, heads, length, size] => Heads {
            batch,
            heads,
            length,
            size,
            apart: true,
        },
        [batch, length, all] => {
            let Some(count) = op.int(attr)? else {
                return invalid!("missing attribute `{attr}`: operand {index} has rank 3");
            };
            Heads {
                batch,
                heads: Dim::constant(count),
                length,
                size: op.parts(all, count)?,
                apart: false,
            }
        }
        _ => return invalid!("operand {index} has rank {}, expected 3 or 4", dims.len()),
    }))
}

/// Infers `Y` with the query's dims, except for the head size, which is that of the values. `present_key` and
/// `present_value` are `[batch, kv_heads, past + kv_length, head_size]`. The scores are
/// `[batch, q_heads, q_length, past + kv_length]`.
fn attention(op: &Infer) -> Inferred {
    let (query_type, value_type) = (op.dtype(0)?, op.dtype(2));
    let query = heads(op, 0, "q_num_heads")?;
    let key = heads(op, 1, "kv_num_heads")?;
    let value = heads(op, 2, "kv_num_heads")?;
    let of =
        |heads: &Option<Heads>, pick: fn(&Heads) -> Dim| heads.as_ref().map_or(Dim::UNKNOWN, pick);
    let batches = [&query, &key, &value].map(|heads| of(heads, |heads| heads.batch));
    let batch = op.agree(op.agree(batches[0], batches[1])?, batches[2])?;
    let lengths = (of(&key, |key| key.length), of(&value, |value| value.length));
    let new = op.agree(lengths.0, lengths.1)?;
    op.agree(of(&query, |query| query.size), of(&key, |key| key.size))?;
    let kv_heads = op.agree(of(&key, |key| key.heads), of(&value, |value| value.heads))?;
    if let (Some(query), Some(kv)) = (of(&query, |q| q.heads).as_const(), kv_heads.as_const())
        && (kv <= 0 || query % kv != 0)
    {
        return invalid!(
            "number of query heads {query} is not a multiple of the number of key-value heads {kv}"
        );
    }
    let total = match (op.has(4), op.has(5)) {
        (true, _) => op.add(op.dim(4, 2), new),
        (_, true) => op.add(op.dim(5, 2), new),
        _ => new,
    };
    let size = of(&value, |value| value.size);
    let all = query.as_ref().map(|query| match query.apart {
        true => vec![batch, query.heads, query.length, size],
        false => vec![batch, query.length, op.mul(query.heads, size)],
    });
    op.set(0, query_type, all)?;
    let present = |size| Some(vec![batch, kv_heads, total, size]);
    let key_type = op.dtype(1).unwrap_or(query_type);
    op.set(1, key_type, present(of(&key, |key| key.size)))?;
    if let Ok(value_type) = value_type {
        op.set(2, value_type, present(size))?;
    }
    let (q_heads, q_length) = (of(&query, |q| q.heads), of(&query, |q| q.length));
    op.set(3, query_type, Some(vec![batch, q_heads, q_length, total]))
}

/// Infers `[batch, length, q_heads * value_size]`, and the state `[batch, kv_heads, key_size, value_size]`.
fn linear_attention(op: &Infer) -> Inferred {
    let dtype = op.dtype_of_any([0, 1, 2])?;
    let (query_heads, kv_heads) = match (op.int("q_num_heads")?, op.int("kv_num_heads")?) {
        (Some(query), Some(kv)) if kv > 0 && query % kv == 0 => (query, kv),
        (Some(query), Some(kv)) => {
            return invalid!(
                "number of query heads {query} is not a multiple of the number of key-value heads {kv}"
            );
        }
        _ => return invalid!("missing attribute `q_num_heads` or `kv_num_heads`"),
    };
    let [query_batch, query_length, query] = op.dims_of(0, "query")?;
    let [key_batch, key_length, key] = op.dims_of(1, "key")?;
    let [value_batch, value_length, value] = op.dims_of(2, "value")?;
    let [past_batch, past_heads, past_key, past_value] = op.dims_of(3, "past_state")?;
    let all = |dims: [Dim; 3]| op.agree(op.agree(dims[0], dims[1])?, dims[2]);
    let batch = op.agree(all([query_batch, key_batch, value_batch])?, past_batch)?;
    let length = all([query_length, key_length, value_length])?;
    op.agree(past_heads, Dim::constant(kv_heads))?;
    let sizes = [
        op.parts(query, query_heads)?,
        op.parts(key, kv_heads)?,
        past_key,
    ];
    let key_size = all(sizes)?;
    let value_size = op.agree(op.parts(value, kv_heads)?, past_value)?;
    let wide = op.mul(value_size, Dim::constant(query_heads));
    op.set(0, dtype, Some(vec![batch, length, wide]))?;
    let state = vec![batch, Dim::constant(kv_heads), key_size, value_size];
    op.set(1, op.dtype(3).unwrap_or(dtype), Some(state))
}

/// Infers the input's dims, and the state `[batch, channels, kernel - 1]`.
fn causal_conv(op: &Infer) -> Inferred {
    let dtype = op.dtype_of_any([0, 1])?;
    let [batch, channels, length] = op.dims_of(0, "input")?;
    let [kernels, _, kernel] = op.dims_of(1, "weight")?;
    let [past_batch, past_channels, past] = op.dims_of(3, "past_state")?;
    let batch = op.agree(batch, past_batch)?;
    let channels = op.agree(op.agree(channels, kernels)?, past_channels)?;
    op.set(0, dtype, Some(vec![batch, channels, length]))?;
    let length = match past.is_known() && kernel.as_const().is_none() {
        true => past,
        false => op.agree(op.shift(kernel, -1), past)?,
    };
    op.set(1, dtype, Some(vec![batch, channels, length]))
}

/// Infers the first operand's type, which must have three or four dims.
fn rotary_embedding(op: &Infer) -> Inferred {
    match op.dims(0).map(|dims| dims.len()) {
        Some(3) if op.int("num_heads")?.is_none() => {
            invalid!("missing attribute `num_heads`: operand 0 has rank 3")
        }
        None | Some(3 | 4) => same_type(op),
        Some(rank) => invalid!("operand 0 has rank {rank}, expected 3 or 4"),
    }
}

/// Infers the cache's type. The update must have the same dims, except along the axis.
fn tensor_scatter(op: &Infer) -> Inferred {
    if let (Some(cache), Some(update)) = (op.dims(0), op.dims(1)) {
        let (rank, updated) = (cache.len(), update.len());
        if rank != updated {
            return invalid!("update has rank {updated}, but cache has rank {rank}");
        }
        let axis = op.axis(op.int_or("axis", -2)?, rank)?;
        for d in (0..rank).filter(|&d| d != axis) {
            op.agree(cache[d], update[d])?;
        }
    }
    same_type(op)
}

/// Infers the common shape of both operands.
fn gated(op: &Infer) -> Inferred {
    let dims = op.agree_all(op.dims(0), op.dims(1))?;
    op.set(0, op.dtype_of_any([0, 1])?, dims)
}
