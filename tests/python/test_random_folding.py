"""Tests the comparison of folded random ops."""

import unittest

import numpy as np
from onnx import helper, numpy_helper

import random_cases
import random_folding
from random_values import Dice, T


def case(op, *arrays):
    generated = random_cases.Case(21)
    generated.nodes.append(helper.make_node(op, [], ["o0"]))
    generated.tensors = [(f"i{at}", T.FLOAT, array) for at, array in enumerate(arrays)]
    return generated


def why(op, got, wanted, times=random_cases.EXACT):
    tensor = numpy_helper.from_array(np.asarray(got))
    return random_folding.difference(tensor, np.asarray(wanted), case(op, np.ones(2, np.float32)), times)


class Difference(unittest.TestCase):
    def test_equal_results_have_no_difference(self):
        self.assertIsNone(why("Add", np.float32([1, -0.0, np.nan, np.inf]), np.float32([1, -0.0, np.nan, np.inf])))
        self.assertIsNone(why("Add", np.int64([2**53 + 1]), np.int64([2**53 + 1])))

    def test_sign_of_zero_is_compared(self):
        self.assertIn("has np.float32(0.0) instead of np.float32(-0.0)", why("Add", np.float32(0), np.float32(-0.0)))

    def test_last_bit_is_compared_for_exact_ops(self):
        next_to_one = np.nextafter(np.float32(1), np.float32(2))
        self.assertIsNotNone(why("Add", next_to_one, np.float32(1)))
        self.assertIsNone(why("Exp", next_to_one, np.float32(1), random_cases.TRANSCENDENTAL))
        self.assertIsNotNone(why("Exp", np.float32(1.0001), np.float32(1), random_cases.TRANSCENDENTAL))
        self.assertIsNotNone(why("Add", np.int64([2**53 + 1]), np.int64([2**53])))

    def test_types_and_shapes_are_compared(self):
        self.assertIn("int32[1] instead of int64[1]", why("Add", np.int32([1]), np.int64([1])))
        self.assertIn("float32[1, 1] instead of float32[1]", why("Add", np.float32([[1]]), np.float32([1])))

    def test_infinity_differs_from_large_numbers(self):
        self.assertIsNotNone(why("Exp", np.float32(np.inf), np.float32(3e38), random_cases.TRANSCENDENTAL))


class Generator(unittest.TestCase):
    def test_seed_determines_the_cases(self):
        def generated():
            dice = Dice([7, 17])
            return [random_folding.show(random_cases.case(dice, 17)) for _ in range(50)]

        self.assertEqual(generated(), generated())


if __name__ == "__main__":
    unittest.main()
