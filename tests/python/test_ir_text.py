"""Tests the parser of types in IR text."""

import unittest

import ir_text

TEXT = """module {
  fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
    %"a, b" = const i64[1] [-1] node loc("c : d")
    %y, _, %2 = acme.Op(%x, _) {text = "a : b", list = [1, 2]} : !f32[(n+1)/2,"x y",?], f32[2], seq<f32[*]> loc("l")
      region body (%i: ?) {
        %3 = onnx.Relu(%i) : bool[*]
      }
    return %y
  }
  fn @acme.F(%v: ?) -> (%w) {
    %w = onnx.Relu(%v)
  }
}
"""


class IrText(unittest.TestCase):
    def test_value_types_are_parsed(self):
        found = {key: ty.dims for key, ty in ir_text.values(TEXT).items()}
        self.assertEqual(found, {
            ("main", (), "a, b"): ["1"],
            ("main", (), "y"): ["(n+1)/2", '"x y"', "?"],
            ("main", (), "2"): None,
            ("main", (("y", "body"),), "3"): None,
        })

    def test_dims_are_evaluated(self):
        sizes = {"n": 5, "x y": 3, "max": 2}
        for dim, size in {
            "(n+1)/2": 3, '"x y"*2': 6, "max(n-7,0)": 0, "n%3": 2, "m+1": None, "?": None, "max": 2,
            "broadcast(1,n)": 5, "broadcast(n,broadcast(n,1))": 5, "n*-1+7": 2,
        }.items():
            self.assertEqual(ir_text.value_of(dim, sizes), size, dim)


if __name__ == "__main__":
    unittest.main()
