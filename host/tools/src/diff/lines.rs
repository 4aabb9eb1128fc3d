//! Ops, values and constants of one function as a report names them.

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, ValueId, symbol};
use passdock_ir::{Function, text};

/// Longer texts are cut, in characters.
const LONGEST: usize = 160;
/// Longer data of a constant is left out.
const LONGEST_DATA: usize = 64;
/// The most results of an op that are named.
const MOST_RESULTS: usize = 3;

pub(super) struct Lines<'f> {
    f: &'f Function,
    /// The pieces of the function's text, made when they are needed.
    pieces: Option<text::Pieces<'f>>,
}

impl<'f> Lines<'f> {
    pub(super) fn new(f: &'f Function) -> Lines<'f> {
        Lines { f, pieces: None }
    }

    fn pieces(&mut self) -> &mut text::Pieces<'f> {
        self.pieces.get_or_insert_with(|| text::Pieces::new(self.f))
    }

    pub(super) fn value(&mut self, value: ValueId) -> String {
        self.pieces().value(value)
    }

    /// An operand; `None` if it is left out.
    pub(super) fn operand(&mut self, value: ValueId) -> Option<String> {
        value.is_some().then(|| self.value(value))
    }

    /// An op's whole line.
    pub(super) fn op(&mut self, op: OpId) -> String {
        cut(self.pieces().op(op))
    }

    /// The beginning of an op's line: `%y = onnx.Relu`.
    pub(super) fn short_op(&mut self, op: OpId) -> String {
        let f = self.f;
        let name = f.op(op).name;
        let kind = f.text(name);
        if matches!(name, symbol::RETURN | symbol::YIELD) {
            return kind.to_owned();
        }
        let mut results = f.results(op);
        let named: Vec<String> = results
            .by_ref()
            .take(MOST_RESULTS)
            .map(|result| self.value(result))
            .collect();
        match (named.is_empty(), results.len()) {
            (true, _) => match f.operand(op, 0).option() {
                Some(operand) => format!("{kind}({}, …)", self.value(operand)),
                None => kind.to_owned(),
            },
            (_, 0) => format!("{} = {kind}", named.join(", ")),
            _ => format!("{}, … = {kind}", named.join(", ")),
        }
    }

    /// The region that an op or a constant stands in; `None`: the body.
    pub(super) fn inside(&mut self, region: RegionId) -> Option<String> {
        let f = self.f;
        let record = f.region(region);
        let owner = record.parent.option()?;
        let name = match record.name.option() {
            Some(name) => f.text(name),
            None => "a region",
        };
        Some(format!("{name} of {}", self.short_op(owner)))
    }

    pub(super) fn attr(&mut self, op: OpId, attr: &Attr) -> String {
        match attr.kind {
            AttrKind::NONE => "no default".to_owned(),
            _ => cut(self.whole_attr(op, attr)),
        }
    }

    pub(super) fn whole_attr(&mut self, op: OpId, attr: &Attr) -> String {
        self.pieces().attr(op, attr)
    }

    /// A constant's type, and its data if it is short.
    pub(super) fn constant(&mut self, id: ConstId) -> String {
        let f = self.f;
        let ty = text::type_text(f, f.constant(id).ty);
        // Short data has few elements; the others' isn't written out to be thrown away.
        let few = f.constant_data(id).len() <= LONGEST_DATA as u64 * 2
            || f.constant_data(id).storage() == passdock_abi::Storage::SPLAT;
        let whole = if few {
            self.pieces().constant(id)
        } else {
            String::new()
        };
        match whole.chars().count() {
            0 => ty,
            long if long > LONGEST_DATA || whole.contains("elided(") => ty,
            _ => whole,
        }
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push('…');
    }
    text
}
