//! Calls of `OpApi` that hand out or copy what definitions write as text.

use passdock_abi as abi;
use passdock_abi::{LaidOut, Status, Str, TextDesc, ValueId};

use super::super::definitions::BODIES;
use super::super::session::{Ids, unwritten};
use super::super::text;
use super::{Call, WAS};

impl Call<'_> {
    /// # Safety
    /// The handles live.
    pub(super) unsafe fn bodies(&self, o: &abi::OpApi) -> Status {
        let (step, ids, f, cx) = (self.step, &self.ids, self.f, self.pass.cx);
        let op = ids.op(step);
        let mut values = [ValueId(WAS); 4];
        let (out, count) = (step.out(values.as_mut_ptr()), step.below(4));
        // SAFETY: the caller's promise; what is handed over is there until the call returns.
        let status = unsafe {
            match step.below(6) {
                0 | 1 => o.decompose.expect("is there")(cx, f, op, out, count),
                2 => o.legalize.expect("is there")(cx, f, op, out, count),
                3 => {
                    let target = match step.one_in(2) {
                        true => Str::new("t"),
                        false => text::text(step),
                    };
                    o.supports.expect("is there")(cx, f, op, target)
                }
                4 => {
                    let args = ids.list_of(step, Ids::value);
                    let (args, arg_count) = step.list(&args);
                    let text = match step.one_in(4) {
                        true => text::text(step),
                        false => Str::new(BODIES[step.below(BODIES.len())]),
                    };
                    let desc = TextDesc {
                        struct_size: step.size(size_of::<TextDesc>()),
                        op,
                        text,
                        args,
                        arg_count,
                        results: out,
                        result_count: count,
                        ..TextDesc::EMPTY
                    };
                    o.insert_text.expect("is there")(cx, f, step.desc(&desc))
                }
                _ => {
                    let layouts = ids.list_of(step, |_, step| text::text(step));
                    let (layouts, count) = step.list(&layouts);
                    let mut said = LaidOut {
                        struct_size: step.size(size_of::<LaidOut>()),
                        ..LaidOut::EMPTY
                    };
                    let out = step.out(&mut said);
                    let ask = match step.one_in(2) {
                        true => o.layout.expect("is there"),
                        false => o.alter_layout.expect("is there"),
                    };
                    let status = ask(cx, f, op, layouts, count, out);
                    if status.is_ok() && said.struct_size as usize == size_of::<LaidOut>() {
                        text::read(said.body);
                        for at in 0..said.operand_count {
                            text::read(said.operands.add(at).read());
                        }
                        for at in 0..said.result_count {
                            text::read(said.results.add(at).read());
                        }
                    }
                    status
                }
            }
        };
        unwritten(status, &values, &[ValueId(WAS); 4]);
        status
    }
}
