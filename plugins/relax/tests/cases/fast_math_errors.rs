//! The errors of the approximations of `relax.transform.FastMath`: their bodies are evaluated by constant folding,
//! on numbers of each magnitude of float32. `tests/python/fast_math.py` evaluates them with ONNX Runtime on more
//! numbers.

use std::fmt::Write;

use passdock::testing::run_on_text;

use crate::support;

/// Returns the results of an operator's approximation.
fn approximated(operator: &str, numbers: &[f32]) -> Vec<f32> {
    let mut elements = String::new();
    for number in numbers {
        let _ = write!(elements, "{number:?}, ");
    }
    let elements = elements.to_lowercase();
    let count = numbers.len();
    let source = format!(
        "module {{
  fn @main() -> (%y: f32[{count}]) opset(\"\" = 17) {{
    %x = const f32[{count}] [{}]
    %y = onnx.{operator}(%x) : f32[{count}]
    return %y
  }}
}}",
        elements.trim_end_matches(", ")
    );
    let passes = [
        "relax.transform.FastMath",
        "relax.transform.InlineFunctions",
        "relax.transform.FoldConstant",
        "relax.transform.DeadCodeElimination",
    ];
    let created = run_on_text(&support::registry(), &passes, &source, |context| context);
    let blob = created.split("blob 0 = \"").nth(1);
    let blob = blob.and_then(|rest| rest.split('"').next());
    let blob = blob.unwrap_or_else(|| panic!("nothing was folded: {created}"));
    let bytes = decoded(blob);
    let results: Vec<f32> = bytes
        .chunks_exact(4)
        .map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
        .collect();
    assert_eq!(results.len(), count);
    results
}

/// Decodes base64, the notation for constants with many elements.
fn decoded(text: &str) -> Vec<u8> {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for sign in text.bytes().filter(|sign| *sign != b'=') {
        let value = SIGNS.iter().position(|one| *one == sign);
        bits = bits << 6 | value.expect("a sign of base64") as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Returns `of_each` numbers of each sign and exponent.
fn of_all_sizes(of_each: u32) -> Vec<f32> {
    let mut numbers = vec![0.0, -0.0];
    for exponent in 0..255_u32 {
        for step in 0..of_each {
            let fraction = (step * ((1 << 23) / of_each) + step * step * 7919) & 0x7f_ffff;
            let number = f32::from_bits(exponent << 23 | fraction);
            numbers.extend([number, -number]);
        }
    }
    numbers
}

/// Returns evenly spaced numbers around 0.
fn near(most: f32, count: usize) -> impl Iterator<Item = f32> {
    (0..=count).map(move |at| most * (2.0 * at as f32 / count as f32 - 1.0))
}

#[track_caller]
fn check(operator: &str, most: f32, exact: impl Fn(f64) -> f64, relative: f64, absolute: f64) {
    let mut numbers = of_all_sizes(16);
    numbers.extend(near(most, 20_000));
    let mut worst = 0.0_f64;
    for (x, y) in numbers.iter().zip(approximated(operator, &numbers)) {
        let exact = exact(f64::from(*x));
        let is_too_large = exact.abs() > f64::from(f32::MAX);
        if is_too_large && y.is_infinite() && y.is_sign_positive() == exact.is_sign_positive() {
            continue;
        }
        let allowed = relative * exact.abs() + absolute;
        let off = (f64::from(y) - exact).abs();
        worst = worst.max(off / allowed);
        assert!(
            off <= allowed,
            "{operator}({x:?}) = {y:?}, and not {exact:?}"
        );
    }
    // The bound is tight.
    assert!(worst > 0.4, "{operator}: {worst}");
}

/// A little more than half of the smallest number.
const SMALLEST: f64 = 1.5e-45;

#[test]
fn exp_error_is_bounded() {
    check("Exp", 104.0, f64::exp, 2e-7, SMALLEST);
}

#[test]
fn tanh_error_is_bounded() {
    check("Tanh", 9.5, f64::tanh, 0.0, 4e-7);
}

#[test]
fn sigmoid_error_is_bounded() {
    check(
        "Sigmoid",
        104.0,
        |x| 1.0 / (1.0 + (-x).exp()),
        // Where e^-x is infinite, the result is 0.
        4e-7,
        3e-39,
    );
}

#[test]
fn erf_error_is_bounded() {
    // 2/√π · Σ (-1)^k x^(2k+1) / (k! (2k+1)): exact enough up to 5, and 1 from there on.
    let erf = |x: f64| {
        if x.abs() > 5.0 {
            return x.signum();
        }
        let (mut term, mut sum) = (x, x);
        for k in 1..200 {
            term *= -x * x / f64::from(k);
            sum += term / f64::from(2 * k + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    };
    check("Erf", 4.5, erf, 0.0, 5e-7);
}

#[test]
fn infinities_and_nan() {
    let mut special = vec![f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    // Enough elements that they aren't printed individually.
    special.resize(4096, 0.0);
    for (operator, high, low) in [
        ("Exp", f32::INFINITY, 0.0),
        ("Tanh", 1.0, -1.0),
        ("Erf", 1.0, -1.0),
        ("Sigmoid", 1.0, 0.0),
    ] {
        let results = approximated(operator, &special);
        let near = |a: f32, b: f32| a == b || (a - b).abs() < 2e-7;
        assert!(
            near(results[0], high) && near(results[1], low) && results[2].is_nan(),
            "{operator}: {results:?}"
        );
    }
}
