"""Small models with computed sizes, for comparing shape inference."""

import onnx.parser

HEAD = '<ir_version: 9, opset_import: ["" : 17, "acme" : 1]>'

SHAPES = """
main (float[n, 3, h, w] x) => (float[a, b] y, float[c, d, e] z, int64[f] r) {
  shape = Shape (x)
  zero = Constant <value_int = 0> ()
  one = Constant <value_int = 1> ()
  two = Constant <value_int = 2> ()
  axes = Constant <value_ints = [0]> ()
  rest = Constant <value_ints = [-1]> ()
  batch = Gather <axis = 0> (shape, zero)
  height = Gather <axis = 0> (shape, two)
  batch1 = Unsqueeze (batch, axes)
  flat = Concat <axis = 0> (batch1, rest)
  y = Reshape (x, flat)
  doubled = Mul (height, two)
  doubled1 = Unsqueeze (doubled, axes)
  half = Div (doubled, two)
  half1 = Unsqueeze (half, axes)
  wanted = Concat <axis = 0> (batch1, half1, rest)
  z = Reshape (x, wanted)
  r = Range (zero, doubled, one)
  ones = ConstantOfShape <value = int64[1] {1}> (doubled1)
  count = Size (x)
  upto = Slice (r, axes, batch1)
  halves = Slice (z, axes, half1, axes)
  filled = Cast <to = 1> (ones)
  wide = Concat <axis = 0> (batch1, doubled1)
  spread = Expand (filled, wide)
}
"""

CONVOLUTIONS = """
main (float[n, 3, h, w] x, float[8, 3, 3, 3] k, float[8, 8, 3, 3] l) => (float[o, 8, p, q] y) {
  a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, k)
  b = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (a)
  c = Conv <strides = [1, 1], pads = [1, 1, 1, 1]> (b, l)
  d = Add (b, c)
  e = Relu (d)
  y = Concat <axis = 0> (e, b)
}
"""

BROADCASTS = """
main (float[b, s, 16] x, float[512, 16] table, float[m, 1, 1] other) => (float[o, p, q] y) {
  shape = Shape (x)
  one = Constant <value_int = 1> ()
  axes = Constant <value_ints = [0]> ()
  length = Gather <axis = 0> (shape, one)
  length1 = Unsqueeze (length, axes)
  rows = Slice (table, axes, length1, axes)
  a = Add (x, rows)
  c = Mul (a, other)
  d = Add (c, a)
  y = Relu (d)
}
"""

BRANCHES = """
main (float[n, 4] x, float[m, 4] y, bool c) => (float[o, 4] z) {
  z = If (c) <
    then_branch = then () => (float[t, 4] p) { p = Relu (x) },
    else_branch = other () => (float[u, 4] q) { v = Concat <axis = 0> (y, y)  q = Relu (v) }
  >
  w = If (c) <
    then_branch = then2 () => (float[t2, 4] p2) { p2 = Relu (x) },
    else_branch = other2 () => (float[u2, 4] q2) { q2 = Neg (x) }
  >
  last = Relu (w)
}
"""

LOOPS = """
main (float[n, 4] x) => (float[o, 4] a, float[n, 4] b, float[3, n, 4] c) {
  count = Constant <value = int64 {3}> ()
  go = Constant <value = bool {1}> ()
  a, b, c = Loop (count, go, x, x) <body = body (int64 i, bool goes, float[p, 4] grown, float[q, 4] kept)
      => (bool on, float[r, 4] grown1, float[s, 4] kept1, float[t, 4] seen) {
    on = Identity (goes)
    grown1 = Concat <axis = 0> (grown, x)
    kept1 = Relu (kept)
    seen = Neg (kept1)
  }>
  d = Relu (b)
}
"""

FUNCTIONS = """
main (float[n, 8] x, float[3, 5, 6] w) => (float[n, 8] y, float[3, 5, 6] z) {
  y = acme.Normalize (x)
  z = acme.Normalize (w)
  one = acme.Outer (x)
  other = acme.Outer (w)
}
<opset_import: ["" : 17], domain: "acme">
Normalize (v) => (r) {
  mean = ReduceMean <axes = [-1]> (v)
  d = Sub (v, mean)
  s = Mul (d, d)
  t = ReduceMean <axes = [-1]> (s)
  q = Sqrt (t)
  r = Div (d, q)
}
<opset_import: ["" : 17, "acme" : 1], domain: "acme">
Outer (v) => (r) {
  a = acme.Normalize (v)
  r = Relu (a)
}
"""


def models():
    """Yields the models with their names."""
    texts = {name.lower(): text for name, text in globals().items() if name.isupper() and name != "HEAD"}
    for name, text in texts.items():
        yield name, onnx.parser.parse_model(HEAD + text)
