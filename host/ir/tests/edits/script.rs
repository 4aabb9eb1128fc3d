//! Edits as text: the cases of the `.txt` files in this folder.
//!
//! A file consists of a module and cases that begin with `# words`. Cases contain scripts: lines `$ EDIT`, which are
//! applied in order to the first function of the module (the case's lines after `| `, or else the file's module). The
//! lines that the script changed follow it, or the module after `print`, or the error of its last edit.
//! `UPDATE_EXPECT=1` writes them.
//!
//! An op is referenced by its name or by a result. A value is `%name`, `_`, `OP#N` for a result, or `$N` for a result
//! of the last edit. A position is `end`, `in OP` (the end of its region) or `before OP`. A region is `body`, or `in
//! OP` or `last OP` for the first and the last one of an op.

use std::iter::Peekable;
use std::path::Path;
use std::str::SplitWhitespace;

use expect_test::expect_file;
use passdock_abi::{Capture, Dim, OpId, RegionId, Status, SymbolId, TypeId, ValueId};
use passdock_ir::{
    CloneOps, CloneRegion, Edit, Function, Module, NewOp, NewPort, NewRegion, Position, text,
    verify,
};

use crate::support::changed;
use crate::{inner, op, value};

#[test]
fn scripts_of_case_files() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/edits"));
    let files = std::fs::read_dir(root).expect("the directory").flatten();
    let files = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"));
    for path in files {
        let file = std::fs::read_to_string(&path).expect("readable");
        expect_file![&path].assert_eq(&run_scripts(&file));
    }
}

/// Returns the file with the results of its scripts.
fn run_scripts(file: &str) -> String {
    let (mut output, mut source, mut module_text) = (String::new(), String::new(), String::new());
    let mut lines = file.lines().peekable();
    while let Some(line) = lines.next_if(|line| !line.starts_with("# ")) {
        source += &format!("{line}\n");
    }
    output += &source;
    while let Some(line) = lines.next() {
        let mut script = Vec::new();
        match line.split_at_checked(2) {
            Some(("# ", _)) => module_text = source.clone(),
            Some(("$ ", edit)) => {
                script.push(edit);
                while let Some(edit) = lines.peek().and_then(|line| line.strip_prefix("$ ")) {
                    script.push(edit);
                    lines.next();
                }
            }
            Some(("| ", first)) => {
                module_text = format!("{first}\n");
                while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                    module_text +=
                        &format!("{}\n", line[1..].strip_prefix(' ').unwrap_or_default());
                }
                let lines = module_text
                    .lines()
                    .map(|line| format!("| {line}").trim_end().to_owned() + "\n");
                output += &lines.collect::<String>();
                continue;
            }
            Some(("  ", _)) => continue,
            _ => assert_eq!(line, "", "unexpected line"),
        }
        if script.is_empty() {
            output += &format!("{line}\n");
        } else {
            script
                .iter()
                .for_each(|edit| output += &format!("$ {edit}\n"));
            for line in outcome(&module_text, &script).lines() {
                output += format!("  {line}").trim_end();
                output.push('\n');
            }
        }
    }
    output
}

/// Applies the edits of a script; returns the changes, or the error of the last edit.
fn outcome(source: &str, script: &[&str]) -> String {
    let mut module = text::parse(source).unwrap_or_else(|error| panic!("{error:?}"));
    let before = text::print(&module);
    let mut last = Vec::new();
    for edit in script.iter().filter(|edit| **edit != "print") {
        let (printed, copy) = (text::print(&module), module.clone());
        let words = Words {
            words: edit.split_whitespace().peekable(),
            module: &copy,
            last: &last,
        };
        match words.edit(&mut module) {
            Ok(values) => last = values,
            Err(error) => {
                // A rejected edit changes nothing.
                assert_eq!(text::print(&module), printed);
                let version = |module: &Module| module.functions().next().map(|f| f.version());
                assert_eq!(version(&module), version(&copy));
                let status = match error.status {
                    Status::STALE => "stale",
                    Status::REJECTED => "rejected",
                    Status::INVALID => "invalid",
                    Status::NOT_FOUND => "not found",
                    _ => "failed",
                };
                return format!("{status}: {}\n", error.message);
            }
        }
    }
    verify::verify_module(&module).unwrap_or_else(|error| panic!("{script:?}: {error:?}"));
    let after = text::print(&module);
    match script.last() {
        Some(&"print") => after,
        _ if after == before => "unchanged\n".to_owned(),
        _ => changed(&before, &after),
    }
}

/// The remaining words of an edit.
struct Words<'w> {
    words: Peekable<SplitWhitespace<'w>>,
    /// The module before the edit, the source of copies.
    module: &'w Module,
    last: &'w [ValueId],
}

impl<'w> Words<'w> {
    fn edit(mut self, module: &mut Module) -> Edit<Vec<ValueId>> {
        let (name, symbols) = (
            module.names().next().expect("a function"),
            module.symbols().clone(),
        );
        let f = module.function_mut(name).expect("a function");
        match self.next() {
            "replace_uses" => f.replace_uses(self.value(f), self.value(f))?,
            "set_type" => {
                let (value, ty) = (self.value(f), self.ty(f));
                f.set_type(value, ty)?;
            }
            "set_name" => f.set_name(self.value(f), self.words.next().unwrap_or_default())?,
            "set_default" => {
                let (param, constant) = (self.value(f), self.value(f));
                let constant = f.as_constant(constant).expect("a constant");
                let data = f.constant_data(constant).clone();
                f.set_default(param, f.constant(constant).ty, data)?;
            }
            "erase_constant" => {
                f.erase_constant(f.as_constant(self.value(f)).expect("a constant"))?
            }
            "set_operand" => f.set_operand(
                self.op(f),
                self.next().parse().expect("a number"),
                self.value(f),
            )?,
            "set_results" => {
                let region = self.region(f);
                let values = self.values(f);
                let ty = TypeId::NONE;
                let names = self
                    .words
                    .by_ref()
                    .chain(std::iter::repeat("_"))
                    .map(|name| name.trim_matches('_'));
                let ports: Vec<NewPort<'_>> = names
                    .take(values.len())
                    .map(|name| NewPort { name, ty })
                    .collect();
                f.set_results(region, &values, &ports)?;
            }
            "add_region" => {
                let (op, name) = (self.op(f), symbols.intern(self.next()));
                f.add_region(op, &NewRegion { name, args: &[] })?;
            }
            "create_op" => {
                let at = self.position(f);
                let (name, operands, types) = self.new_op(f);
                let new = NewOp {
                    operands: &operands,
                    result_types: &types,
                    ..NewOp::new(name)
                };
                let created = f.create_op(&new, at)?;
                return Ok(f.results(created).collect());
            }
            "replace_op" => {
                let old = self.op(f);
                let keeping = self.words.next_if(|word| *word == "keeping").is_some();
                let (name, operands, types) = self.new_op(f);
                let new = NewOp {
                    operands: &operands,
                    result_types: &types,
                    take_regions: keeping,
                    take_attrs: keeping,
                    ..NewOp::new(name)
                };
                f.replace_op(old, &new)?;
            }
            "replace_op_with" => f.replace_op_with(self.op(f), &self.values(f))?,
            "erase_op" => f.erase_op(self.op(f))?,
            "move_op" => f.move_op(self.op(f), self.position(f))?,
            "remove_attr" => f.remove_attr(self.op(f), symbols.intern(self.next()))?,
            "remove_opset" => {
                f.remove_opset(symbols.intern(self.words.next().unwrap_or_default()))?
            }
            "inline_region" => f.inline_region(self.region(f), &self.values(f))?,
            // Inlines the region and replaces the op's results with the yielded values.
            "collapse" => {
                let parent = self.op(f);
                let region = f.regions_of(parent).next().expect("a region");
                f.inline_region(region, &self.values(f))?;
                let terminator = f.terminator(region).expect("the terminator");
                let values: Vec<ValueId> = f
                    .operands(terminator)
                    .iter()
                    .map(|slot| slot.value)
                    .collect();
                f.replace_op_with(parent, &values)?;
            }
            "clone_region" => {
                let (at, source) = (self.position(f), self.source());
                let region = self.region(source.unwrap_or(f));
                let (args, captures) = (self.values(f), self.captures(f, source));
                return f.clone_region(&CloneRegion {
                    region,
                    source,
                    at,
                    args: &args,
                    captures: &captures,
                });
            }
            "clone_ops" => {
                let (at, source) = (self.position(f), self.source());
                let ops = self.ops(source.unwrap_or(f));
                let captures = self.captures(f, source);
                return f.clone_ops(&CloneOps {
                    ops: &ops,
                    source,
                    at,
                    captures: &captures,
                });
            }
            "outline" => {
                let name = symbols.intern(self.next());
                let outlined = f.outline(&self.ops(f), name)?;
                module.insert(outlined.function)?;
            }
            "replace_symbols" => {
                let symbol = |name: &str| symbols.find(name).expect("a symbol");
                let size = |size: &str| {
                    size.parse()
                        .map_or_else(|_| Dim::symbol(symbol(size)), Dim::constant)
                };
                let pairs = self.words.map(|pair| pair.split_once('=').expect("n=2"));
                let pairs: Vec<(SymbolId, Dim)> =
                    pairs.map(|(name, to)| (symbol(name), size(to))).collect();
                f.replace_symbols(&pairs)?;
            }
            "freeze_args" => f.freeze_args(&self.values(f))?,
            other => panic!("there is no edit `{other}`"),
        }
        Ok(Vec::new())
    }

    fn next(&mut self) -> &'w str {
        self.words.next().expect("a further word")
    }

    fn op(&mut self, f: &Function) -> OpId {
        match self.next() {
            word if word.starts_with('%') => f.defining_op(value(f, &word[1..])).expect("an op"),
            word => op(f, word),
        }
    }

    fn ops(&mut self, f: &Function) -> Vec<OpId> {
        let mut ops = Vec::new();
        while self.words.peek().is_some_and(|word| *word != "with") {
            ops.push(self.op(f));
        }
        ops
    }

    fn value(&mut self, f: &Function) -> ValueId {
        value_named(f, self.next(), self.last)
    }

    /// Parses values up to the first word that isn't one.
    fn values(&mut self, f: &Function) -> Vec<ValueId> {
        let is_value =
            |word: &&str| *word == "_" || word.starts_with(['%', '$']) || word.contains('#');
        let words = std::iter::from_fn(|| self.words.next_if(is_value));
        words.map(|word| value_named(f, word, self.last)).collect()
    }

    fn position(&mut self, f: &Function) -> Position {
        match self.next() {
            "end" => Position::end(f.body()),
            "in" => Position::end(inner(f, self.next())),
            "before" => Position::before(self.op(f)),
            other => panic!("`{other}` is no position"),
        }
    }

    fn region(&mut self, f: &Function) -> RegionId {
        match self.next() {
            "body" => f.body(),
            "in" => inner(f, self.next()),
            "last" => f.regions_of(self.op(f)).last().expect("a region"),
            other => panic!("`{other}` is no region"),
        }
    }

    fn ty(&mut self, f: &mut Function) -> TypeId {
        let word = self.next();
        if word == "_" {
            return TypeId::NONE;
        }
        let source = format!("fn @t(%x: {word}) {{ return }}");
        let source = text::parse_body(&source, self.module.symbols().clone()).expect("a type");
        let param = source.args(source.body()).next().expect("a parameter");
        f.type_from(&source, source.value(param).ty)
            .expect("a type")
    }

    /// Parses the name of a new op, its operands, and the types of its results after `:`.
    fn new_op(&mut self, f: &mut Function) -> (SymbolId, Vec<ValueId>, Vec<TypeId>) {
        let name = f.symbols().intern(self.next());
        let operands = self.values(f);
        let mut types = Vec::new();
        if self.words.next_if_eq(&":").is_some() {
            while self.words.peek().is_some() {
                types.push(self.ty(f));
            }
        }
        (name, operands, types)
    }

    /// Parses the function after `from @NAME`.
    fn source(&mut self) -> Option<&'w Function> {
        self.words.next_if_eq(&"from")?;
        let module = self.module;
        module.function_named(&self.next()[1..]).map(|f| &**f)
    }

    /// Parses the pairs after `with`: `%x=%y`.
    fn captures(&mut self, f: &Function, source: Option<&Function>) -> Vec<Capture> {
        self.words.next_if_eq(&"with");
        let pairs = self
            .words
            .by_ref()
            .map(|pair| pair.split_once('=').expect("%x=%y"));
        let last = self.last;
        pairs
            .map(|(from, to)| Capture {
                value: value_named(source.unwrap_or(f), from, last),
                replacement: value_named(f, to, last),
            })
            .collect()
    }
}

fn value_named(f: &Function, word: &str, last: &[ValueId]) -> ValueId {
    match (word.as_bytes()[0], word.split_once('#')) {
        (b'_', _) => ValueId::NONE,
        (b'%', _) => value(f, &word[1..]),
        (b'$', _) => last[word[1..].parse::<usize>().expect("a number")],
        (_, Some((kind, at))) => f
            .result(op(f, kind), at.parse().expect("a number"))
            .expect("a result"),
        _ => panic!("`{word}` is no value"),
    }
}
