//! `relax.transform.SimplifyInference`: removes ops that only training needs.
//!
//! ```ir
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %ratio = const f32[] 0.5
//!   %0 = onnx.Relu(%x) : f32[2,3]
//!   %1, %mask = onnx.Dropout(%0, %ratio) : f32[2,3], bool[2,3]
//!   %2 = onnx.Neg(%1) : f32[2,3]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %ratio = const f32[] 0.5
//!   %0 = onnx.Relu(%x) : f32[2,3]
//!   %1 = onnx.Neg(%0) : f32[2,3]
//!   return %1
//! }
//! ```
//!
//! An `onnx.Dropout` gives its operand if it isn't trained (`training_mode` is left out or constantly
//! false, or the version is one without it) or if its ratio is constantly 0. Where somebody uses
//! the mask, the op stays for the mask alone.
//!
//! With the option `batch_norm`, an `onnx.BatchNormalization` in inference becomes
//! `x * (scale / sqrt(var + epsilon)) + (bias - mean * …)`, where FoldConstant makes two ops of all that
//! if scale, bias, mean and variance are constant. Without it that op stays: alone, it is one op, and
//! two are no gain.
//!
//! It does not touch what is trained or may be, a `BatchNormalization` whose operands aren't all of
//! `f32` or all of `f64` (smaller types would be rounded more often), are of unknown rank, or that is
//! not `spatial`.
//!
//! Source: TVM `src/relay/transforms/simplify_inference.cc`.

use passdock_plugin_api::prelude::*;

use crate::shared::operators::is_operator;

options! {
    /// The ops that are simplified.
    pub struct SimplifyInference {
        /// Take BatchNormalization apart too.
        batch_norm: bool = false,
    }
}

pub(crate) fn simplify_inference(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<SimplifyInference>()?;
    let all = |names: &[&str]| names.iter().all(|name| is_operator(cx, name));
    if all(&["onnx.Dropout", "onnx.Identity"]) {
        let mut given = GivenOut::of(f);
        for op in f.ops_named("onnx.Dropout") {
            if !is_trained(f, op)? {
                skip_dropout(f, op, &mut given)?;
            }
        }
    }
    if options.batch_norm && all(&BATCH_NORM) {
        for op in f.ops_named("onnx.BatchNormalization") {
            if let Some(norm) = BatchNorm::read(f, op) {
                norm.take_apart(f, cx)?;
            }
        }
    }
    Ok(())
}

/// The ops that taking a BatchNormalization apart reads and makes.
const BATCH_NORM: [&str; 7] = [
    "onnx.BatchNormalization",
    "onnx.Add",
    "onnx.Div",
    "onnx.Mul",
    "onnx.Reshape",
    "onnx.Sqrt",
    "onnx.Sub",
];

/// Whether a Dropout drops anything, or may.
fn is_trained(f: &Function, op: OpId) -> Result<bool, EditError> {
    if f.opset("").is_none_or(|version| version < 12) {
        // Older ones are trained by who runs them, and until version 6 by an attribute.
        return Ok(f.opset("").is_none_or(|version| version < 7));
    }
    let trained = match f.operand(op, 2) {
        None => false,
        Some(trained) => f.constant_data(trained)? != Some(&[0][..]),
    };
    let ratio = match f.operand(op, 1) {
        None => None,
        Some(ratio) => f.constant_data(ratio)?,
    };
    // All dtypes write 0.0 so.
    let drops_nothing = ratio.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    Ok(trained && !drops_nothing)
}

/// Lets the operand of a Dropout stand for its first result.
fn skip_dropout(f: &mut Function, op: OpId, given: &mut GivenOut) -> PassResult {
    let results = f.results(op).to_vec();
    let (Some(operand), Some((&result, masks))) = (f.operand(op, 0), results.split_first()) else {
        return Ok(());
    };
    let has_mask = masks.iter().any(|&mask| f.use_count(mask) > 0);
    if has_mask && f.use_count(result) == 0 {
        return Ok(());
    }
    let stands_for = if given.needs_copy(f, result, operand) {
        // Its region has to give out something of its own.
        let copy = OpBuilder::new("onnx.Identity").operand(operand);
        let copy = copy.result(f.type_id(result)).loc(f.loc(op));
        let at = Position {
            region: f.parent_region(op),
            before: op,
        };
        let copy = f.create_op(copy, at)?;
        f.result(copy, 0)
    } else {
        operand
    };
    given.replace(result, stands_for);
    if has_mask {
        f.replace_uses(result, stands_for)?;
        return Ok(());
    }
    let mut values = vec![ValueId::NONE; results.len()];
    values[0] = stands_for;
    f.replace_op_with(op, &values)?;
    Ok(())
}

/// A BatchNormalization in inference.
struct BatchNorm {
    op: OpId,
    x: ValueId,
    scale: ValueId,
    bias: ValueId,
    mean: ValueId,
    var: ValueId,
    epsilon: f32,
    dtype: DType,
    rank: usize,
}

impl BatchNorm {
    fn read(f: &Function, op: OpId) -> Option<BatchNorm> {
        let is_int = |name: &str, default: i64, wanted: i64| match f.attr(op, name) {
            None => default == wanted,
            // An attribute of the function around it may be anything.
            Some(value) => matches!(value, Attr::Int(value) if value == wanted),
        };
        let epsilon = match f.attr(op, "epsilon") {
            None => 1e-5,
            Some(Attr::Float(epsilon)) => epsilon,
            Some(_) => return None,
        };
        // Before version 14, one that is trained gives more than one result.
        let infers = is_int("training_mode", 0, 0) && f.result_count(op) == 1;
        let version = f.opset("")?;
        if !infers || version < 7 || version < 9 && !is_int("spatial", 1, 1) {
            return None;
        }
        let mut operands = Vec::new();
        for at in 0..5 {
            operands.push(f.operand(op, at)?);
        }
        let [x, scale, bias, mean, var] = operands[..] else {
            return None;
        };
        let dtype = f.dtype(x);
        let is_exact = matches!(dtype, DType::F32 | DType::F64);
        if !is_exact || operands.iter().any(|&value| f.dtype(value) != dtype) {
            return None;
        }
        Some(BatchNorm {
            op,
            x,
            scale,
            bias,
            mean,
            var,
            epsilon,
            dtype,
            rank: f.rank(x)?,
        })
    }

    /// Multiplies and adds instead.
    fn take_apart(&self, f: &mut Function, cx: &PassContext) -> PassResult {
        let scalar = f.add_type(&TypeSpec::shaped(self.dtype, &[]))?;
        let epsilon = match self.dtype {
            DType::F64 => f64::from(self.epsilon).to_le_bytes().to_vec(),
            _ => self.epsilon.to_le_bytes().to_vec(),
        };
        let epsilon = f.add_constant(&ConstantSpec::new(scalar, &epsilon))?;
        let safe = self.make(f, cx, "onnx.Add", &[self.var, epsilon])?;
        let deviation = self.make(f, cx, "onnx.Sqrt", &[safe])?;
        let factor = self.make(f, cx, "onnx.Div", &[self.scale, deviation])?;
        let moved = self.make(f, cx, "onnx.Mul", &[self.mean, factor])?;
        let offset = self.make(f, cx, "onnx.Sub", &[self.bias, moved])?;
        let factor = self.along_channels(f, cx, factor)?;
        let offset = self.along_channels(f, cx, offset)?;
        let scaled = self.make(f, cx, "onnx.Mul", &[self.x, factor])?;
        let sum = OpBuilder::new("onnx.Add").operands([scaled, offset]);
        f.replace_op(self.op, sum)?;
        Ok(())
    }

    /// One number a channel, which is dim 1, as what stretches over all other dims.
    fn along_channels(
        &self,
        f: &mut Function,
        cx: &PassContext,
        value: ValueId,
    ) -> Result<ValueId, EditError> {
        if self.rank <= 2 {
            return Ok(value);
        }
        let mut shape = vec![1; self.rank - 1];
        shape[0] = -1;
        let shape = f.add_ints(&shape)?;
        self.make(f, cx, "onnx.Reshape", &[value, shape])
    }

    fn make(
        &self,
        f: &mut Function,
        cx: &PassContext,
        name: &str,
        operands: &[ValueId],
    ) -> Result<ValueId, EditError> {
        let at = Position {
            region: f.parent_region(self.op),
            before: self.op,
        };
        let made = OpBuilder::new(name).operands(operands.iter().copied());
        let op = f.create_op(made.untyped_results(1).loc(f.loc(self.op)), at)?;
        cx.infer(f, op)?;
        Ok(f.result(op, 0))
    }
}
