//! The categories of operators in mixed precision: always, follow, never.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::{ToMixedPrecision, operators};

/// When ops of an operator are computed in the low-precision type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Always,
    Follow,
    Never,
}

const ALWAYS: &str = "Conv ConvTranspose DeformConv Einsum Gemm MatMul";

const FOLLOW: &str = "
Abs Add AveragePool BatchNormalization Ceil CenterCropPad Clip Col2Im Compress Concat DepthToSpace Div Dropout Elu Equal
Erf Expand Flatten Floor Gather GatherElements GatherND Gelu GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Max MaxPool Mean Min Mish Mul Neg PRelu Pad
ReduceMax ReduceMin Relu Reshape Resize ReverseSequence Round ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign
Size Slice Softsign SpaceToDepth Split Squeeze Sub Sum SwiGLU Swish Tanh ThresholdedRelu Tile Transpose Trilu Unsqueeze
Upsample Where";

/// Reductions and similar operators whose definitions don't specify the accumulation type.
const ACCUMULATE: &str = "
AveragePool BatchNormalization Conv ConvTranspose CumSum DeformConv Einsum GRU Gemm GlobalAveragePool GlobalLpPool
InstanceNormalization LRN LSTM LogSoftmax LpNormalization LpPool MatMul Mean MeanVarianceNormalization RNN ReduceL1
ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd ReduceSum ReduceSumSquare Softmax Sum";

/// The categories of operators, by name.
pub(super) struct Categories<'o> {
    known: HashMap<&'o str, Category>,
}

impl<'o> Categories<'o> {
    /// Merges the options with the defaults for ONNX's operators.
    pub(super) fn new(options: &'o ToMixedPrecision) -> Result<Categories<'o>, PassError> {
        let lists = [
            (&options.always, Category::Always),
            (&options.follow, Category::Follow),
            (&options.never, Category::Never),
        ];
        let mut known: HashMap<&str, Category> = HashMap::new();
        for (names, category) in lists {
            for name in names {
                let other = known.insert(name, category);
                if other.is_some_and(|other| other != category) {
                    let message = format!(
                        "`{name}` is in more than one of the options `always`, `follow` and `never`"
                    );
                    return Err(PassError::config(message));
                }
                let own = name.strip_prefix("onnx.");
                let is_known = own.is_none_or(operators::is_listed);
                if category != Category::Never && !is_known {
                    let message = format!(
                        "no version of `{name}` supports a float type smaller than float32"
                    );
                    return Err(PassError::config(message));
                }
            }
        }
        Ok(Categories { known })
    }

    /// Returns the category of an operator.
    pub(super) fn category(&self, name: &str) -> Category {
        if let Some(&known) = self.known.get(name) {
            return known;
        }
        match name.strip_prefix("onnx.") {
            Some(own) if lists(ALWAYS, own) => Category::Always,
            Some(own) if lists(FOLLOW, own) => Category::Follow,
            _ => Category::Never,
        }
    }

    /// Whether the options list an operator.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }
}

/// Whether an operator accumulates, and ONNX doesn't specify in which type.
pub(super) fn accumulates(name: &str) -> bool {
    name.strip_prefix("onnx.")
        .is_some_and(|own| lists(ACCUMULATE, own))
}

fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use super::{ACCUMULATE, ALWAYS, FOLLOW, operators};

    #[test]
    fn listed_operators_support_a_smaller_type() {
        for names in [ALWAYS, FOLLOW, ACCUMULATE] {
            for name in names.split_whitespace() {
                assert!(operators::is_listed(name), "{name}");
            }
        }
    }
}
