//! Images: grids, regions, boxes.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::Operator;
use super::shape::same_elements;
use crate::decompose;
use crate::infer::{Answer, Infer};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.AffineGrid", 20, (2, 2))
        .attrs(attrs![align_corners: int = 0])
        .with(OpTraits::GROWS)
        .decomposes(decompose::movement::affine_grid),
    Operator::new("onnx.CenterCropPad", 18, (2, 2))
        .attrs(attrs![axes: ints])
        .infers(same_elements)
        .decomposes(decompose::movement::center_crop_pad),
    Operator::new("onnx.Col2Im", 18, (3, 3))
        .attrs(attrs![dilations: ints, pads: ints, strides: ints])
        .infers(same_elements),
    Operator::new("onnx.DeformConv", 19, (3, 5))
        .attrs(attrs![
            dilations: ints, group: int = 1, kernel_shape: ints, offset_group: int = 1,
            pads: ints, strides: ints,
        ])
        .infers(same_elements),
    Operator::new("onnx.GridSample", 16, (2, 2))
        .attrs(attrs![
            align_corners: int = 0, mode: string = "bilinear", padding_mode: string = "zeros",
        ])
        .infers(same_elements),
    Operator::new("onnx.GridSample", 20, (2, 2))
        .attrs(attrs![
            align_corners: int = 0, mode: string = "linear", padding_mode: string = "zeros",
        ])
        .infers(same_elements),
    Operator::new("onnx.ImageDecoder", 20, (1, 1)).attrs(attrs![pixel_format: string = "RGB"]),
    Operator::new("onnx.MaxRoiPool", 1, (2, 2))
        .attrs(attrs![pooled_shape: required ints, spatial_scale: float = 1.0])
        .infers(same_elements),
    Operator::new("onnx.MaxUnpool", 9, (2, 3))
        .attrs(attrs![kernel_shape: required ints, pads: ints, strides: ints])
        .infers(same_elements),
    Operator::new("onnx.NonMaxSuppression", 10, (2, 5))
        .attrs(attrs![center_point_box: int = 0])
        .infers(boxes),
    Operator::new("onnx.RoiAlign", 10, (3, 3))
        .attrs(attrs![
            mode: string = "avg", output_height: int = 1, output_width: int = 1,
            sampling_ratio: int = 0, spatial_scale: float = 1.0,
        ])
        .infers(same_elements),
    Operator::new("onnx.RoiAlign", 16, (3, 3))
        .attrs(attrs![
            coordinate_transformation_mode: string = "half_pixel", mode: string = "avg",
            output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
            spatial_scale: float = 1.0,
        ])
        .infers(same_elements),
    Operator::new("onnx.Upsample", 1, (1, 2))
        .with(OpTraits::GROWS)
        .infers(same_elements)
        .any_attrs(),
    Operator::new("onnx.Upsample", 7, (1, 1))
        .attrs(attrs![mode: string = "nearest", scales: required floats])
        .with(OpTraits::GROWS)
        .infers(same_elements),
    Operator::new("onnx.Upsample", 9, (2, 2))
        .attrs(attrs![mode: string = "nearest"])
        .with(OpTraits::GROWS)
        .infers(same_elements),
];

/// Three indices for each box that is kept.
fn boxes(op: &Infer) -> Answer {
    op.set(0, DType::I64, Some(vec![Dim::UNKNOWN, Dim::constant(3)]))
}
