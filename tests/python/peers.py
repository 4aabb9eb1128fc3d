"""One of the tools that people use, run over one model as a process of its own.

    peers.py TOOL GIVEN MADE

Each as its documentation calls it, with its defaults: what it costs is this whole process, as one waits
for it, with the imports.
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
    """ONNX Runtime's offline optimiser; basic is the last level whose results other runtimes take."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = sys.argv[3]
    options.log_severity_level = 4
    onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def load_and_save(given):
    """No tool: what a process in Python that does nothing costs."""
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
    _, tool, given, made = sys.argv
    model = TOOLS[tool](given)
    if model is not None:
        onnx.save(model, made)


if __name__ == "__main__":
    main()
