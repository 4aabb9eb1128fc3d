//! Layout rules: which layouts an operator supports, and its body in these layouts.
//!
//! Layouts are requested as text, `NCHW->NHWC`. The letters only identify axes; each operator maps its axes to them.
//! There are three kinds of rules:
//!
//! - elementwise operators keep the layout (`elementwise`);
//! - operators with axes become the same op with other axes (`axes`, `reduce`, `views`, `shapes`);
//! - operators that require ONNX's order, such as convolutions, stay between `Transpose`s (`spatial`).
//!
//! A rule computes exactly the same results, or it rejects.

mod axes;
mod einsum;
mod elementwise;
mod reduce;
mod request;
mod result;
mod shapes;
mod spatial;
mod views;

pub(crate) use request::LayoutRequest;
pub(crate) use result::LayoutResult;
use spatial::{BATCH, between};

use crate::infer::Inferred;
use crate::ops::Operator;

/// The layout rule of an operator.
pub(crate) type LayoutRule = fn(&LayoutRequest) -> Inferred<LayoutResult>;

/// Returns the rule of an operator, for all its versions.
pub(crate) const fn rule(operator: &Operator) -> Option<LayoutRule> {
    let [b'o', b'n', b'n', b'x', b'.', short @ ..] = operator.name.as_bytes() else {
        return None;
    };
    Some(match short {
        b"AveragePool"
        | b"LpPool"
        | b"MaxPool"
        | b"GlobalAveragePool"
        | b"GlobalLpPool"
        | b"GlobalMaxPool"
        | b"BatchNormalization"
        | b"InstanceNormalization"
        | b"GroupNormalization"
        | b"LRN"
        | b"DepthToSpace"
        | b"SpaceToDepth"
        | b"MaxRoiPool"
        | b"RoiAlign"
        | b"GridSample"
        | b"Resize"
        | b"Upsample" => |request| between(request, &[(0, BATCH)]),
        // The indices are positions of elements in the original order, so the op gets its operand in that order.
        b"MaxUnpool" => |request| between(request, &[(0, BATCH), (1, BATCH)]),
        b"Conv" | b"ConvInteger" => |request| between(request, &[(0, BATCH), (1, "OI")]),
        b"ConvTranspose" => |request| between(request, &[(0, BATCH), (1, "IO")]),
        b"DeformConv" => {
            |request| between(request, &[(0, BATCH), (1, "OI"), (2, BATCH), (4, BATCH)])
        }
        b"QLinearConv" => |request| between(request, &[(0, BATCH), (3, "OI")]),

        b"Identity" | b"CastLike" | b"DynamicQuantizeLinear" => elementwise::first,
        b"Dropout" => elementwise::dropout,
        b"QuantizeLinear" | b"DequantizeLinear" => elementwise::quantize,

        b"Softmax" | b"LogSoftmax" | b"Hardmax" => axes::softmax,
        b"LpNormalization" | b"TopK" => axes::along_last,
        b"Concat" => axes::concat,
        b"Split" => axes::split,
        b"CumSum" | b"CumProd" => axes::running,
        b"Gather" => axes::gather,
        b"GatherElements" | b"Scatter" | b"ScatterElements" => axes::elements,
        b"ReverseSequence" => axes::reverse_sequence,
        b"Compress" => axes::compress,
        b"Trilu" => axes::trilu,
        b"LayerNormalization" | b"RMSNormalization" => axes::layer_normalization,

        b"ArgMax" | b"ArgMin" => reduce::arg,
        b"MeanVarianceNormalization" => reduce::mean_variance,
        [b'R', b'e', b'd', b'u', b'c', b'e', ..] => reduce::reduce,

        b"Transpose" => views::transpose,
        b"Squeeze" => views::squeeze,
        b"Unsqueeze" => views::unsqueeze,
        b"Flatten" => views::flatten,
        b"Reshape" => views::reshape,

        b"Slice" => shapes::slice,
        b"Pad" => shapes::pad,
        b"Tile" => shapes::tile,
        b"Expand" => shapes::expand,
        b"CenterCropPad" => shapes::center_crop_pad,
        b"Shape" => shapes::shape,
        b"Size" => shapes::size,

        b"Einsum" => einsum::einsum,

        _ if operator.traits.is_elementwise() => elementwise::broadcast,
        _ => return None,
    })
}
