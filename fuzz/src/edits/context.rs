//! Calls of `ContextApi` and `SymbolApi`, and the host's own.

use passdock_abi as abi;
use passdock_abi::{
    Diagnostic, Failure, Label, OpPart, PassKind, Setting, SettingItem, SettingKind, Severity,
    Status, Str, SymbolId,
};
use passdock_core::boundary::host;

use super::functions::{on_nothing, pass_symbols};
use super::plugin;
use super::script::{Odd, Step};
use super::session::{Ids, Pass, State};
use super::text;

/// Calls a table that is about none of the functions at hand.
pub(super) fn call(pass: &Pass, step: &Step) {
    let cx = match step.odd() {
        Odd::NullHandle => std::ptr::null_mut(),
        _ => pass.cx,
    };
    // SAFETY: the handles are those that the host gave out, of this pass; its tables live for good.
    unsafe {
        let t = &*host().get().context;
        let status = match step.below(8) {
            0 | 1 => {
                symbols(pass, step);
                return;
            }
            2 => {
                let mut kind = PassKind(9);
                let name = step.pick(&[plugin::FUNCTION, plugin::MODULE, "nobody", ""]);
                t.find_pass.expect("is there")(cx, Str::new(name), step.out(&mut kind))
            }
            3 => setting(step, |name, out| t.option.expect("is there")(cx, name, out)),
            4 => setting(step, |name, out| {
                t.config.expect("is there")(cx, name, text::text(step), out)
            }),
            5 => {
                let level = t.opt_level.expect("is there")(cx);
                assert!(cx.is_null() || level == 3, "{level}");
                let current = t.current.expect("is there")(host().get());
                assert_eq!(current, pass.cx, "the current context");
                return;
            }
            6 => {
                fail(pass, step, cx, t);
                return;
            }
            _ => emit(pass, step, cx, t),
        };
        assert!(status.0 <= Status::CONFIG.0, "{status:?}");
        if !status.is_ok() && !cx.is_null() {
            let said = text::read(t.last_error.expect("is there")(cx));
            assert!(!said.contains("mistake in passdock"), "{said}");
        }
    }
}

unsafe fn symbols(pass: &Pass, step: &Step) {
    let all = pass_symbols(pass);
    // SAFETY: the module's symbols, which live as long as it; texts of them, too.
    unsafe {
        let host = host().get();
        let t = &*host.symbols;
        let given = text::text(step);
        let found = t.find.expect("is there")(all, given);
        let made = t.intern.expect("is there")(all, given);
        assert!(found.is_none() || found == made);
        if made.is_some() {
            let said = t.text.expect("is there")(all, made);
            assert_eq!(text::read(said), text::read(given));
            assert_eq!(t.find.expect("is there")(all, given), made);
        }
        let symbol = SymbolId(step.id(&[], 300));
        let said = text::read(t.text.expect("is there")(all, symbol));
        std::hint::black_box(said);
        let id = text::text(step);
        let extension = host.get_extension.expect("is there")(host, id);
        assert!(extension.is_null());
        on_nothing(step, symbol);
    }
}

/// Reads a setting, with all that is in it.
unsafe fn setting(step: &Step, ask: impl FnOnce(Str, *mut Setting) -> Status) -> Status {
    let name = match step.one_in(4) {
        true => text::text(step),
        false => Str::new(["n", "list", "table", "f.Config"][step.below(4)]),
    };
    let mut setting = Setting {
        struct_size: step.size(size_of::<Setting>()),
        ..Setting::EMPTY
    };
    let status = ask(name, step.out(&mut setting));
    if status.is_ok() && setting.struct_size as usize == size_of::<Setting>() {
        // SAFETY: the host filled it.
        unsafe { read(&setting) };
    }
    status
}

unsafe fn read(setting: &Setting) {
    // SAFETY: the caller's promise: texts and items live as long as the context.
    unsafe {
        match setting.kind {
            SettingKind::STRING => _ = text::read(setting.string),
            SettingKind::LIST | SettingKind::TABLE => {
                for at in 0..setting.item_count {
                    let offset = at as usize * setting.item_stride as usize;
                    let item = setting.items.cast::<u8>().add(offset);
                    let item = &*item.cast::<SettingItem>();
                    _ = text::read(item.name);
                    read(&item.value);
                }
            }
            _ => {}
        }
    }
}

/// A function's name and an op of it, or what may be neither.
fn place(pass: &Pass, step: &Step) -> (SymbolId, abi::OpId) {
    let ids = match pass.pick(step) {
        Some(held) if held.state != State::Ended => Ids::of(held.function),
        _ => Ids::unknown(),
    };
    let function = match step.one_in(2) {
        true => abi::symbol::EMPTY,
        false => text::symbol(step, pass_symbols(pass)),
    };
    (function, ids.op(step))
}

unsafe fn emit(pass: &Pass, step: &Step, cx: *mut abi::Context, t: &abi::ContextApi) -> Status {
    let (function, op) = place(pass, step);
    let labels: Vec<Label> = (0..step.below(4))
        .map(|_| {
            let (function, op) = place(pass, step);
            Label {
                struct_size: step.size(size_of::<Label>()),
                op,
                part: OpPart(u32::from(step.byte() % 6)),
                index: step.pick(&[0, 1, 2, u32::MAX]),
                function,
                flags: 0,
                attr: text::text(step),
                text: text::text(step),
            }
        })
        .collect();
    let notes: Vec<Str> = (0..step.below(3)).map(|_| text::text(step)).collect();
    let (label_at, label_count) = step.list(&labels);
    // Errors end what the pass is worth.
    let severity = step.pick(&[30, 30, 40, 40, 50, 50, 20, 10, 0, 77]);
    let said = Diagnostic {
        struct_size: step.size(size_of::<Diagnostic>()),
        severity: Severity(severity),
        op,
        flags: 0,
        code: text::text(step),
        message: text::text(step),
        help: text::text(step),
        function,
        label_stride: step.stride(size_of::<Label>()),
        labels: label_at,
        label_count,
        notes: notes.as_ptr(),
        note_count: notes.len(),
    };
    // SAFETY: the caller's promise.
    unsafe { t.emit.expect("is there")(cx, step.desc(&said)) }
}

unsafe fn fail(pass: &Pass, step: &Step, cx: *mut abi::Context, t: &abi::ContextApi) {
    let (function, op) = place(pass, step);
    let said = Failure {
        struct_size: step.size(size_of::<Failure>()),
        op,
        message: text::text(step),
        file: text::text(step),
        line: u32::from(step.byte()),
        column: u32::from(step.byte()),
        function,
        flags: 0,
    };
    // SAFETY: the caller's promise.
    unsafe { t.fail.expect("is there")(cx, step.desc(&said)) }
}
