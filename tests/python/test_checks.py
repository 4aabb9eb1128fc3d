"""Tests the oracle of the corpus. Each case damages the result for a valid model
and expects a specific message."""

import tempfile
import unittest
from pathlib import Path

import onnx
from onnx import helper

import crafted
import checks
import wire
from crafted.base import UNKNOWN, entries, floats, graph, model, node, value


def noted():
    """Returns a model with notes on everything, and a random op."""
    nodes = [
        node("Relu", "x", "a", "first"),
        node("RandomUniformLike", "a", "r", "draw"),
        node("Op", "a r w", "y", "last", domain="acme", depth=3),
    ]
    nodes[0].doc_string = "a note"
    nodes[2].metadata_props.extend(entries(source="line 3"))
    body = graph(nodes, [value("x")], [value("y")], [floats("w", [1, 2]), floats("scale", [0.5])])
    body.value_info.append(value("a"))
    body.value_info[0].doc_string = "in between"
    note = body.quantization_annotation.add(tensor_name="a")
    note.quant_parameter_tensor_names.extend(entries(SCALE_TENSOR="scale"))
    created = model(body, domains=["acme"], doc_string="a model")
    created.metadata_props.extend(entries(author="somebody"))
    created.training_info.add().update_binding.extend(entries(w="w"))
    return created


class ChecksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.given, self.made = Path(folder.name) / "given.onnx", Path(folder.name) / "made.onnx"
        self.model = noted()
        self.given.write_bytes(self.model.SerializeToString())

    def check(self, check):
        self.made.write_bytes(self.model.SerializeToString())
        return check(self.given, self.made)

    def check_rejected(self, check, sentence):
        self.assertIn(sentence, self.check(check) or "nothing")

    def spoilt(self, check, sentence, spoil):
        self.model = noted()
        spoil(self.model)
        self.check_rejected(check, sentence)

    def test_renamed_node(self):
        first = self.model.graph.node[0]
        first.name = "passdock/renamed"
        self.assertIsNone(self.check(checks.renamed))
        first.name = "another"
        self.check_rejected(checks.renamed, "the node's new name isn't there")
        first.doc_string = "another"
        self.check_rejected(checks.renamed, "more than a node's name has changed: records [3, 4, 6] of the node")
        self.model.graph.node[2].name = "passdock/renamed"
        self.check_rejected(checks.renamed, "of the graph")

    def test_new_attribute(self):
        op = self.model.graph.node[2]
        op.attribute.append(helper.make_attribute("passdock_corpus", 1))
        self.assertIsNone(self.check(checks.attribute))
        op.attribute[0].i = 4
        self.check_rejected(checks.attribute, "more than an attribute is new")
        self.spoilt(
            checks.attribute, "another attribute", lambda m: m.graph.node[2].attribute.add(name="new", i=1, type=2)
        )

    def test_renamed_value(self):
        nodes, infos = self.model.graph.node, self.model.graph.value_info
        nodes[0].output[0] = nodes[1].input[0] = nodes[2].input[0] = infos[0].name = "passdock/value"
        self.assertIsNone(self.check(checks.renamed_value))
        infos[0].ClearField("doc_string")
        self.check_rejected(checks.renamed_value, "value_info[0].doc_string is only in the first file")
        nodes[2].input[0] = "a"
        nodes[2].input[2] = "passdock/value"
        self.check_rejected(checks.renamed_value, "node[2].input[2] differs: 'w' and 'a'")

    def test_replaced_node(self):
        self.assertIsNone(self.check(checks.replaced))
        op = self.model.graph.node[2]
        op.ClearField("metadata_props")
        op.attribute[0].doc_string = "only a note"
        self.assertIsNone(self.check(checks.replaced))
        op.attribute[0].i = 4
        self.check_rejected(checks.replaced, "attribute[0].i differs: 3 and 4")
        self.spoilt(checks.replaced, "another domain", lambda m: setattr(m.graph.node[2], "domain", "other"))
        self.spoilt(checks.replaced, "input", lambda m: m.graph.node[2].input.pop())

        def two(created):
            created.graph.node[0].name = created.graph.node[1].name = "n"

        self.spoilt(checks.replaced, "more than one node", two)

    def test_optimization_must_preserve_metadata(self):
        self.assertIsNone(self.check(checks.optimized))
        cases = {
            "doc_string": lambda m: m.ClearField("doc_string"),
            "metadata_props": lambda m: m.metadata_props.pop(),
            "training_info": lambda m: m.training_info.pop(),
            "graph.quantization_annotation": lambda m: m.graph.quantization_annotation.pop(),
            "name ['scale'], which are gone": lambda m: m.graph.initializer.pop(),
            "graph.input": lambda m: m.graph.input[0].type.tensor_type.shape.dim.add(dim_value=1),
            "graph.output[0].name": lambda m: setattr(m.graph.output[0], "name", "z"),
            "value_info 'a'.doc_string": lambda m: m.graph.value_info[0].ClearField("doc_string"),
            "node 'first' (Relu).doc_string": lambda m: m.graph.node[0].ClearField("doc_string"),
            "initializer 'w'.float_data": lambda m: m.graph.initializer[0].float_data.append(1),
            "the opset imports": lambda m: setattr(m.opset_import[0], "version", 22),
            "RandomUniformLike') are 0 left": lambda m: m.graph.node.pop(1),
            "'Op') are 0 left": lambda m: m.graph.node.pop(),
            "bytes became": lambda m: m.graph.node.add(op_type="Relu", doc_string="x" * 2000),
        }
        for sentence, spoil in cases.items():
            with self.subTest(sentence):
                self.spoilt(checks.optimized, sentence, spoil)

    def test_checker_errors_are_reported(self):
        self.made.write_bytes(self.given.read_bytes())
        self.assertIsNone(checks.Checker().newly_rejected(self.given, self.made))
        self.spoilt(checks.Checker().newly_rejected, "onnx.checker: ", lambda m: m.graph.node[0].ClearField("op_type"))

    def test_unknown_fields_are_compared(self):
        self.given.write_bytes(self.model.SerializeToString() + UNKNOWN)
        self.made.write_bytes(self.model.SerializeToString() + UNKNOWN)
        self.assertIsNone(checks.same_fields(self.given, self.made))
        self.made.write_bytes(
            self.model.SerializeToString() + UNKNOWN.replace(b"\xc3\x3e\x08\x01", b"\xc3\x3e\x08\x02")
        )
        self.assertIn("fields that onnx doesn't know", checks.same_fields(self.given, self.made))
        self.assertEqual([number for number, _, _ in wire.records(UNKNOWN)], [1000] * 5)


class Crafted(unittest.TestCase):
    def test_crafted_models_set_every_field(self):
        self.assertEqual(crafted.never_set(crafted.models()), [])
        one = {"one": crafted.Crafted("no overload", noted())}
        self.assertIn("onnx.NodeProto.overload", crafted.never_set(one))
        self.assertIn("onnx.NodeProto.overload", crafted.never_set({"one": trained_only()}))


def trained_only():
    """Returns a model that sets a field only in its training information, where it has no effect."""
    created = noted()
    created.training_info[0].algorithm.node.add(overload="here")
    return crafted.Crafted("opaque", created)


if __name__ == "__main__":
    unittest.main()
