"""Parses types in IR text (docs/ir.md), and evaluates dims for given symbols."""

import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w$]+|\s+|[^\w\s]')
ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]+)\}|\\(.)")
CALLED = {"min": min, "max": max, "broadcast": lambda a, b: b if a == 1 else a}
OPENING, CLOSING = "([{<", ")]}>"


class Type:
    """A tensor's element type and dims (None if the rank is unknown), or another type, without dims."""

    def __init__(self, tokens):
        self.text = "".join(tokens).strip()
        shaped = re.fullmatch(r"(\w+)\[(.*)\]", self.text, re.S)
        self.dtype = shaped[1] if shaped else None
        self.dims = None
        if shaped and shaped[2].strip() != "*":
            self.dims = [dim for dim in ("".join(each).strip() for each in split(tokenize(shaped[2]))) if dim]

    def known(self):
        return self.dims is not None and all(is_known(dim) for dim in self.dims)


def values(text):
    """Returns the types of all results and constants: {(function, path of regions, name): type}.

    A step of the path is the first result of the region's op and the region's name, as in ONNX.
    """
    found, function, stack = {}, None, []  # stack of paths, and the op before the regions
    for line in text.splitlines():
        tokens = [token for token in tokenize(line) if not token.isspace()]
        if not tokens:
            continue
        if tokens[0] in ("fn", "prim"):
            function, stack = opname(tokens[2:]), [[(), None]]
        elif tokens[0] == "}" and stack:
            stack.pop()
        elif tokens[0] == "region":
            path, op = stack[-1]
            stack.append([path + ((op, unquote(tokens[1])),), None])
        elif stack and tokens[0] in ("%", "_"):
            stack[-1][1] = line_of(tokens, function, stack[-1][0], found)
    return found


def line_of(tokens, function, path, found):
    """Parses an op or a constant and returns its first result's name."""
    equals = at_depth_0(tokens, "=")
    names = [unquote("".join(each[1:2])) for each in split(tokens[:equals])]
    rest = tokens[equals + 1 :]
    if rest[0] == "const":
        types = [type_of(rest[1:])]
    else:
        colon = at_depth_0(rest, ":")
        types = [] if colon is None else [type_of(each) for each in split(rest[colon + 1 :])]
    for name, ty in zip(names, types):
        if name:
            found[function, path, name] = ty
    return names[0]


def type_of(tokens):
    """Parses a type at the start of the tokens."""
    if tokens[:1] == ["!"]:
        tokens = tokens[1:]
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in OPENING) - (token in CLOSING)
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if depth == 0 and (token in ("]", ">") or following not in ("[", "<")):
            return Type(tokens[: at + 1])
    return Type(tokens)


def value_of(dim, symbols):
    """Returns a dim's size; None if a symbol isn't in `symbols`, or for `?`."""
    parts, tokens = [], [token for token in tokenize(dim) if not token.isspace()]
    for at, token in enumerate(tokens):
        if token in CALLED and tokens[at + 1 : at + 2] == ["("]:
            parts.append(token)
        elif token == "/":
            parts.append("//")
        elif token.startswith('"') or re.fullmatch(r"[^\W\d]\w*", token):
            name = unquote(token)
            if name not in symbols:
                return None
            parts.append(f"({symbols[name]})")
        elif token == "?":
            return None
        else:
            parts.append(token)
    try:
        return eval("".join(parts), {"__builtins__": {}, **CALLED})  # only digits, operators and these functions
    except ZeroDivisionError:
        return None


def is_known(dim):
    return dim != "?"


def opname(tokens):
    name = []
    for token in tokens:
        if token in ("(", " "):
            break
        name.append(unquote(token))
    return "".join(name)


def at_depth_0(tokens, wanted):
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in OPENING) - (token in CLOSING)
        if token == wanted and depth == 0:
            return at
    return None


def split(tokens):
    """Splits tokens at commas."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def tokenize(text):
    return TOKEN.findall(text)


def unquote(token):
    if not token.startswith('"'):
        return "" if token == "_" else token
    def plain(match):
        return chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t", "r": "\r"}.get(match[2], match[2])
    return ESCAPE.sub(plain, token[1:-1])
