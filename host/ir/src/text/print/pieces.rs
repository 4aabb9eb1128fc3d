//! Printing parts of a function, for reports about single ops and values.

use passdock_abi::{Attr, ConstId, OpId, ValueId};

use super::names::ValueNames;
use super::options::{Constants, PrintOptions};
use super::out::Out;
use super::printer::Printer;
use crate::function::Function;

/// A printer for parts of a function. Values are named once at its construction; printing a part takes time linear in
/// its length.
pub struct Pieces<'f> {
    /// The function.
    pub f: &'f Function,
    /// The names of the function's values.
    pub naming: Naming,
}

/// The names of the values of one state of a function, reusable for further parts.
pub struct Naming(ValueNames);

impl<'f> Pieces<'f> {
    /// Names the values of a function.
    pub fn new(f: &'f Function) -> Pieces<'f> {
        let naming = Naming(ValueNames::new(f, false));
        Pieces { f, naming }
    }

    /// Prints a value as an operand: its name, its number, or its literal.
    pub fn value(&self, value: ValueId) -> String {
        let mut text = String::new();
        self.naming.0.write_use(&mut text, self.f, value);
        text
    }

    /// Prints an op's line, without its regions and location.
    pub fn op(&self, op: OpId) -> String {
        let line = self.print(|printer| printer.op(op));
        let line = line.trim_end();
        match line.strip_suffix(" {").unwrap_or(line) {
            "" => self.f.text(self.f.op(op).name).to_owned(),
            line => line.to_owned(),
        }
    }

    /// Prints the value of an attribute of an op (NONE: of the function).
    pub fn attr(&self, op: OpId, attr: &Attr) -> String {
        self.print(|printer| printer.attr_value(op, attr))
    }

    /// Prints a constant's type and data.
    pub fn constant(&self, id: ConstId) -> String {
        self.print(|printer| printer.tensor(id, false))
    }

    fn print(&self, write: impl FnOnce(&mut Printer<'_, '_>)) -> String {
        // Large constants are elided, because reports are for humans.
        let options = PrintOptions {
            constants: Constants::Elide,
            ..PrintOptions::default()
        };
        let mut out = Out::new(None);
        let mut printer = Printer::new(self.f, &options, &mut out, &self.naming.0);
        printer.bare = true;
        write(&mut printer);
        out.text
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::text;

    #[test]
    fn pieces_match_the_printed_text() {
        let source = r#"module { fn @f(%x: f32[n]) -> (%y: f32[n]) {
            %w = const f32[100] splat(1.0)
            %0 = onnx.Add(%x, %w) {axis = [1, 2]} : f32[n] loc("add")
            %c = onnx.If(%0) : f32[n] region then_branch { yield %0 }
            return %c
        } }"#;
        let module = text::parse(source).expect("valid IR");
        let f = module.functions().next().expect("one function");
        let pieces = text::Pieces::new(f);
        let mut lines = Vec::new();
        for op in f.walk(f.body()) {
            lines.push(pieces.op(op));
            for attr in f.attrs(op) {
                lines.push(pieces.attr(op, attr));
            }
        }
        for (id, constant) in f.live_constants() {
            lines.push(pieces.value(constant.value) + " = " + &pieces.constant(id));
        }
        expect![[r#"
            %0 = onnx.Add(%x, %w) {axis = [1, 2]} : f32[n]
            [1, 2]
            %c = onnx.If(%0) : f32[n]
            yield %0
            return %c
            %w = f32[100] splat(1.0)"#]]
        .assert_eq(&lines.join("\n"));
    }
}
