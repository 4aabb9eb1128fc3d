//! Recognition of other file formats that are passed as ONNX models, with advice on each.

use memchr::memmem;

/// The number of bytes at the beginning of a file that are inspected.
const BEGINNING: usize = 4096;

/// Formats by magic bytes: an offset, the bytes, and the message.
const MAGIC: [(usize, &[u8], &str); 25] = [
    (0, b"version https://git-lfs.", LFS),
    (0, b"version https://hawser.", LFS),
    (
        0,
        b"/annex/objects/",
        "a git-annex pointer: run `git annex get` in its repository",
    ),
    (0, b"\x1f\x8b", "a gzip archive: unpack it with `gunzip`"),
    (0, b"BZh", "a bzip2 archive: unpack it with `bunzip2`"),
    (0, b"\xfd7zXZ\0", "an xz archive: unpack it with `unxz`"),
    (
        0,
        b"\x28\xb5\x2f\xfd",
        "a Zstandard archive: unpack it with `unzstd`",
    ),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (257, b"ustar", "a tar archive: unpack it with `tar -xf`"),
    (0, b"\x93NUMPY", "a NumPy array (.npy)"),
    (
        0,
        b"GGUF",
        "a GGUF model, which has only weights: export the original model to ONNX",
    ),
    (
        0,
        b"\x89HDF\r\n",
        "an HDF5 file, perhaps from Keras: export the model to ONNX with `tf2onnx`",
    ),
    (
        4,
        b"TFL3",
        "a TensorFlow Lite model: convert it to ONNX with `tf2onnx`",
    ),
    (
        4,
        b"ORTM",
        "a model in ONNX Runtime's format (.ort): use the ONNX model that it was converted from",
    ),
    (0, b"ptrt", ENGINE),
    (0, b"ftrt", ENGINE),
    (0, b"\x7fELF", "a program or shared library (ELF)"),
    (0, b"MZ", "a program or shared library (PE)"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x80\x02", PICKLE),
    (0, b"\x80\x03", PICKLE),
    (0, b"\x80\x04", PICKLE),
    (0, b"\x80\x05", PICKLE),
    (
        8,
        b"{\"",
        "a safetensors file, which has only weights: export the model to ONNX",
    ),
    (0, b"Rar!", "a RAR archive: unpack it"),
];

const LFS: &str = "a Git LFS pointer: run `git lfs pull` in its repository";
const ENGINE: &str = "a TensorRT engine: use the ONNX model that it was built from";
const PICKLE: &str =
    "a Python pickle, perhaps from PyTorch: export the model with `torch.onnx.export`";

/// Text formats by their beginning, in lower case and after white space.
const TEXT: [(&str, &str); 9] = [
    ("<!doctype html", HTML),
    ("<html", HTML),
    (
        "<?xml",
        "an XML document, perhaps an OpenVINO model: use the ONNX model that it was converted from",
    ),
    (
        "ir_version:",
        "an ONNX model as protobuf text: convert it with `google.protobuf.text_format.Parse`",
    ),
    (
        "{",
        "a JSON document: convert an ONNX model in JSON with `google.protobuf.json_format.Parse`",
    ),
    ("module", IR),
    ("fn @", IR),
    ("#!", "a script"),
    ("<?php", "a script"),
];

const HTML: &str = "a web page (HTML), perhaps from a failed download";
const IR: &str = "IR text: change the file extension to `.ir`";

/// Describes the format of a file that isn't an ONNX model, with advice; `None` if the format is unknown.
#[must_use]
pub fn foreign_format(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        return Some("an empty file");
    }
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let has = |part: &[u8]| memmem::find(beginning, part).is_some();
    if beginning.starts_with(b"PK\x03\x04") {
        return Some(match () {
            () if has(b"data.pkl") || has(b"/.format_version") => {
                "a PyTorch file (zip): export the model with `torch.onnx.export`"
            }
            () if has(b".npy") => "NumPy arrays (.npz)",
            () if has(b"config.json") && has(b"metadata.json") => {
                "a Keras model: export it to ONNX with `tf2onnx`"
            }
            () => "a zip archive: unpack it with `unzip`",
        });
    }
    let is_at =
        |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|part| part.starts_with(magic));
    if let Some((.., what)) = MAGIC.iter().find(|(at, magic, _)| is_at(*at, magic)) {
        return Some(what);
    }
    if bytes.len() >= 16 && beginning.iter().all(|byte| *byte == 0) {
        return Some("a file that begins with zeros, perhaps an incomplete download");
    }
    let is_saved = is_at(0, b"\x08\x01\x12") && (has(b"saved_model_main_op") || has(b"serve"));
    if is_saved || (is_at(0, b"\n") && has(b"\x0bPlaceholder")) {
        return Some("a TensorFlow model: convert it to ONNX with `tf2onnx`");
    }
    let text = decode_text(beginning)?;
    let known = TEXT.iter().find(|(start, _)| text.starts_with(start));
    Some(match known {
        Some((_, what)) => what,
        // The beginning of `onnx.printer`'s output: `<` and a list of keys.
        None if text.starts_with('<') && text.contains("ir_version") => {
            "an ONNX model as text: convert it with `onnx.parser.parse_model`"
        }
        None => "a text file",
    })
}

/// Returns the beginning of a text in lower case, without leading white space; `None` if the bytes aren't text.
fn decode_text(beginning: &[u8]) -> Option<String> {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let text = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&beginning[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_text = |c: char| !c.is_control() || c.is_ascii_whitespace();
    (!text.is_empty() && text.chars().all(is_text)).then(|| text.trim_start().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_file_formats_are_recognized() {
        let tar = [&[b'a'; 257][..], b"ustar"].concat();
        let cases: [(&[u8], &str); 31] = [
            (b"", "an empty file"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
                "git lfs pull",
            ),
            (b"/annex/objects/SHA256E-s1--0.onnx\n", "git annex get"),
            (b"\x1f\x8b\x08\0", "gunzip"),
            (b"BZh91AY", "bunzip2"),
            (b"\xfd7zXZ\0\0", "unxz"),
            (b"\x28\xb5\x2f\xfd\0", "unzstd"),
            (&tar, "tar -xf"),
            (b"PK\x03\x04\0\0archive/data.pkl", "PyTorch"),
            (b"PK\x03\x04\0\0weights.npy", ".npz"),
            (b"PK\x03\x04\0\0metadata.json config.json", "Keras"),
            (b"PK\x03\x04\0\0a.onnx", "unzip"),
            (b"\x93NUMPY\x01\0", ".npy"),
            (b"GGUF\x03\0\0\0", "GGUF"),
            (b"\x89HDF\r\n\x1a\n", "HDF5"),
            (b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
            (b"\x1c\0\0\0ORTM", "(.ort)"),
            (b"ptrt\0\0", "TensorRT"),
            (b"\x80\x02}q\0.", "pickle"),
            (b"\x10\0\0\0\0\0\0\0{\"w\":{}}      ", "safetensors"),
            (&[0; 64], "zeros"),
            (b"\x08\x01\x12\x09\n\x05serve", "TensorFlow model"),
            (b"\n\x18\n\x01x\x12\x0bPlaceholder", "TensorFlow model"),
            (b"\n <!DOCTYPE html><html>", "web page"),
            (b"<html>", "web page"),
            (b"<?xml version=\"1.0\"?><net/>", "OpenVINO"),
            (b"<\n   ir_version: 8\n>\nmain_graph", "onnx.parser"),
            (b"ir_version: 8\ngraph {", "text_format"),
            (b"{\"irVersion\": \"8\"}", "json_format"),
            (b"module {\n}\n", "`.ir`"),
            ("Zugriff verweigert: ä".as_bytes(), "a text file"),
        ];
        for (bytes, expected) in cases {
            let found = foreign_format(bytes).unwrap_or("?");
            assert!(found.contains(expected), "{expected}: {found}");
        }
        for bytes in [&b"\x08\x08\x3a\x02ab"[..], &[0xd1; 40], &[8]] {
            assert_eq!(foreign_format(bytes), None);
        }
    }
}
