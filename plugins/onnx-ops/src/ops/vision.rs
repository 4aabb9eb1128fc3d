//! Image operators: grids, regions, boxes.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::convolution;
use super::create::shape_in;
use super::operator::{Operator, body};
use crate::infer::{Infer, Inferred, check_length, invalid, sizes};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.AffineGrid", 20, (2, 2))
        .attrs(attrs![align_corners: int = 0])
        .with(OpTraits::GROWS.with(OpTraits::INJECTIVE))
        .infers(affine_grid)
        .decomposes(body!("AffineGrid")),
    Operator::new("onnx.CenterCropPad", 18, (2, 2))
        .attrs(attrs![axes: ints])
        .with(OpTraits::INJECTIVE)
        .infers(center_crop_pad)
        .decomposes(body!("CenterCropPad")),
    Operator::new("onnx.Col2Im", 18, (3, 3))
        .attrs(attrs![dilations: ints, pads: ints, strides: ints])
        .infers(col2im),
    Operator::new("onnx.DeformConv", 19, (3, 5))
        .with(OpTraits::OUT_FUSABLE)
        .attrs(attrs![
            dilations: ints, group: int = 1, kernel_shape: ints, offset_group: int = 1,
            pads: ints, strides: ints,
        ])
        .infers(convolution::deform_conv),
    GRID_SAMPLE,
    GRID_SAMPLE.since(20).attrs(attrs![
        align_corners: int = 0, mode: string = "linear", padding_mode: string = "zeros",
    ]),
    Operator::new("onnx.ImageDecoder", 20, (1, 1))
        .attrs(attrs![pixel_format: string = "RGB"])
        .infers(image_decoder),
    Operator::new("onnx.MaxRoiPool", 1, (2, 2))
        .with(OpTraits::OUT_FUSABLE)
        .attrs(attrs![pooled_shape: required ints, spatial_scale: float = 1.0])
        .infers(max_roi_pool),
    Operator::new("onnx.MaxUnpool", 9, (2, 3))
        .attrs(attrs![kernel_shape: required ints, pads: ints, strides: ints])
        .infers(convolution::max_unpool),
    Operator::new("onnx.NonMaxSuppression", 10, (2, 5))
        .attrs(attrs![center_point_box: int = 0])
        .infers(non_max_suppression),
    ROI_ALIGN,
    ROI_ALIGN.since(16).attrs(attrs![
        coordinate_transformation_mode: string = "half_pixel", mode: string = "avg",
        output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
        spatial_scale: float = 1.0,
    ]),
];

const GRID_SAMPLE: Operator = Operator::new("onnx.GridSample", 16, (2, 2))
    .with(OpTraits::INJECTIVE)
    .attrs(attrs![
        align_corners: int = 0, mode: string = "bilinear", padding_mode: string = "zeros",
    ])
    .infers(grid_sample);

const ROI_ALIGN: Operator = Operator::new("onnx.RoiAlign", 10, (3, 3))
    .with(OpTraits::OUT_FUSABLE)
    .attrs(attrs![
        mode: string = "avg", output_height: int = 1, output_width: int = 1,
        sampling_ratio: int = 0, spatial_scale: float = 1.0,
    ])
    .infers(roi_align);

/// Infers `[N, H, W, 2]` for a size `[N, C, H, W]`, and `[N, D, H, W, 3]` for `[N, C, D, H, W]`.
fn affine_grid(op: &Infer) -> Inferred {
    let [batch, rows, _] = op.dims_of(0, "theta")?;
    let size = match (shape_in(op, 1), rows.as_const()) {
        (Some(size), _) => size,
        (None, Some(rows @ 2..=3)) => vec![Dim::UNKNOWN; rows as usize + 2],
        _ => return op.set(0, op.dtype(0)?, None),
    };
    let [n, _, spatial @ ..] = &size[..] else {
        return invalid!("`size` has length {}, expected 4 or 5", size.len());
    };
    let count = Dim::constant(spatial.len() as i64);
    op.agree(rows, count)?;
    let batch = op.agree(*n, batch)?;
    let grid = [&[batch], spatial, &[count]].concat();
    op.set(0, op.dtype(0)?, Some(grid))
}

/// Infers the dims, with those of `axes` (all by default) replaced by `shape`.
fn center_crop_pad(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let Some(shape) = shape_in(op, 1) else {
        let dims = op.dims(0).map(|dims| vec![Dim::UNKNOWN; dims.len()]);
        return op.set(0, dtype, dims);
    };
    let Some(axes) = op.ints("axes")? else {
        if let Some(dims) = op.dims(0) {
            check_length("shape", shape.len(), dims.len())?;
        }
        return op.set(0, dtype, Some(shape));
    };
    check_length("shape", shape.len(), axes.len())?;
    let Some(mut dims) = op.dims(0) else {
        return op.set(0, dtype, None);
    };
    for (axis, size) in op.axes(&axes, dims.len())?.into_iter().zip(shape) {
        dims[axis] = size;
    }
    op.set(0, dtype, Some(dims))
}

/// Infers `[N, C, image_shape]` for blocks `[N, C * block_shape, L]`.
fn col2im(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let [batch, columns, _] = op.dims_of(0, "input")?;
    let Some(image) = shape_in(op, 1) else {
        return op.set(0, dtype, None);
    };
    let channels = match op.known_ints(2) {
        Some(block) if block.len() != image.len() => {
            return invalid!(
                "`block_shape` has length {}, but `image_shape` has length {}",
                block.len(),
                image.len()
            );
        }
        Some(block) => {
            let mut sides = block.iter();
            let area = sides.try_fold(1i64, |area, &side| area.checked_mul(side));
            op.parts(columns, area.unwrap_or(i64::MAX))?
        }
        None => Dim::UNKNOWN,
    };
    op.set(0, dtype, Some([&[batch, channels], &*image].concat()))
}

/// Infers `[N, C]` of the image and the spatial dims of the grid `[N, …, r]`.
fn grid_sample(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let (picture, grid) = (op.dims(0), op.dims(1));
    let rank = match (&picture, &grid) {
        (Some(picture), Some(grid)) if picture.len() != grid.len() => {
            return invalid!(
                "grid has rank {}, but input has rank {}",
                grid.len(),
                picture.len()
            );
        }
        (Some(dims), _) | (_, Some(dims)) => dims.len(),
        _ => return op.set(0, dtype, None),
    };
    if rank < 3 {
        return invalid!("input and grid have rank {rank}, expected at least 3");
    }
    let picture = picture.unwrap_or_else(|| vec![Dim::UNKNOWN; rank]);
    let grid = grid.unwrap_or_else(|| vec![Dim::UNKNOWN; rank]);
    op.agree(grid[rank - 1], Dim::constant(rank as i64 - 2))?;
    let batch = op.agree(picture[0], grid[0])?;
    let sampled = [&[batch, picture[1]], &grid[1..rank - 1]].concat();
    op.set(0, dtype, Some(sampled))
}

/// Infers `[height, width, channels]` of uint8.
fn image_decoder(op: &Infer) -> Inferred {
    let channels = match op.enum_value("pixel_format", &["RGB", "BGR", "Grayscale"])? {
        "Grayscale" => 1,
        _ => 3,
    };
    let dims = vec![Dim::UNKNOWN, Dim::UNKNOWN, Dim::constant(channels)];
    op.set(0, DType::U8, Some(dims))
}

/// Infers `[regions, C, pooled_shape]`.
fn max_roi_pool(op: &Infer) -> Inferred {
    let [_, channels, _, _] = op.dims_of(0, "X")?;
    let [regions, _] = op.dims_of(1, "rois")?;
    let Some(&[height, width]) = op.ints("pooled_shape")?.as_deref() else {
        return invalid!("invalid attribute `pooled_shape`: expected a height and a width");
    };
    let dims = [&[regions, channels], &*sizes([height, width])].concat();
    op.set(0, op.dtype_of_any([0, 1])?, Some(dims))
}

/// Infers `[regions, C, output_height, output_width]`.
fn roi_align(op: &Infer) -> Inferred {
    let [_, channels, _, _] = op.dims_of(0, "X")?;
    let [regions, _] = op.dims_of(1, "rois")?;
    let [indices] = op.dims_of(2, "batch_indices")?;
    let regions = op.agree(regions, indices)?;
    let height = Dim::constant(op.int_or("output_height", 1)?);
    let width = Dim::constant(op.int_or("output_width", 1)?);
    let dims = vec![regions, channels, height, width];
    op.set(0, op.dtype_of_any([0, 1])?, Some(dims))
}

/// Infers `[selected, 3]`: three indices per selected box.
fn non_max_suppression(op: &Infer) -> Inferred {
    let [batch, boxes, _] = op.dims_of(0, "boxes")?;
    let [score_batch, _, scores] = op.dims_of(1, "scores")?;
    op.agree(batch, score_batch)?;
    op.agree(boxes, scores)?;
    op.set(0, DType::I64, Some(vec![Dim::UNKNOWN, Dim::constant(3)]))
}
