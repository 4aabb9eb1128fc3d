"""Copies the checkout with a contract of the future: `checkout.py DIRECTORY`.

The copy has a later minor version of the contract: a field at the end of every struct that may grow, a column more in
every view, another number for some value of an enumeration (so that one comes up which today's side doesn't know), a
value more in every enumeration, a flag that nobody knows in every word of flags. Each change of source text must find
its place. Files that are in the copy in the same way keep their times, so that they aren't built again.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ABI = "plugin-api/abi/src"
HEADERS = "plugin-api/abi/include/passdock"
#: What the plugin that hands today's host values of the future is written in.
PLUGIN = "tests/plugins/future/future.c"
#: The number in each field of the future: who finds another one has read what isn't there.
MARK = "0xF07E_F07E"
#: The value that each enumeration of the future has more; a severity stands between two others.
VALUE, SEVERITY = 200, 25
#: The flags that nobody knows.
FLAG, TRAIT = "1 << 30", "1 << 40"
#: The enumerations that only hosts hand out, by a change of `HANDED_OUT`.
OF_HOSTS = ["SETTING"]

#: Values that get another number: in Rust, in C, the number today and in the future.
RENUMBERED = [
    ("OPAQUE: AttrKind = AttrKind", "ATTR_OPAQUE", 14, 114),
    ("SPARSE: TypeKind = TypeKind", "TYPE_SPARSE", 10, 110),
    ("BROADCAST: ExprKind = ExprKind", "EXPR_BROADCAST", 7, 107),
    ("FUSED: LocKind = LocKind", "LOC_FUSED", 3, 103),
    ("EXTERNAL: Storage = Storage", "STORAGE_EXTERNAL", 3, 103),
]

#: The contract is a minor further on; the last break is where it was. A plugin that asks before it uses what is new
#: works with today's hosts.
VERSION = [
    (
        f"{ABI}/version.rs",
        "ABI: Version = Version { major: 0, minor: 4 }",
        "ABI: Version = Version { major: 0, minor: 5 }",
    ),
    (f"{HEADERS}/record.h", "#define PASSDOCK_ABI_MINOR 4\n", "#define PASSDOCK_ABI_MINOR 5\n"),
    (f"{HEADERS}/record.h", "#define PASSDOCK_TARGET_MINOR PASSDOCK_ABI_MINOR", "#define PASSDOCK_TARGET_MINOR 4"),
]

#: A struct that is made has the mark, unless it asks for something: today's host would refuse that. Who reads one of
#: the other side looks at it.
MADE = "let mut empty = zeros!($module::$name);\n"
GROWS = "pub unsafe trait Grows: Copy {\n"
IMPLEMENTS = "const EMPTY: Self = $module::$name::EMPTY;\n"
FIELDS = [
    (f"{ABI}/grow.rs", MADE, f"{MADE}if !<$module::$name as Grows>::ASKS {{\nempty.future = {MARK};\n}}\n"),
    (
        f"{ABI}/grow.rs",
        "pub const EMPTY: Self = zeros!($module::$name);",
        f"pub const EMPTY: Self = {{ {MADE} empty.future = {MARK}; empty }};",
    ),
    (
        f"{ABI}/grow.rs",
        GROWS,
        f"{GROWS}/// The struct, whose field of the future is of the future, or not there.\nfn check(self) -> Self;\n",
    ),
    (
        f"{ABI}/grow.rs",
        IMPLEMENTS,
        f"{IMPLEMENTS}fn check(self) -> Self {{\n"
        f'assert!(self.future == 0 || self.future == {MARK}, "read beyond its end");\nself\n}}\n',
    ),
    *(
        (file, read, f"{read}.check()")
        for file, read in [
            ("plugin-api/src/raw/tables.rs", "unsafe { copy.assume_init() }"),
            ("host/core/src/boundary/session/input.rs", "checked(unsafe { at.read() }"),
            ("host/core/src/boundary/session/input.rs", "checked(copy.assume_init()"),
        ]
    ),
    (
        "plugin-api/src/raw/function.rs",
        "        RawFunction {\n            tables,",
        # A view of today's host ends before the field.
        "// SAFETY: a view starts with its size, and is read no further than that.\nunsafe {\n"
        "let size = *function.view.cast::<u32>() as usize;\n"
        "if size >= std::mem::size_of::<abi::FunctionView>() {\n"
        f"assert_eq!((*function.view).future, {MARK});\n}}\n}}\n        RawFunction {{\n            tables,",
    ),
]

#: The places in the host where it hands out what is of the future: for this name, or this text.
HANDED_OUT = [
    (
        "host/loader/src/manifest/setting.rs",
        "        kind: SettingKind::STRING,\n",
        '        kind: if text == "of the future" { SettingKind(200) } else { SettingKind::STRING },\n',
    ),
    (
        "host/core/src/boundary/session/context.rs",
        "        let Some(kind) = session.frame.pass_kind(name) else {\n",
        '        if name == "of.the.Future" {\nreturn input::answer_with(out, || Ok(PassKind(200)));\n}\n'
        "        let Some(kind) = session.frame.pass_kind(name) else {\n",
    ),
    (
        "host/core/src/boundary/session/module_input.rs",
        "        kind: f.kind(),\n",
        '        kind: match f.text(f.name()) {\n"of.the.Future" => passdock_abi::FunctionKind(200),\n'
        "_ => f.kind(),\n},\n",
    ),
    (
        "host/core/src/boundary/table/functions.rs",
        '            let name = input::text(name, "name of a value")?;\n',
        '            let name = input::text(name, "name of a value")?;\nif name == "of the future" {\n'
        "let (status, message) = (Status(200), String::new());\nreturn Err(EditError { status, message });\n}\n",
    ),
]

#: The places in the host where it makes words of flags, and those in which it compares them with what it knows.
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
    (f"{ABI}/grow.rs", "(Type::UNRANKED | Type::MAY_ALIAS)"),
]
OTHER_FLAGS = [
    (
        "host/core/src/analyses/names.rs",
        "                    flags,\n",
        f"                    flags: flags | {FLAG},\n",
    ),
    (
        "host/core/src/boundary/op/definitions.rs",
        "        traits.unwrap_or(0)\n",
        f"        traits.map_or(0, |traits| if traits == 0 {{ 0 }} else {{ traits | {TRAIT} }})\n",
    ),
]

#: The header that has the structs of a module of the contract.
HEADER = {
    "analysis": "analysis",
    "desc": "view",
    "view": "view",
    "host": "host",
    "op": "host",
    "instrument": "instrument",
    "plugin": "plugin",
}
#: Structs that C declares before it defines them, since they name themselves.
DECLARED = ["passdock_host", "passdock_plugin", "passdock_setting_item"]


def structs():
    """A field at the end of every struct that may grow, and a column in every view, in Rust and in C."""
    listed = re.findall(r"^    (\w+)::(\w+)(?: [^,\n]*)?,$", read(f"{ABI}/grow.rs"), flags=re.M)
    if len(listed) < 20:
        sys.exit(f"{ABI}/grow.rs lists {len(listed)} structs only")
    for module, name in listed:
        is_view = name.endswith("View")
        rust, header = f"{ABI}/{module}.rs", f"{HEADERS}/{HEADER[module]}.h"
        start = f"pub struct {name} {{\n"
        body = between(rust, start, "\n}\n")
        column = "\n    /// Of the future.\n    pub newer: crate::view::Column," if is_view else ""
        yield rust, f"{start}{body}\n}}", f"{start}{body}{column}\n    /// Of the future.\n    pub future: u64,\n}}"
        c = "passdock" + re.sub("([A-Z])", lambda letter: f"_{letter[0].lower()}", name)
        if c in DECLARED:
            start = f"\nstruct {c} {{\n"
            body = between(header, start, "\n};\n")
            yield header, f"{start}{body}\n}};", f"{start}{body}\n    uint64_t future;\n}};"
        else:
            column = "    passdock_column newer;\n" if is_view else ""
            yield header, f"\n}} {c};", f"\n{column}    uint64_t future;\n}} {c};"


def enumerations():
    """A value more in every enumeration of C; one side has to meet each without knowing it."""
    plugin = read(PLUGIN)
    for name in ("record", "view", "host"):
        header = f"{HEADERS}/{name}.h"
        for line, enumeration in re.findall(r"^(typedef uint32_t passdock_(\w+);)$", read(header), flags=re.M):
            if enumeration.endswith("_id"):
                continue
            prefix = enumeration.removesuffix("_kind").removeprefix("op_").upper()
            value = SEVERITY if prefix == "SEVERITY" else VALUE
            yield header, f"{line}\n", f"{line}\n#define PASSDOCK_{prefix}_FUTURE {value}u\n"
            is_renumbered = any(c.startswith(f"{prefix}_") for _, c, _, _ in RENUMBERED)
            if not is_renumbered and prefix not in OF_HOSTS and f"PASSDOCK_{prefix}_FUTURE" not in plugin:
                sys.exit(
                    f"nobody meets PASSDOCK_{prefix}_FUTURE, of `{line}` in {header}: let {PLUGIN} hand it to the "
                    "host, or the host of `HANDED_OUT` to a plugin"
                )


def changes():
    """All changes: a file, a text in it, and what that becomes."""
    yield from VERSION
    yield from structs()
    yield from FIELDS
    for rust, c, today, future in RENUMBERED:
        yield f"{ABI}/record.rs", f"{rust}({today});", f"{rust}({future});"
        yield f"{HEADERS}/record.h", f"#define PASSDOCK_{c} {today}u", f"#define PASSDOCK_{c} {future}u"
    yield from enumerations()
    yield from HANDED_OUT
    for file, word in FLAGS:
        yield file, word, f"{word[:-1]} | {FLAG}{word[-1]}"
    yield from OTHER_FLAGS


def read(file):
    return (ROOT / file).read_text()


def between(file, start, end):
    _, found, rest = read(file).partition(start)
    if not found or end not in rest:
        sys.exit(f"{file} has no `{start.strip()}`")
    return rest.partition(end)[0]


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
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


main()
