//! Bodies of losses.

use super::{Body, line};
use crate::infer::{Answer, Infer};

/// The negative entry that each label names, times its weight.
pub(crate) fn negative_log_likelihood(op: &Infer) -> Answer<String> {
    let (ty, label) = (op.dtype(0)?, op.dtype(1)?);
    let reduction = op.word("reduction", &["mean", "none", "sum"])?;
    let mut body = Body::of(op, &["x", "label", "weight"]);
    let mut labels = "label";
    if let Some(ignored) = op.int("ignore_index")? {
        body.scalar("ignored", label, ignored as f64)?;
        body.scalar("any", label, 0.0)?;
        line!(body, "%is_ignored = onnx.Equal(%label, %ignored)");
        line!(body, "%valid = onnx.Where(%is_ignored, %any, %label)");
        labels = "valid";
    }
    body.reshape_at("beside", "Unsqueeze", labels, 1);
    line!(
        body,
        "%picked = onnx.GatherElements(%x, %beside) {{axis = 1}}"
    );
    body.reshape_at("flat", "Squeeze", "picked", 1);
    line!(body, "%plain = onnx.Neg(%flat)");
    let mut weights = None;
    if op.has(2) {
        line!(body, "%weights = onnx.Gather(%weight, %{labels})");
        weights = Some("weights");
    }
    if labels == "valid" {
        body.scalar("nothing", ty, 0.0)?;
        let rest = weights.unwrap_or("whole");
        if weights.is_none() {
            body.scalar("whole", ty, 1.0)?;
        }
        line!(
            body,
            "%counted = onnx.Where(%is_ignored, %nothing, %{rest})"
        );
        weights = Some("counted");
    }
    let Some(weights) = weights else {
        return match reduction {
            "none" => body.gives(&["plain"]),
            "sum" => {
                body.reduce_to("y", "ReduceSum", "plain", &[], false);
                body.gives(&["y"])
            }
            _ => {
                body.reduce_to("y", "ReduceMean", "plain", &[], false);
                body.gives(&["y"])
            }
        };
    };
    line!(body, "%loss = onnx.Mul(%plain, %{weights})");
    if reduction == "none" {
        return body.gives(&["loss"]);
    }
    body.reduce_to("sum", "ReduceSum", "loss", &[], false);
    if reduction == "sum" {
        return body.gives(&["sum"]);
    }
    body.reduce_to("total", "ReduceSum", weights, &[], false);
    line!(body, "%y = onnx.Div(%sum, %total)");
    body.gives(&["y"])
}

/// The negative log likelihood of the softmax over the classes.
pub(crate) fn softmax_cross_entropy(op: &Infer) -> Answer<String> {
    let reduction = op.word("reduction", &["mean", "none", "sum"])?;
    let mut body = Body::of(op, &["x", "label", "weight"]);
    body.ints("flat", &[0, 0, -1]);
    line!(body, "%shape = onnx.Shape(%x)");
    line!(body, "%rows = onnx.Reshape(%x, %flat)");
    line!(
        body,
        "%classes_last = onnx.Transpose(%rows) {{perm = [0, 2, 1]}}"
    );
    line!(
        body,
        "%log_last = onnx.LogSoftmax(%classes_last) {{axis = 2}}"
    );
    line!(
        body,
        "%log_rows = onnx.Transpose(%log_last) {{perm = [0, 2, 1]}}"
    );
    line!(body, "%log = onnx.Reshape(%log_rows, %shape)");
    let ignored = match op.int("ignore_index")? {
        Some(ignored) => format!(", ignore_index = {ignored}"),
        None => String::new(),
    };
    let weight = if op.has(2) { ", %weight" } else { "" };
    let attrs = format!("reduction = {reduction:?}{ignored}");
    line!(
        body,
        "%y = onnx.NegativeLogLikelihoodLoss(%log, %label{weight}) {{{attrs}}}"
    );
    body.gives(&["y", "log"])
}
