"""Generates cases of ops on image windows, Einsum, and resizing."""

import numpy as np

from random_values import T

# Sums of 16-bit floats aren't exactly defined.
WIDE = {T.FLOAT, T.DOUBLE}


def image(m, d, channels):
    return (d.between(1, 2), channels, *(d.between(3, 8) for _ in range(d.between(1, 3))))


def slide(m, d, rank, kernel, pooled):
    """Adds window attributes that runtimes agree on."""
    auto = d.pick(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
    # The strides don't exceed the kernel, because automatic pads of pools would be negative otherwise.
    most = kernel if auto.startswith("SAME") else [3] * rank
    m.attribute(auto_pad=auto, strides=[d.between(1, size) for size in most])
    if not auto.startswith("SAME"):
        m.attribute(dilations=[d.between(1, 2) for _ in range(rank)])
        if pooled and d.chance(0.5):
            m.attribute(ceil_mode=1)
    if auto == "NOTSET" and d.chance(0.7):
        m.attribute(pads=[d.below(min(kernel) if pooled else 3) for _ in range(2 * rank)])


def conv(m, d):
    group, deep, each = d.between(1, 2), d.between(1, 3), d.between(1, 2)
    shape, dtype = image(m, d, group * deep), m.dtype(among=WIDE)
    kernel = [d.between(1, 3) for _ in shape[2:]]
    slide(m, d, len(kernel), kernel, False)
    m.attribute(group=group).random(dtype, shape, "plain").random(dtype, (group * each, deep, *kernel), "plain")
    return (m.random(dtype, (group * each,), "plain") if d.chance(0.5) else m).done()


def pool(m, d):
    shape, dtype = image(m, d, 2), m.dtype(among=WIDE if m.op != "MaxPool" else {*WIDE, T.FLOAT16, T.INT8, T.UINT8})
    kernel = [d.between(1, 3) for _ in shape[2:]]
    slide(m, d, len(kernel), kernel, True)
    m.attribute(kernel_shape=kernel, p=d.between(1, 3), count_include_pad=d.below(2))
    return m.random(dtype, shape, "plain").done(d.between(1, 2) if m.op == "MaxPool" and m.case.opset >= 8 else 1)


def global_pool(m, d):
    return m.attribute(p=d.between(1, 3)).random(m.dtype(among=WIDE), image(m, d, 2), "plain").done()


def einsum(m, d):
    sizes = {letter: d.between(1, 3) for letter in "abcZ"}
    # ONNX Runtime crashes if the ellipsis stands for more axes in one term than in another.
    dots, rank = d.chance(0.3), d.between(1, 2)
    terms, used, dtype = [], set(), m.dtype(among={*WIDE, T.INT32, T.INT64})
    for _ in range(d.between(1, 3)):
        letters = [d.pick("abcZ") for _ in range(d.between(0, 3))]
        dims = [sizes[letter] for letter in letters]
        inner = [d.pick([1, 2]) for _ in range(rank)] if dots else []
        terms.append(around(letters, dots))
        used |= {*letters}
        m.random(dtype, [*dims[:1], *inner, *dims[1:]], "small")
    equation = ",".join(terms)
    if d.chance(0.7):
        equation += " -> " + around(d.sample(sorted(used), d.between(0, len(used))), dots)
    return m.attribute(equation=equation).done()


def around(letters, dots):
    """Returns the letters, with an ellipsis after the first if `dots`."""
    return "".join([*letters[:1], "..." if dots else "", *letters[1:]])


def window(m, d):
    m.attribute(periodic=d.below(2), output_datatype=d.pick([T.FLOAT, T.DOUBLE]))
    return m.tensor(d.pick([T.INT32, T.INT64]), np.array(d.between(2, 40), np.int64)).done()


def resize(m, d):
    mode = d.pick(["nearest", "linear", "cubic"]) if m.case.opset >= 11 else d.pick(["nearest", "linear"])
    shape, dtype = (d.between(1, 2), d.between(1, 2), d.between(2, 6), d.between(2, 6)), T.FLOAT
    m.attribute(mode=mode).random(dtype, shape, "plain")
    scales = np.array([1, 1, *(d.pick([0.5, 2, 3, 1.5, 1]) for _ in range(2))], np.float32)
    if m.case.opset < 11:
        return m.tensor(T.FLOAT, scales).done()
    places = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    places += ["half_pixel_symmetric"] if m.case.opset >= 19 else ["tf_half_pixel_for_nn"] if m.case.opset < 13 else []
    places += ["tf_crop_and_resize"] if mode != "nearest" else []
    place = d.pick(places)
    if mode == "nearest" and place == "asymmetric":
        # With other coordinates the nearest element often depends on rounding.
        m.attribute(nearest_mode=d.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    m.attribute(coordinate_transformation_mode=place, extrapolation_value=1.5)
    if mode == "cubic":
        m.attribute(exclude_outside=d.below(2), cubic_coeff_a=d.pick([-0.5, -0.75]))
    if mode != "nearest" and place in places[:2]:
        m.attribute(antialias=d.below(2))
    # Runtimes disagree on the region of an axis that keeps its size.
    part = np.array([0, 0, 0.2, 0.1, 1, 1, d.pick([0.7, 1.3]), 0.9], np.float32)
    m.tensor(T.FLOAT, part if place == "tf_crop_and_resize" else part[:0])
    if place not in ("align_corners", "tf_crop_and_resize") and d.chance(0.5):
        return m.tensor(T.FLOAT, scales).done()
    sizes = [*shape[:2], *(d.pick([size for size in range(1, 10) if size != old]) for old in shape[2:])]
    m.tensor(T.FLOAT, part[:0])
    if m.case.opset >= 18 and d.chance(0.4):
        m.attribute(axes=[2, 3], keep_aspect_ratio_policy=d.pick(["stretch", "not_larger", "not_smaller"]))
        sizes = sizes[2:]
        if place == "tf_crop_and_resize":
            m.case.tensors[1] = (*m.case.tensors[1][:2], part[[2, 3, 6, 7]])
    return m.tensor(T.INT64, np.array(sizes)).done()
