"""Copies the checkout with a plugin ABI of the future: `checkout.py DIRECTORY`.

The copy has a later minor version of the ABI: an additional field at the end of every struct that may grow, an
additional column in every view, another number for some enumeration values (so that today's side gets unknown ones),
an additional value in every enumeration, and an unknown flag in every set of flags. Each replacement must match the
source exactly once. Unchanged files in the copy keep their times, so that they aren't built again.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ABI = "plugin-api/abi/src"
#: The table of the plugin ABI, from which the declarations and the headers are generated.
TABLE = "plugin-api/abi/table"
PARTS = ["record", "view", "host", "analysis", "instrument", "plugin"]
#: The plugin that passes values of the future to today's host.
PLUGIN = "tests/plugins/future/future.c"
#: The number in each field of the future: a reader that gets another number has read beyond the struct.
MARK = "0xF07E_F07E"
#: The additional value of each enumeration of the future; a severity is between two others.
VALUE, SEVERITY = 200, 25
#: Unknown flags.
FLAG, TRAIT = "1 << 30", "1 << 40"
#: The enumerations that only hosts return, by a change of `HANDED_OUT`.
OF_HOSTS = ["PASS", "SETTING"]

#: Values that get another number: the name and the number today, the number in the future.
RENUMBERED = [
    ('["OPAQUE", 14,', "ATTR_OPAQUE", '["OPAQUE", 114,'),
    ('["SPARSE", 10,', "TYPE_SPARSE", '["SPARSE", 110,'),
    ('["BROADCAST", 7,', "EXPR_BROADCAST", '["BROADCAST", 107,'),
    ('["FUSED", 3,', "LOC_FUSED", '["FUSED", 103,'),
    ('["EXTERNAL", 3,', "STORAGE_EXTERNAL", '["EXTERNAL", 103,'),
]

#: The plugin ABI is one minor version later.
VERSION = [(f"{TABLE}/record.toml", '["ABI_MINOR", "0",', '["ABI_MINOR", "1",')]

#: A created struct has the mark, unless it requests something, which today's host would reject. The reader of a struct
#: from the other side checks the mark.
MADE = "let mut empty = zeros!($name);\n"
GROWS = "pub unsafe trait Grows: Copy {\n"
IMPLEMENTS = "const EMPTY: Self = $name::EMPTY;\n"
FIELDS = [
    (f"{ABI}/macros.rs", MADE, f"{MADE}if !<$name as crate::Grows>::ASKS {{\nempty.future = {MARK};\n}}\n"),
    (
        f"{ABI}/macros.rs",
        "pub const EMPTY: Self = zeros!($name);",
        f"pub const EMPTY: Self = {{ {MADE} empty.future = {MARK}; empty }};",
    ),
    (
        f"{ABI}/grow.rs",
        GROWS,
        f"{GROWS}/// The struct, whose field of the future is of the future, or not there.\nfn check(self) -> Self;\n",
    ),
    (
        f"{ABI}/macros.rs",
        IMPLEMENTS,
        f"{IMPLEMENTS}fn check(self) -> Self {{\n"
        f'assert!(self.future == 0 || self.future == {MARK}, "read beyond its end");\nself\n}}\n',
    ),
    *(
        (file, read, f"{read}.check()")
        for file, read in [
            ("plugin-api/src/ffi/tables.rs", "unsafe { copy.assume_init() }"),
            ("host/core/src/boundary/session/input.rs", "checked(unsafe { at.read() }"),
            ("host/core/src/boundary/session/input.rs", "checked(copy.assume_init()"),
        ]
    ),
    (
        "plugin-api/src/ffi/function.rs",
        "        FunctionHandle(RawFunction {\n            tables,",
        # A view of today's host ends before the field.
        "// SAFETY: a view starts with its size, and is read no further than that.\nunsafe {\n"
        "let size = *function.view.cast::<u32>() as usize;\n"
        "if size >= std::mem::size_of::<abi::FunctionView>() {\n"
        f"assert_eq!((*function.view).future, {MARK});\n}}\n}}\n        FunctionHandle(RawFunction {{\n            tables,",
    ),
]

#: The places in the host that return values of the future: for this name, or this text.
HANDED_OUT = [
    (
        "host/loader/src/manifest/setting.rs",
        "        kind: SettingKind::STRING,\n",
        '        kind: if text == "of the future" { SettingKind(200) } else { SettingKind::STRING },\n',
    ),
    (
        "host/core/src/boundary/session/context.rs",
        "        let kind = self.frame.pass_kind(name);\n",
        '        if name == "of.the.Future" {\nreturn Ok(PassKind(200));\n}\n'
        "        let kind = self.frame.pass_kind(name);\n",
    ),
    (
        "host/core/src/boundary/session/mod.rs",
        "        kind: f.kind(),\n",
        '        kind: match f.text(f.name()) {\n"of.the.Future" => passdock_abi::FunctionKind(200),\n'
        "_ => f.kind(),\n},\n",
    ),
    (
        "host/core/src/boundary/session/input.rs",
        "    unsafe { long_text(text, what, MAX_SYMBOL_BYTES) }\n",
        '    match unsafe { long_text(text, what, MAX_SYMBOL_BYTES) } {\nOk("of the future") if what == "name" => {\n'
        "let (status, message) = (abi::Status(200), String::new());\nErr(EditFailure { status, message })\n}\n"
        "text => text,\n}\n",
    ),
]

#: The SDK's descriptions don't have the field: their C form has it from `EMPTY`.
DESCRIPTIONS = "xtask/src/abi/templates/descriptions.rs.j2"
OWN_FIELDS = '{% for field in s.fields if field.name not in ["struct_size", "reserved"'
DESCRIBED = [(DESCRIPTIONS, f"{OWN_FIELDS}] {end}", f'{OWN_FIELDS}, "future"] {end}') for end in ("and", "-%}")]

#: The places in the host that create flags, and those that compare them with known flags.
FLAGS = [
    ("host/ir/src/edit/create.rs", "flags: 0,"),
    ("host/ir/src/edit/create.rs", "flags: kind | Value::TOUCHED,"),
    ("host/ir/src/edit/region.rs", "flags: 0,"),
    ("host/ir/src/edit/region.rs", "flags: Port::TOUCHED,"),
    ("host/ir/src/text/parse/function.rs", "flags: Port::TOUCHED,"),
    ("host/ir/src/edit/constant.rs", "flags: Constant::TOUCHED,"),
    ("host/ir/src/pool.rs", "flags: 0,"),
    ("host/ir/src/function/types.rs", "flags: 0,"),
    ("host/ir/src/verify/structure.rs", "!(FLAGS | Value::DEAD)"),
    (f"{TABLE}/view.toml", 'Type::MAY_ALIAS"'),
]
OTHER_FLAGS = [
    (
        "host/core/src/boundary/op/definitions.rs",
        "        traits.and_then(Result::ok).unwrap_or(0)\n",
        f"        traits.and_then(Result::ok).map_or(0, |traits| if traits == 0 {{ 0 }} else {{ traits | {TRAIT} }})\n",
    ),
]

def structs():
    """A field at the end of every struct that may grow, and a column in every view."""
    count = 0
    for part in PARTS:
        file = f"{TABLE}/{part}.toml"
        for item in read(file).split("[[item]]\n"):
            name = re.match(r'struct = "(\w+)"\n', item)
            future = '["future", "u64", "of the future", "", "", 1],\n'
            table = re.search(r'^table = "\w+"\n', item, flags=re.M)
            if name is None:
                continue
            if table is not None:
                count += 1
                yield file, f"{name[0]}{table[0]}", f"{name[0]}{table[0]}fields = [{future}]\n"
            elif '["struct_size"' in item or "\nentry = true\n" in item:
                count += 1
                column = '["newer", "Column", "of the future", "", "", 1],\n' if name[1].endswith("View") else ""
                fields, end, rest = item.partition("\n]\n")
                yield file, f"{fields}{end}", f"{fields}\n{column}{future}]\n"
    if count < 20:
        sys.exit(f"{TABLE} has {count} structs that grow only")


def enumerations():
    """A value more in every enumeration; one side has to meet each without knowing it."""
    plugin = read(PLUGIN)
    for part in PARTS:
        file = f"{TABLE}/{part}.toml"
        for item in read(file).split("[[item]]\n"):
            prefix = re.match(r'enum = "\w+"\nprefix = "(\w+)"\n', item)
            if prefix is None:
                continue
            name, value = prefix[1], SEVERITY if prefix[1] == "SEVERITY" else VALUE
            head, start, _ = item.partition("values = [\n")
            yield file, f"{head}{start}", f'{head}{start}  ["FUTURE", {value}],\n'
            is_renumbered = any(c.startswith(f"{name}_") for _, c, _ in RENUMBERED)
            if not is_renumbered and name not in OF_HOSTS and f"PASSDOCK_{name}_FUTURE" not in plugin:
                sys.exit(
                    f"nobody meets PASSDOCK_{name}_FUTURE, of {file}: let {PLUGIN} hand it to the host, or the host "
                    "of `HANDED_OUT` to a plugin"
                )


def changes():
    """Returns all changes: a file, a text in it, and its replacement."""
    yield from VERSION
    yield from structs()
    yield from FIELDS
    yield from DESCRIBED
    for today, _, future in RENUMBERED:
        yield f"{TABLE}/record.toml", today, future
    yield from enumerations()
    yield from HANDED_OUT
    for file, word in FLAGS:
        yield file, word, f"{word[:-1]} | {FLAG}{word[-1]}"
    yield from OTHER_FLAGS


def read(file):
    return (ROOT / file).read_text()


def main():
    copy = Path(sys.argv[1])
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    # A file that was removed may still be listed.
    files = {file: (ROOT / file).read_bytes() for file in files if (ROOT / file).is_file()}
    for file, old, new in changes():
        text = files[file].decode()
        if old not in text:
            sys.exit(f"{file} has no `{old}` any more, which the future changes")
        files[file] = text.replace(old, new, 1).encode()
    for file, content in files.items():
        place = copy / file
        # Of the future's table, others are generated.
        if content.startswith(b"// @generated") and place.is_file():
            continue
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


main()
