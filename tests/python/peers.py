"""Runs another tool over a model, in its own process.

    peers.py TOOL GIVEN MADE

Each tool is called like in its documentation, with its defaults. Its cost is that of the whole process, including
imports.
"""

import sys

import onnx


def onnxsim(given):
    import onnxsim

    return onnxsim.simplify(onnx.load(given))[0]


def onnxslim(given):
    import onnxslim

    return onnxslim.slim(given)


def onnxoptimizer(given):
    import onnxoptimizer

    return onnxoptimizer.optimize(onnx.load(given))


def onnxscript(given):
    import onnxscript.optimizer

    return onnxscript.optimizer.optimize(onnx.load(given))


def onnxruntime(given):
    """Runs ONNX Runtime's offline optimizer. Basic is the last level whose results other runtimes accept."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = sys.argv[3]
    options.log_severity_level = 4
    onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def load_and_save(given):
    """Only loads and saves the model, as the baseline of a Python process."""
    return onnx.load(given)


TOOLS = {
    "load_and_save": load_and_save,
    "onnxruntime": onnxruntime,
    "onnxoptimizer": onnxoptimizer,
    "onnxslim": onnxslim,
    "onnxsim": onnxsim,
    "onnxscript": onnxscript,
}


def main():
    _, tool, given, created = sys.argv
    model = TOOLS[tool](given)
    if model is not None:
        onnx.save(model, created)


if __name__ == "__main__":
    main()
