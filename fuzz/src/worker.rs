//! Assertions about the messages of a worker in which a plugin runs.

use std::fs;
use std::path::{Path, PathBuf};

use passdock_driver::model_file::StagedModel;
use passdock_driver::pipeline::{self, Report};
use passdock_driver::supervised::handle_messages;

/// Files that no worker may change, with their contents.
const FILES: [(&str, &str); 3] = [
    ("mine", "mine"),
    ("out/model.ir.data", "mine"),
    ("outside/mine", "mine"),
];

/// Handles messages as a supervisor does: each line is a message, or with `framed` the input is what the worker sent.
/// `@` stands for the directory of the test. Only outputs may be written. Returns `true` if there was a response.
pub fn check_messages(input: &[u8], framed: bool) -> bool {
    let directory = std::env::temp_dir().join(format!("passdock-fuzz-{}", std::process::id()));
    _ = fs::remove_dir_all(&directory);
    for name in ["temporary/sub", "staging", "out", "outside"] {
        fs::create_dir_all(directory.join(name)).expect("a directory");
    }
    for name in ["temporary/0", "temporary/sub/0", "staging/0", "staging/1"] {
        fs::write(directory.join(name), "written").expect("a file");
    }
    for (name, text) in FILES {
        fs::write(directory.join(name), text).expect("a file");
    }
    let whole = directory.display().to_string();
    let text = String::from_utf8_lossy(input).replace('@', &whole);
    let messages = match framed {
        true => input.to_vec(),
        false => text
            .lines()
            .flat_map(|line| [&(line.len() as u32).to_le_bytes()[..], line.as_bytes()].concat())
            .collect(),
    };
    let temporary = directory.join("temporary");
    let response = handle_messages::<(Report, Option<StagedModel>)>(
        &messages,
        &temporary,
        &[directory.join("out/dumps"), directory.join("out/trace")],
    );
    let is_response = response.is_ok();
    if let Ok((mut report, output)) = response {
        let staging = StagedModel::staging_for(&directory.join("out/model.ir"), true);
        let output = output.and_then(|output| output.at(staging).ok());
        _ = pipeline::commit(&mut report, output);
    }
    for (name, text) in FILES {
        let now = fs::read_to_string(directory.join(name));
        assert_eq!(now.ok().as_deref(), Some(text), "{name}");
    }
    check_written(&directory);
    is_response
}

/// Checks that there are only files where the worker may write.
fn check_written(directory: &Path) {
    let mut left: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(at).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("below").to_owned();
            let may_have = [
                "temporary",
                "staging",
                "out/dumps",
                "out/trace",
                "out/model.ir",
            ];
            let is_output = may_have.iter().any(|known| name.starts_with(known));
            let is_mine = FILES.iter().any(|(known, _)| name == Path::new(known));
            if entry.file_type().expect("a type").is_dir() && !is_output {
                left.push(path);
            } else {
                assert!(is_output || is_mine, "{}", name.display());
            }
        }
    }
}
