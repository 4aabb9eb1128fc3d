"""Tests the oracle. Each case damages a valid model and expects a specific
message."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "examples" / "models"
DIGITS = MODELS / "digits.onnx"


def ask(*arguments):
    """Returns the oracle's exit status and JSON output."""
    done = subprocess.run([sys.executable, HERE / "oracle.py", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


class Oracle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.other = Path(folder.name) / "other.onnx"
        self.model = onnx.load(DIGITS)

    def run_command(self, command):
        onnx.save(self.model, self.other)
        return ask(command, DIGITS, self.other)

    def check_rejected(self, command, sentence):
        status, report = self.run_command(command)
        self.assertEqual((status, report["ok"]), (1, False))
        self.assertIn(sentence, report["why"])

    def initializer(self, name):
        return next(i for i in self.model.graph.initializer if i.name == name)

    def test_model_equals_itself(self):
        for command in ("same-outputs", "same-fields"):
            self.assertEqual(self.run_command(command)[0], 0)

    def test_changed_weight(self):
        bias = numpy_helper.to_array(self.initializer("fc.bias")).copy()
        bias += np.linspace(0, 0.1, 10, dtype=np.float32)
        self.initializer("fc.bias").CopyFrom(numpy_helper.from_array(bias, "fc.bias"))
        self.check_rejected("same-outputs", "output 'probabilities' differs in")
        self.check_rejected("same-fields", "model.graph.initializer[7].raw_data differs")

    def test_nan_weight(self):
        bias = np.full(10, np.nan, np.float32)
        self.initializer("fc.bias").CopyFrom(numpy_helper.from_array(bias, "fc.bias"))
        self.check_rejected("same-outputs", "infinite or NaN")

    def test_changed_interface(self):
        self.model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
        self.check_rejected("same-outputs", "output 'probabilities' has the type")
        self.model.graph.input[0].name = "picture"
        self.check_rejected("same-outputs", "input 0 of 1 is 'picture' instead of 'image'")

    def test_initializer_as_input(self):
        bias = self.initializer("fc.bias")
        self.model.graph.input.append(onnx.helper.make_tensor_value_info("fc.bias", bias.data_type, bias.dims))
        self.check_rejected("same-outputs", "input 1 of 1 is 'fc.bias' instead of missing")

    def test_invalid_model(self):
        self.model.graph.node[5].input[1] = "nowhere"
        self.check_rejected("same-outputs", "onnx.checker: ")

    def test_renamed_node(self):
        self.model.graph.node[5].name = "first"
        self.check_rejected("same-fields", "model.graph.node[5].name differs: '/conv1/Conv' and 'first'")
        status, report = self.run_command("only-renamed")
        self.assertEqual((status, report["from"], report["to"]), (0, "/conv1/Conv", "first"))

    def test_several_renamed_nodes(self):
        self.check_rejected("only-renamed", "the model differs in 0 records instead of one")
        self.model.graph.node[5].name = "first"
        self.model.graph.node[6].name = "second"
        self.check_rejected("only-renamed", "the graph differs in 2 records instead of one")
        self.model.graph.node[6].CopyFrom(onnx.load(DIGITS).graph.node[6])
        self.model.graph.node[5].op_type = "Corr"
        self.check_rejected("only-renamed", "the node differs in 2 records instead of one")

    def test_unknown_fields_are_compared(self):
        self.other.write_bytes(DIGITS.read_bytes() + bytes([0xFA, 0x3F, 1, 65]))  # field 1023: "A"
        status, report = ask("same-fields", DIGITS, self.other)
        self.assertEqual(status, 1)
        self.assertIn("fields that onnx doesn't know", report["why"])

    def test_truncated_file(self):
        self.other.write_bytes(DIGITS.read_bytes()[:1000])
        for command in ("same-outputs", "same-fields", "only-renamed"):
            status, report = ask(command, DIGITS, self.other)
            self.assertEqual((status, report["ok"]), (2, None))

    def test_accuracy(self):
        test_set = [MODELS / "digits_inputs.npy", MODELS / "digits_labels.npy"]
        self.assertEqual(ask("accuracy", DIGITS, *test_set)[0], 0)
        status, report = ask("accuracy", DIGITS, *test_set, "--at-least", "0.999")
        self.assertEqual((status, report["of"]), (1, 360))


if __name__ == "__main__":
    unittest.main()
