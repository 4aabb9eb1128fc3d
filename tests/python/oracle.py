#!/usr/bin/env python3
"""An independent oracle for models: onnx reads the files, onnxruntime runs them.

    oracle.py same-outputs A B [--inputs X.npy]      the same interface and results, and B is valid
    oracle.py same-fields A B                        equal field by field, including unknown fields
    oracle.py only-renamed A B                       the same bytes except for the name of one node
    oracle.py accuracy MODEL INPUTS LABELS [--at-least 0.95]

Prints one JSON object. Exit status: 0 if the claim holds, 1 if it doesn't
("why" has the reason), 2 if it couldn't be checked.
"""

import argparse
import json
import sys

import fields
import outputs
import wire


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="command", required=True)
    for name in ("same-outputs", "same-fields", "only-renamed"):
        c = commands.add_parser(name)
        c.add_argument("a")
        c.add_argument("b")
        if name == "same-outputs":
            c.add_argument("--inputs", help="an .npy file for the model's first input; without it, seeded random ones")
    c = commands.add_parser("accuracy")
    c.add_argument("model")
    c.add_argument("inputs")
    c.add_argument("labels")
    c.add_argument("--at-least", type=float, default=0.95)
    return p


def check(args):
    """Returns the findings: a dict whose `why` is None if the claim holds."""
    if args.command == "same-outputs":
        return outputs.same_outputs(args.a, args.b, args.inputs)
    if args.command == "same-fields":
        return fields.same_fields(args.a, args.b)
    if args.command == "only-renamed":
        return wire.only_renamed(args.a, args.b)
    return outputs.accuracy(args.model, args.inputs, args.labels, args.at_least)


def main():
    args = parser().parse_args()
    try:
        found = check(args)
    except Exception as error:  # any error of onnx or onnxruntime: not checked, never "ok"
        print(json.dumps({"ok": None, "why": f"{type(error).__name__}: {error}"}))
        return 2
    why = found.pop("why")
    print(json.dumps({"ok": why is None, "why": why, **found}))
    return 0 if why is None else 1


if __name__ == "__main__":
    sys.exit(main())
