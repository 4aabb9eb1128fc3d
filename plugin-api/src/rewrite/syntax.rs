//! The macros by which the compiler checks the syntax and the names of `rules!`, with the location of an error.
//!
//! `crate::language` parses rules when they are first used, and checks everything. The compiler finds what authors get
//! wrong most often: missing commas, names that the pattern doesn't bind, and unknown conditions. `%x` and `$x` become
//! a variable `x` of type [`BoundName`] in a function that isn't called; numbers such as `%0` aren't checked.
//!
//! As for `plugin!`, there is no rule for invalid syntax: the compiler reports the first token that doesn't fit. Lists
//! end with a comma, choices with `;` and rules with `;` and their name, because an unexpected end of a macro's
//! arguments has no location. Frequent forms have separate rules, because the compiler limits the depth of expansions:
//! a rule may have about a hundred statements and conditions. Names are matched as `tt`. A macro's first argument is
//! the part of the rule: `pattern`, `whole` for a pattern that an arrow follows, or `replacement`, which includes the
//! conditions. The second argument is what an item belongs to.

use super::rules::RuleCode;

/// A name that the pattern binds.
#[derive(Clone, Copy)]
pub struct BoundName;

/// Accepts only a name that the pattern binds, and no variable of the surrounding code.
pub fn bound(_: BoundName) {}

/// The names of conditions and terms, except `const`.
#[allow(non_upper_case_globals)]
pub mod condition {
    pub const axis: () = ();
    pub const broadcasts_to: () = ();
    pub const compose: () = ();
    pub const dim: () = ();
    pub const dtype: () = ();
    pub const float: () = ();
    pub const identity: () = ();
    pub const opset: () = ();
    pub const rank: () = ();
    pub const same_dtype: () = ();
    pub const same_shape: () = ();
    pub const same_type: () = ();
    pub const size: () = ();
    pub const uses: () = ();
}

/// The words between a rule's name and its braces.
#[allow(non_upper_case_globals)]
pub mod word {
    pub const grows: () = ();
    pub const keeps_type: () = ();
}

/// A module without items, whose name explains the error about a value without `%`.
pub mod values_start_with_a_percent_sign {}

/// The same for a rule without an arrow.
pub mod rules_without_code_need_an_arrow {}

/// The code of a rule. Old compilers have no constant functions with a parameter of this type.
pub struct Code(pub RuleCode);

/// Checks a rule: the text, and the code if there is any. Without code, the text must have an arrow.
#[doc(hidden)]
#[macro_export]
macro_rules! __rule {
    ($rule:ident [$($word:ident)*] [$($text:tt)*]) => {
        $($crate::__private::rule::word::$word;)*
        $crate::__statement!(whole $($text)* ; $rule);
    };
    ($rule:ident [$($word:ident)*] [$($text:tt)*] $code:expr) => {
        $($crate::__private::rule::word::$word;)*
        $crate::__statement!(pattern $($text)* ; $rule);
    };
}

/// Checks the statements of a rule.
#[doc(hidden)]
#[macro_export]
macro_rules! __statement {
    (pattern ; $rule:ident) => {};
    (replacement ; $rule:ident) => {};
    (whole ; $rule:ident) => {
        $crate::__private::rule::rules_without_code_need_an_arrow::$rule;
    };
    (whole => $($rest:tt)*) => {
        $crate::__statement!(replacement $($rest)*);
    };
    (pattern where $($rest:tt)*) => {
        $crate::__term!(replacement condition $($rest)*);
    };
    (replacement where $($rest:tt)*) => {
        $crate::__term!(replacement condition $($rest)*);
    };
    ($side:ident _ = $($rest:tt)*) => {
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident _, $($rest:tt)*) => {
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident % $number:literal = $($rest:tt)*) => {
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident % $number:literal, $($rest:tt)*) => {
        $crate::__statement!($side $($rest)*);
    };
    (
        $side:ident % $name:tt =
        $($op:ident).+ $(| $($other:ident).+)* $(?)? ($($operands:tt)*) {$($attrs:tt)*}
        $($rest:tt)*
    ) => {
        let $name = $crate::__private::rule::BoundName;
        $crate::__operand!($side operands $($operands)* ,);
        $crate::__attrs!($side $($attrs)* ,);
        $crate::__statement!($side $($rest)*);
    };
    (
        $side:ident % $name:tt =
        $($op:ident).+ $(| $($other:ident).+)* $(?)? ($($operands:tt)*)
        $($rest:tt)*
    ) => {
        let $name = $crate::__private::rule::BoundName;
        $crate::__operand!($side operands $($operands)* ,);
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident % $name:tt = $($rest:tt)*) => {
        let $name = $crate::__private::rule::BoundName;
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident % $name:tt, $($rest:tt)*) => {
        let $name = $crate::__private::rule::BoundName;
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident $($operand:tt)*) => {
        $crate::__operand!($side statement $($operand)*);
    };
}

/// Checks an operand, or an op or a choice that is a statement, and then what follows.
#[doc(hidden)]
#[macro_export]
macro_rules! __operand {
    ($side:ident operands $(,)?) => {};
    ($side:ident $of:ident % $number:literal ... $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident % $number:literal ? $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident % $number:literal $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident % $name:tt ... $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident % $name:tt ? $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident % $name:tt $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident ($($choice:tt)*) $($rest:tt)*) => {
        $crate::__operand!($side choice $($choice)* ;);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident [$($items:tt)*] $($rest:tt)*) => {
        $crate::__term!($side items $($items)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident _ $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident none $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident ~ $number:literal $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident $number:literal $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident $name:ident, $($rest:tt)*) => {
        $crate::__private::rule::values_start_with_a_percent_sign::$name;
        $crate::__after!($side $of, $($rest)*);
    };
    (
        $side:ident $of:ident
        $($name:ident).+ $(| $($other:ident).+)* $(?)? ($($operands:tt)*) {$($attrs:tt)*}
        $($rest:tt)*
    ) => {
        $crate::__operand!($side operands $($operands)* ,);
        $crate::__attrs!($side $($attrs)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    (
        $side:ident $of:ident
        $($name:ident).+ $(| $($other:ident).+)* $(?)? ($($operands:tt)*)
        $($rest:tt)*
    ) => {
        $crate::__operand!($side operands $($operands)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    // The first token is `$`.
    ($side:ident $of:ident $dollar:tt $name:ident $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
}

/// Checks the attributes of an op.
#[doc(hidden)]
#[macro_export]
macro_rules! __attrs {
    ($side:ident $(,)?) => {};
    (replacement ..% $number:literal, $($rest:tt)*) => {
        $crate::__attrs!(replacement $($rest)*);
    };
    (replacement ..% $name:tt, $($rest:tt)*) => {
        $crate::__private::rule::bound($name);
        $crate::__attrs!(replacement $($rest)*);
    };
    ($side:ident $attr:ident = $($value:tt)*) => {
        $crate::__term!($side attrs $($value)*);
    };
}

/// Checks an attribute's value, an item of a list, a condition, or a term of a condition, and then what follows.
#[doc(hidden)]
#[macro_export]
macro_rules! __term {
    ($side:ident items $(,)?) => {};
    ($side:ident condition ; $rule:ident) => {};
    ($side:ident condition not $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition ! $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition opset $relation:tt $number:literal, $($rest:tt)*) => {
        $crate::__relation!($relation);
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition $name:ident($($items:tt)*) $relation:tt $number:literal, $($rest:tt)*) => {
        $crate::__private::rule::condition::$name;
        $crate::__term!($side items $($items)* ,);
        $crate::__relation!($relation);
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident $of:ident $number:literal $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident [$($items:tt)*] $($rest:tt)*) => {
        $crate::__term!($side items $($items)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident const($($items:tt)*) $($rest:tt)*) => {
        $crate::__term!($side items $($items)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident $name:ident($($items:tt)*) $($rest:tt)*) => {
        $crate::__private::rule::condition::$name;
        $crate::__term!($side items $($items)* ,);
        $crate::__after!($side $of $($rest)*);
    };
    // The version of ONNX's domain, or a dtype.
    ($side:ident $of:ident $name:ident $($rest:tt)*) => {
        $crate::__after!($side $of $($rest)*);
    };
    (replacement $of:ident % $number:literal $($rest:tt)*) => {
        $crate::__after!(replacement $of $($rest)*);
    };
    (replacement $of:ident % $name:tt $($rest:tt)*) => {
        $crate::__private::rule::bound($name);
        $crate::__after!(replacement $of $($rest)*);
    };
    // The first token is `$`.
    ($side:ident $of:ident $dollar:tt $name:tt ... $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
    ($side:ident $of:ident $dollar:tt $name:tt $($rest:tt)*) => {
        $crate::__name!($side $name);
        $crate::__after!($side $of $($rest)*);
    };
}

/// Checks the relation of a comparison.
#[doc(hidden)]
#[macro_export]
macro_rules! __relation {
    (==) => {};
    (!=) => {};
    (<) => {};
    (<=) => {};
    (>) => {};
    (>=) => {};
}

/// Binds a name in a pattern, or checks that it is bound.
#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    (replacement $name:tt) => {
        $crate::__private::rule::bound($name);
    };
    ($pattern:ident $name:tt) => {
        let $name = $crate::__private::rule::BoundName;
    };
}

/// Checks what follows an item.
#[doc(hidden)]
#[macro_export]
macro_rules! __after {
    ($side:ident statement $($rest:tt)*) => {
        $crate::__statement!($side $($rest)*);
    };
    ($side:ident choice ;) => {};
    ($side:ident choice | $($rest:tt)*) => {
        $crate::__operand!($side choice $($rest)*);
    };
    ($side:ident operands, $($rest:tt)*) => {
        $crate::__operand!($side operands $($rest)*);
    };
    ($side:ident attrs, $($rest:tt)*) => {
        $crate::__attrs!($side $($rest)*);
    };
    ($side:ident items, $($rest:tt)*) => {
        $crate::__term!($side items $($rest)*);
    };
    ($side:ident condition, $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition ; $rule:ident) => {};
    ($side:ident condition in [$($items:tt)*] $($rest:tt)*) => {
        $crate::__term!($side items $($items)* ,);
        $crate::__after!($side condition $($rest)*);
    };
    ($side:ident condition == $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition != $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition < $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition <= $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition > $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
    ($side:ident condition >= $($rest:tt)*) => {
        $crate::__term!($side condition $($rest)*);
    };
}
