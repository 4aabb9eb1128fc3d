//! Random modules with random known edits: the report has these edits and no others.
//!
//! In half of the modules, each op has a unique number (`tag`). There, and in modules whose values have names, an edit
//! has only one description, so the report has to match the edits exactly. The other modules have a few kinds of ops
//! that repeat and can't be distinguished. There, a report may be longer than the edits by a few percent.

use passdock::model_file::parse_text;
use passdock_tools::diff::{self, Change, Diff, OpChange, PortChange};

use crate::spec::{Block, Const, Op, Spec, Val};

/// The maximum number of reported lines per hundred edits, for ops that can't be distinguished.
const MAX_LINES: usize = 125;

/// A random number generator with the same sequence in every run (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Style {
    /// Whether each op has a unique number.
    tagged: bool,
    /// Whether values have names.
    named: bool,
}

struct Generator {
    random: Random,
    style: Style,
    spec: Spec,
    tag: i64,
}

const KINDS: [&str; 4] = ["onnx.Relu", "onnx.Add", "onnx.Neg", "com.acme.Mix"];

impl Generator {
    fn new(seed: u64, style: Style) -> Generator {
        let spec = Spec {
            metadata: vec![("onnx.ir_version".into(), "8".into())],
            opsets: vec![("".into(), 17), ("com.acme".into(), 1)],
            params: Vec::new(),
            constants: Vec::new(),
            body: Block {
                ops: Vec::new(),
                result: 0,
            },
            output: "out".into(),
            functions: vec!["f".into(), "g".into()],
            names: Vec::new(),
        };
        let mut generator = Generator {
            random: Random(seed),
            style,
            spec,
            tag: 0,
        };
        for at in 0..2 {
            let value = generator.spec.value(false);
            // Parameters and results always have names.
            generator.spec.names[value] = Some(format!("in{at}"));
            generator.spec.params.push((value, "f32[n]".into()));
        }
        for _ in 0..3 {
            let value = generator.spec.value(style.named);
            let elements = (0..2)
                .map(|_| generator.random.below(1000) as i64)
                .collect();
            generator.spec.constants.push(Const { value, elements });
        }
        let params: Vec<Val> = generator.spec.params.iter().map(|param| param.0).collect();
        let count = 10 + generator.random.below(50);
        generator.spec.body = generator.block(&params, count, 0);
        generator
    }

    /// Generates a chain with side branches, in which each op has a user.
    fn block(&mut self, visible: &[Val], count: usize, depth: usize) -> Block {
        let mut visible = visible.to_vec();
        let mut ops = Vec::new();
        for _ in 0..count {
            let last = visible[visible.len() - 1];
            let mut op = self.op(vec![last]);
            if op.kind == "onnx.Add" || op.kind == "com.acme.Mix" {
                let other = visible[self.random.below(visible.len())];
                op.operands.push(other);
            }
            if self.random.below(6) == 0 {
                let at = self.random.below(self.spec.constants.len());
                op.operands.push(self.spec.constants[at].value);
            }
            if depth < 2 && self.random.below(12) == 0 {
                op.kind = "onnx.If".into();
                op.operands.truncate(1);
                for _ in 0..2 {
                    let count = 1 + self.random.below(6);
                    let block = self.block(&visible, count, depth + 1);
                    op.blocks.push(block);
                }
            }
            visible.push(op.result);
            ops.push(op);
        }
        let result = visible[visible.len() - 1];
        Block { ops, result }
    }

    fn op(&mut self, operands: Vec<Val>) -> Op {
        self.tag += 1;
        let kind = KINDS[self.random.below(KINDS.len())];
        let mut attrs = vec![("mode".to_owned(), 0)];
        if self.style.tagged {
            attrs.push(("tag".to_owned(), self.tag));
        }
        Op {
            result: self.spec.value(self.style.named),
            kind: kind.to_owned(),
            attrs,
            operands,
            ty: "f32[n]".to_owned(),
            blocks: Vec::new(),
        }
    }
}

/// The path of an op: its index in each block from the body inwards, and the index of the next block.
type Path = Vec<(usize, usize)>;

/// Returns the paths of all ops.
fn paths(block: &Block) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut open: Vec<(Path, &Block, usize)> = vec![(Vec::new(), block, 0)];
    while let Some((prefix, block, which)) = open.pop() {
        for (at, op) in block.ops.iter().enumerate() {
            let mut path = prefix.clone();
            path.push((which, at));
            for (which, inner) in op.blocks.iter().enumerate() {
                open.push((path.clone(), inner, which));
            }
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

fn block_of<'s>(body: &'s mut Block, path: &Path) -> &'s mut Block {
    let mut block = body;
    for pair in path.windows(2) {
        block = &mut block.ops[pair[0].1].blocks[pair[1].0];
    }
    block
}

/// Describes an op: by its number if it has one, otherwise by its kind.
fn describe_op(kind: &str, tag: Option<i64>) -> String {
    match tag {
        Some(tag) => format!("#{tag}"),
        None => kind.to_owned(),
    }
}

fn tag_of(op: &Op) -> Option<i64> {
    op.attrs
        .iter()
        .find(|attr| attr.0 == "tag")
        .map(|attr| attr.1)
}

impl Generator {
    /// Makes `count` edits that don't affect each other, and describes them.
    fn edit(&mut self, count: usize) -> Vec<String> {
        let mut applied = Vec::new();
        // Values affected by an edit. Later edits avoid them.
        let mut affected: Vec<Val> = Vec::new();
        let mut once = [false; 8];
        for _ in 0..count * 8 {
            if applied.len() == count {
                break;
            }
            let edit_kind = self.random.below(16);
            if edit_kind < 8 {
                if !std::mem::replace(&mut once[edit_kind], true) {
                    applied.push(self.edit_module(edit_kind));
                }
                continue;
            }
            let all = paths(&self.spec.body);
            let path = all[self.random.below(all.len())].clone();
            let at = path[path.len() - 1].1;
            let op = block_of(&mut self.spec.body, &path).ops[at].clone();
            let mut near = vec![op.result];
            near.extend(&op.operands);
            // Ops with a common operand, and users of results, are also avoided.
            for path in &all {
                let at = path[path.len() - 1].1;
                let other = &block_of(&mut self.spec.body, path).ops[at];
                if other.operands.contains(&op.result) {
                    near.push(other.result);
                    near.extend(&other.operands);
                }
            }
            if near.iter().any(|value| affected.contains(value)) {
                continue;
            }
            if let Some(edit) = self.edit_op(edit_kind, &path, &op) {
                affected.extend(near);
                applied.push(edit);
            }
        }
        applied.sort();
        applied
    }

    fn edit_module(&mut self, edit_kind: usize) -> String {
        let spec = &mut self.spec;
        match edit_kind {
            0 => {
                spec.opsets[0].1 = 18;
                "setting opset \"\": 17 → 18".into()
            }
            1 => {
                spec.opsets.push(("com.new".into(), 3));
                "setting opset \"com.new\": - → 3".into()
            }
            2 => {
                spec.functions.push("h".into());
                "+ function h".into()
            }
            3 => {
                spec.functions.retain(|name| name != "f");
                "- function f".into()
            }
            4 => {
                spec.metadata[0].1 = "9".into();
                "setting onnx.ir_version: 8 → 9".into()
            }
            5 => {
                let value = spec.value(false);
                spec.names[value] = Some("more".into());
                spec.params.push((value, "i64[2]".into()));
                "+ input %more".into()
            }
            6 => {
                let at = self.random.below(spec.constants.len());
                let elements = &mut spec.constants[at].elements;
                let old = format!("i64[2] {elements:?}");
                elements[1] += 1;
                format!("constant {old} → i64[2] {elements:?}")
            }
            _ => {
                spec.output = "renamed".into();
                "output %renamed was out".into()
            }
        }
    }

    fn edit_op(&mut self, edit_kind: usize, path: &Path, op: &Op) -> Option<String> {
        let at = path[path.len() - 1].1;
        let name = describe_op(&op.kind, tag_of(op));
        match edit_kind {
            // Inserts an op on one of the operands.
            8 | 9 => {
                let slot = self.random.below(op.operands.len());
                let new = self.op(vec![op.operands[slot]]);
                let edit = format!("+ {}", describe_op(&new.kind, tag_of(&new)));
                let block = block_of(&mut self.spec.body, path);
                block.ops[at].operands[slot] = new.result;
                block.ops.insert(at, new);
                Some(edit)
            }
            // Removes the op.
            10 | 11 => {
                if !op.blocks.is_empty() {
                    return None;
                }
                let mut text = self.spec.clone();
                block_of(&mut text.body, path).ops.remove(at);
                rewire(&mut text.body, op.result, op.operands[0]);
                self.spec = text;
                Some(format!("- {name}"))
            }
            12 => {
                block_of(&mut self.spec.body, path).ops[at].attrs[0].1 = 7;
                Some(format!("{name}: mode 0 → 7"))
            }
            13 => {
                let new = format!("new{}", op.result);
                let old = self.spec.names[op.result].replace(new.clone());
                let old = old.unwrap_or("-".into());
                Some(format!("renamed {old} → {new}"))
            }
            14 => {
                block_of(&mut self.spec.body, path).ops[at].ty = "f32[n,1]".into();
                Some("type f32[n] → f32[n,1]".into())
            }
            _ if self.random.below(2) == 0 => {
                if !op.blocks.is_empty() {
                    return None;
                }
                block_of(&mut self.spec.body, path).ops[at].kind = "onnx.Other".into();
                let name = describe_op("onnx.Other", tag_of(op));
                Some(format!("{name}: kind {} → onnx.Other", op.kind))
            }
            // Replaces an operand with a parameter, which is visible everywhere.
            _ => {
                let slot = self.random.below(op.operands.len());
                let other = self.spec.params[self.random.below(2)].0;
                // Without its only operand, the producer would have no user.
                if slot == 0 || op.operands[slot] == other {
                    return None;
                }
                block_of(&mut self.spec.body, path).ops[at].operands[slot] = other;
                Some(format!("{name}: operand {slot}"))
            }
        }
    }
}

/// Replaces all uses of a value.
fn rewire(block: &mut Block, from: Val, to: Val) {
    if block.result == from {
        block.result = to;
    }
    for op in &mut block.ops {
        for operand in &mut op.operands {
            if *operand == from {
                *operand = to;
            }
        }
        op.blocks
            .iter_mut()
            .for_each(|block| rewire(block, from, to));
    }
}

/// Formats a report like the descriptions of edits.
fn listed(diff: &Diff) -> Vec<String> {
    let or_none = |text: &Option<String>| text.clone().unwrap_or("-".into());
    let mut all = Vec::new();
    let mut setting = |setting: &diff::Setting| {
        let (before, after) = (or_none(&setting.before), or_none(&setting.after));
        format!("setting {}: {before} → {after}", setting.name)
    };
    all.extend(diff.metadata.iter().map(&mut setting));
    for function in &diff.functions {
        match function.change {
            Change::Added => all.push(format!("+ function {}", function.name)),
            Change::Removed => all.push(format!("- function {}", function.name)),
            Change::Changed => {}
        }
        all.extend(function.settings.iter().map(&mut setting));
        all.extend(function.interface.iter().map(|port| match &port.change {
            PortChange::Added { .. } => format!("+ {} {}", port.port, port.name),
            PortChange::Renamed { before, .. } => {
                format!("{} {} was {}", port.port, port.name, or_none(before))
            }
            other => format!("{} {}: {other:?}", port.port, port.name),
        }));
        for op in &function.ops {
            let tag = op.op.split("tag = ").nth(1).and_then(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit());
                rest[..end.unwrap_or(rest.len())].parse().ok()
            });
            let name = describe_op(&op.kind, tag);
            match op.change {
                Change::Added => all.push(format!("+ {name}")),
                Change::Removed => all.push(format!("- {name}")),
                Change::Changed => all.extend(op.changes.iter().map(|change| match change {
                    OpChange::Kind { before, after } => format!("{name}: kind {before} → {after}"),
                    OpChange::Attribute {
                        name: key,
                        before,
                        after,
                    } => {
                        format!("{name}: {key} {} → {}", or_none(before), or_none(after))
                    }
                    OpChange::Operand { index, .. } => format!("{name}: operand {index}"),
                    other => format!("{name}: {other:?}"),
                })),
            }
        }
        all.extend(function.constants.iter().map(|constant| {
            let (before, after) = (or_none(&constant.before), or_none(&constant.after));
            match constant.change {
                Change::Changed => format!("constant {before} → {after}"),
                _ => format!("constant {before} became {after}"),
            }
        }));
        let pair = |what: &str, value: &diff::Renaming| {
            format!(
                "{what} {} → {}",
                or_none(&value.before),
                or_none(&value.after)
            )
        };
        all.extend(function.retyped.iter().map(|value| pair("type", value)));
        all.extend(function.renamed.iter().map(|value| pair("renamed", value)));
    }
    all.sort();
    all
}

/// The edits, the report and both texts, for a failure message.
struct Case {
    seed: u64,
    applied: Vec<String>,
    reported: Vec<String>,
    texts: [String; 2],
}

fn case(seed: u64, style: Style, edits: usize) -> Case {
    let mut generator = Generator::new(seed, style);
    let old = generator.spec.text();
    let applied = generator.edit(edits);
    let new = generator.spec.text();
    let read = |name: &str, text: &str| {
        parse_text(name, text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"))
    };
    let modules = [read("old.ir", &old), read("new.ir", &new)];
    let diff = diff::compare(&modules[0], &modules[1]).expect("in-memory data");
    assert_eq!(
        diff.is_same(),
        applied.is_empty(),
        "seed {seed}: {applied:?}\n{old}\n{new}"
    );
    Case {
        seed,
        applied,
        reported: listed(&diff),
        texts: [old, new],
    }
}

impl Case {
    #[track_caller]
    fn fail(&self) -> ! {
        let Case {
            seed,
            applied,
            reported,
            texts: [old, new],
        } = self;
        panic!("seed {seed}\nedits: {applied:#?}\nreport: {reported:#?}\n{old}\n{new}");
    }
}

const STYLES: [Style; 4] = [
    Style {
        tagged: true,
        named: true,
    },
    Style {
        tagged: true,
        named: false,
    },
    Style {
        tagged: false,
        named: true,
    },
    Style {
        tagged: false,
        named: false,
    },
];

#[test]
fn report_lists_exactly_the_edits() {
    for style in &STYLES[..3] {
        for seed in 0..200 {
            let case = case(seed, *style, 1 + seed as usize % 6);
            if case.reported != case.applied {
                case.fail();
            }
        }
    }
}

#[test]
fn reports_for_repeated_ops_are_nearly_minimal() {
    let (mut applied, mut listed) = (0, 0);
    for seed in 1_000..1_600 {
        let case = case(seed, STYLES[3], 1 + seed as usize % 6);
        (applied, listed) = (applied + case.applied.len(), listed + case.reported.len());
    }
    assert!(
        listed * 100 <= applied * MAX_LINES,
        "{applied} edits, {listed} lines"
    );
}

#[test]
fn equal_modules_have_no_differences() {
    for seed in 0..50 {
        for style in STYLES {
            assert_eq!(case(seed, style, 0).reported, [""; 0]);
        }
    }
}
