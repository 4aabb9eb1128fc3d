//! The check that a pass which changes a function's interface declares it. Callers rely on interfaces.

use passdock_ir::verify::interface;
use passdock_ir::{Function, Module};

use crate::error::{ErrorKind, PassError, PassFault};

/// The name of the model's entry function.
const MAIN: &str = "main";

/// Returns an error if a pass changed a function's interface.
pub(crate) fn check_function(before: &Function, after: &Function) -> Result<(), PassError> {
    let difference = interface::difference(before, after);
    difference.map_or(Ok(()), |what| Err(changed(&what)))
}

fn changed(what: &str) -> PassError {
    undeclared(format!(
        "the pass changed the function's interface without declaring it: {what}"
    ))
    .help("declare `changes_interface` in the pass's `plugin!` entry")
}

fn undeclared(message: impl Into<String>) -> PassError {
    let mut error = PassError::new(ErrorKind::Failed, message);
    error.fault = Some(PassFault::UndeclaredChange);
    error
}

/// Returns an error if a pass changed the interface of a module: that of `@main`, or the opsets of a function.
pub(crate) fn check_module(before: &Module, after: &Module) -> Result<(), PassError> {
    check_main(before, after)?;
    for (name, new, old) in after.changed_since(before) {
        if let Some(what) = old.and_then(|old| interface::opset_difference(old, new)) {
            let mut error = changed(&what);
            error.function = Some(new.text(name).to_owned());
            return Err(error);
        }
    }
    Ok(())
}

fn check_main(before: &Module, after: &Module) -> Result<(), PassError> {
    let Some(old) = before.function_named(MAIN) else {
        return Ok(());
    };
    let checked = match after.function_named(MAIN) {
        Some(new) if std::ptr::eq(old, new) => Ok(()),
        Some(new) => check_function(old, new),
        None => Err(undeclared(
            "the pass removed the function without declaring `changes_interface`",
        )),
    };
    checked.map_err(|mut error| {
        error.function = Some(MAIN.to_owned());
        error
    })
}

#[cfg(test)]
mod tests {
    use passdock_ir::text;

    use super::*;

    const BEFORE: &str = "fn @main(%x: f32[n,2], %d: f32[1] = const f32[1] [1.0]) \
                          -> (%y: f32[n,2], %z: f32[n,2]) opset(\"\" = 17, \"a\" = 1)";

    fn message(before: &str, after: &str) -> String {
        let parse = |header: &str| {
            text::parse(&format!("module {{ {header} {{ return %x, %x }} }}")).unwrap()
        };
        match check_main(&parse(before), &parse(after)) {
            Ok(()) => "kept".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn interface_changes_are_reported() {
        let cases = [
            ("opset(\"\" = 17, \"a\" = 1)", "opset(\"\" = 17, \"b\" = 2)"),
            ("\"\" = 17", "\"\" = 18"),
            ("\"a\" = 1", "\"a\" = 2"),
            ("%z: f32[n,2]", "%z: f32[m,2]"),
            ("%z:", "%w:"),
            (", %d: f32[1] = const f32[1] [1.0]", ""),
            (" = const f32[1] [1.0]", ""),
            ("%x: f32[n,2],", "%x: f16[n,2],"),
            ("@main", "@other"),
        ];
        let mut all = String::new();
        for (old, new) in cases {
            let after = BEFORE.replace(old, new);
            assert_ne!(after, BEFORE);
            let message = message(BEFORE, &after);
            let (_, what) = message
                .split_once("declaring it: ")
                .unwrap_or(("", &message));
            all += &(what.split("; declare").next().unwrap_or(what).to_owned() + "\n");
        }
        expect_test::expect![[r#"
            kept
            the opset of the ONNX domain changed from 17 to 18
            the opset of domain `a` changed from 1 to 2
            result `z` changed from `f32[n,2]` to `f32[m,2]`
            expected result `z`, found `w`
            parameter `d` was removed
            parameter `d` changed from `f32[1]` with a default to `f32[1]`
            parameter `x` changed from `f32[n,2]` to `f16[n,2]`
            the pass removed the function without declaring `changes_interface`
        "#]]
        .assert_eq(&all);
    }

    #[test]
    fn opset_change_of_other_function_is_rejected() {
        let module = |version: i64, result: &str| {
            let helper =
                format!("fn @a.F(%x) -> ({result}) opset(\"\" = {version}) {{ return %x }}");
            text::parse(&format!(
                "module {{ {BEFORE} {{ return %x, %x }} {helper} }}"
            ))
            .unwrap()
        };
        let before = module(17, "%y");
        assert!(check_module(&before, &module(17, "%z")).is_ok());
        let error = check_module(&before, &module(18, "%y")).unwrap_err();
        assert_eq!(error.function.as_deref(), Some("a.F"));
        assert!(
            error.message.contains("17") && error.message.contains("18"),
            "{error}"
        );
    }
}
