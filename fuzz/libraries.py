"""Minimal crafted libraries, one for each system, with a manifest."""

import struct

MANIFEST = b'[plugin]\nname = "hand"\nabi = "1.0"\nir = "1.0"\npanic = "none"\n\0'
NAMES = [b"passdock_manifest_v1\0", b"passdock_plugin_v1\0"]


def put(data, at, form, *values):
    struct.pack_into("<" + form, data, at, *values)


def elf(manifest_len=len(MANIFEST)):
    """Returns an ELF file with one segment and sections for code, the manifest, symbols and their strings."""
    data = bytearray(0x500)
    names = b"\0" + b"".join(NAMES)
    code, symbols, strings, sections, manifest = 0xC0, 0x100, 0x180, 0x200, 0x400
    data[:16] = b"\x7fELF\2\1\1" + bytes(9)
    put(data, 16, "HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections, 0, 64, 56, 1, 64, 5, 4)
    put(data, 64, "IIQQQQQQ", 1, 7, 0, 0, 0, len(data), len(data), 0x1000)
    put(data, symbols + 24, "IBBHQQ", 1, 0x11, 0, 2, manifest, manifest_len)
    put(data, symbols + 48, "IBBHQQ", 1 + len(NAMES[0]), 0x12, 0, 1, code, 1)
    data[strings:strings + len(names)] = names
    # Type, flags, offset, length, the section of the strings.
    for at, (kind, flags, start, size, link) in enumerate((
        (1, 6, code, 16, 0), (1, 2, manifest, manifest_len, 0), (11, 2, symbols, 72, 4), (3, 2, strings, len(names), 0),
    ), 1):
        put(data, sections + 64 * at, "IIQQQQIIQQ", 0, kind, flags, start, start, size, link, 1, 1, 24 if kind == 11 else 0)
    data[manifest:manifest + len(MANIFEST)] = MANIFEST
    return bytes(data)


def pe():
    """Returns a PE file with two sections: one byte of code, and exports with a manifest."""
    data = bytearray(0x800)
    data[:2] = b"MZ"
    put(data, 0x3C, "I", 0x40)
    data[0x40:0x44] = b"PE\0\0"
    header, optional = 0x44, 0x58
    put(data, header, "HH", 0x8664, 2)
    put(data, header + 16, "HH", 240, 0x2022)
    put(data, optional, "H", 0x20B)
    for at, value in ((16, 0x1000), (32, 0x1000), (36, 0x200), (56, 0x3000), (60, 0x200), (108, 16)):
        put(data, optional + at, "I", value)
    put(data, optional + 112, "II", 0x2000, 0x100)
    sections = optional + 240
    for at, (name, numbers, flags) in enumerate((
        (b".text", (1, 0x1000, 0x200, 0x200), 0x60000020), (b".rdata", (0x400, 0x2000, 0x400, 0x400), 0x40000040),
    )):
        put(data, sections + 40 * at, "8sIIII", name, *numbers)
        put(data, sections + 40 * at + 36, "I", flags)
    rdata = 0x400
    for at, value in (
        (16, 1), (20, 2), (24, 2), (28, 0x2028), (32, 0x2030), (36, 0x2038),
        (40, 0x2200), (44, 0x1000), (48, 0x2040), (52, 0x2060),
    ):
        put(data, rdata + at, "I", value)
    put(data, rdata + 58, "H", 1)
    for at, text in ((64, NAMES[0]), (96, NAMES[1]), (0x200, MANIFEST)):
        data[rdata + at:rdata + at + len(text)] = text
    return bytes(data)


def macho():
    """Returns a Mach-O file with a segment of two sections, a symbol table and the export trie."""
    data = bytearray(0x500)
    put(data, 0, "IIIIIIII", 0xFEEDFACF, 0x01000007, 3, 6, 3, 72 + 160 + 24 + 16, 0, 0)
    put(data, 32, "II16sQQQQIIII", 0x19, 72 + 160, b"__TEXT", 0, 0x500, 0, 0x500, 7, 5, 2, 0)
    put(data, 104, "16s16sQQIIII", b"__text", b"__TEXT", 0x200, 16, 0x200, 0, 0, 0)
    put(data, 168, "I", 0x80000400)
    put(data, 184, "16s16sQQIIII", b"__const", b"__TEXT", 0x400, len(MANIFEST), 0x400, 0, 0, 0)
    names = [b"_" + name for name in NAMES]
    symbols, strings, trie = 0x220, 0x260, 0x300
    put(data, 264, "IIIIII", 2, 24, symbols, 2, strings, 1 + sum(map(len, names)))
    # A root with a child for each name: length, flags, address.
    leaves, tree = [b"\x03\0\x80\x08\0", b"\x03\0\x80\x04\0"], b"\0\2"
    at = 2 + sum(len(name) + 1 for name in names)
    for name, leaf in zip(names, leaves):
        tree += name + bytes([at])
        at += len(leaf)
    tree += b"".join(leaves)
    put(data, 288, "IIII", 0x80000033, 16, trie, len(tree))
    put(data, symbols, "IBBHQ", 1, 15, 2, 0, 0x400)
    put(data, symbols + 16, "IBBHQ", 1 + len(names[0]), 15, 1, 0, 0x200)
    data[strings:strings + 1 + sum(map(len, names))] = b"\0" + b"".join(names)
    data[trie:trie + len(tree)] = tree
    data[0x400:0x400 + len(MANIFEST)] = MANIFEST
    return bytes(data)


def fat():
    """Returns a universal Mach-O file that contains a library for one machine."""
    head = bytearray(0x1000)
    inner = macho()
    struct.pack_into(">IIIIIII", head, 0, 0xCAFEBABE, 1, 0x01000007, 3, 0x1000, len(inner), 12)
    return bytes(head) + inner


def libraries():
    return {"whole.so": elf(), "whole.dll": pe(), "whole.dylib": macho(), "fat.dylib": fat()}
