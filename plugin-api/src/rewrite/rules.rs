//! [`Rules`]: sets of rules, and the macro [`rules!`](crate::rules).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_abi::{Status, ValueId};

use super::matching::Match;
use super::rewriter::Rewriter;
use crate::data::EditError;
use crate::language::{self, Extent, Rule, RuleError};

/// The result of a rule's code: a value for each result of the root, or `None` if nothing should be rewritten. In that
/// case, everything that the code created is erased.
pub type Rewritten = Result<Option<Vec<ValueId>>, EditError>;

/// The reason why a rule's code rewrites nothing: a condition isn't met. `?` converts it to an [`EditError`], for which
/// the driver erases everything that the code created: `f.rank(x).ok_or(NoMatch)?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMatch;

impl NoMatch {
    /// Fails unless a condition holds.
    ///
    /// # Errors
    /// If it fails.
    pub fn unless(condition: bool) -> Result<(), NoMatch> {
        if condition {
            Ok(())
        } else {
            Err(NoMatch)
        }
    }
}

impl From<NoMatch> for EditError {
    fn from(_: NoMatch) -> EditError {
        EditError::new(Status::REJECTED, "the rule does not match", None)
    }
}

/// The code of a rule, which creates the replacement of a match.
pub type RuleCode = fn(&mut Rewriter<'_>, &Match<'_>) -> Rewritten;

/// A set of rewrite rules, which [`PassContext::rewrite`] applies to a function until a fixed point.
/// [`rules!`](crate::rules) declares one, and [`Rules::parse`] parses one from text.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// let rules = Rules::parse("rule relu_twice { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }")?;
/// assert_eq!(rules.names()?, ["relu_twice"]);
/// # Ok::<(), passdock_plugin_api::rewrite::RuleError>(())
/// ```
///
/// [`PassContext::rewrite`]: crate::PassContext::rewrite
pub struct Rules {
    sources: &'static [RuleSource],
    compiled: Mutex<Option<Arc<CompiledSet>>>,
}

/// A rule of [`rules!`](crate::rules).
#[doc(hidden)]
pub struct RuleSource {
    /// The rule, as in a file.
    pub text: &'static str,
    pub code: Option<RuleCode>,
}

/// Parsed rules.
pub(super) struct CompiledSet {
    pub(super) rules: Vec<Arc<Compiled>>,
    /// The rules whose pattern has this operator at its root, by index.
    pub(super) roots: HashMap<String, Vec<usize>>,
}

impl CompiledSet {
    fn new(rules: Vec<Arc<Compiled>>) -> Arc<CompiledSet> {
        let mut roots: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, one) in rules.iter().enumerate() {
            for root in one.rule.roots() {
                for operator in &one.rule.nodes[root].operators {
                    let rules = roots.entry(operator.value.clone()).or_default();
                    if rules.last() != Some(&at) {
                        rules.push(at);
                    }
                }
            }
        }
        Arc::new(CompiledSet { rules, roots })
    }
}

/// A parsed rule.
pub(super) struct Compiled {
    pub(super) rule: Rule,
    pub(super) code: Option<Box<RuleClosure>>,
}

type RuleClosure = dyn Fn(&mut Rewriter<'_>, &Match<'_>) -> Rewritten + Send + Sync;

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rules").field(&self.names()).finish()
    }
}

impl Rules {
    #[doc(hidden)]
    pub const fn new(sources: &'static [RuleSource]) -> Rules {
        Rules {
            sources,
            compiled: Mutex::new(None),
        }
    }

    /// Parses rules from the text of a `.rules` file.
    ///
    /// # Errors
    /// If the text is invalid; the error has the location.
    pub fn parse(text: &str) -> Result<Rules, RuleError> {
        let rules = language::file(text, Extent::Whole)?;
        Ok(Rules::from_rules(rules, None))
    }

    /// Parses patterns from the text of a `.rules` file: match-only rules, whose replacements are omitted or ignored.
    /// Each is a separate set, for [`PassContext::find`].
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// let text = "rule npu.conv_relu { onnx.Relu(onnx.Conv(%x, %w)) where rank(%x) == 4 }";
    /// let patterns = Rules::parse_patterns(text)?;
    /// assert_eq!(patterns[0].names()?, ["npu.conv_relu"]);
    /// # Ok::<(), passdock_plugin_api::rewrite::RuleError>(())
    /// ```
    ///
    /// [`PassContext::find`]: crate::PassContext::find
    ///
    /// # Errors
    /// If the text is invalid; the error has the location.
    pub fn parse_patterns(text: &str) -> Result<Vec<Rules>, RuleError> {
        let rules = language::file(text, Extent::PatternFirst)?;
        let patterns = rules
            .into_iter()
            .map(|rule| Rules::from_rules(vec![rule], None));
        Ok(patterns.collect())
    }

    /// Parses one pattern, with its conditions, for [`PassContext::find`].
    ///
    /// [`PassContext::find`]: crate::PassContext::find
    ///
    /// # Errors
    /// If the text isn't a pattern.
    pub fn pattern(name: &str, text: &str) -> Result<Rules, RuleError> {
        Ok(Rules::from_rules(
            vec![language::rule(name, text, Extent::Pattern)?],
            None,
        ))
    }

    /// Creates a set of parsed rules. Only a single rule can have code.
    fn from_rules(rules: Vec<Rule>, mut code: Option<Box<RuleClosure>>) -> Rules {
        let rules = rules.into_iter().map(|rule| {
            Arc::new(Compiled {
                rule,
                code: code.take(),
            })
        });
        Rules::from_compiled(rules.collect())
    }

    fn from_compiled(rules: Vec<Arc<Compiled>>) -> Rules {
        Rules {
            sources: &[],
            compiled: Mutex::new(Some(CompiledSet::new(rules))),
        }
    }

    /// Joins several sets into one, in order. The joined set is faster to apply, and to find matches of, than the
    /// separate sets.
    ///
    /// # Errors
    /// If a rule's text is invalid.
    pub fn joined<'r>(sets: impl IntoIterator<Item = &'r Rules>) -> Result<Rules, RuleError> {
        let mut rules = Vec::new();
        for set in sets {
            rules.extend(set.compiled()?.rules.iter().cloned());
        }
        Ok(Rules::from_compiled(rules))
    }

    /// Creates a rule whose code is a closure. `pattern` is the text before the arrow, with the conditions.
    ///
    /// # Errors
    /// If the text isn't a pattern.
    pub fn with_code(
        name: &str,
        pattern: &str,
        code: impl Fn(&mut Rewriter<'_>, &Match<'_>) -> Rewritten + Send + Sync + 'static,
    ) -> Result<Rules, RuleError> {
        let rule = language::rule(name, pattern, Extent::Pattern)?;
        Ok(Rules::from_rules(vec![rule], Some(Box::new(code))))
    }

    /// Returns the names of the rules, in order.
    ///
    /// # Errors
    /// If a rule's text is invalid.
    pub fn names(&self) -> Result<Vec<String>, RuleError> {
        let compiled = self.compiled()?;
        let rules = compiled.rules.iter();
        Ok(rules.map(|one| one.rule.name.clone()).collect())
    }

    /// Returns the rules, in order.
    ///
    /// # Errors
    /// If a rule's text is invalid.
    pub fn describe(&self) -> Result<Vec<Rule>, RuleError> {
        let compiled = self.compiled()?;
        let rules = compiled.rules.iter();
        Ok(rules.map(|one| one.rule.clone()).collect())
    }

    pub(super) fn compiled(&self) -> Result<Arc<CompiledSet>, RuleError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = &*compiled {
            return Ok(compiled.clone());
        }
        let mut rules = Vec::new();
        for source in self.sources {
            let extent = match source.code {
                Some(_) => Extent::Pattern,
                None => Extent::Whole,
            };
            for rule in language::file(source.text, extent)? {
                let code = source.code.map(|code| Box::new(code) as Box<RuleClosure>);
                rules.push(Arc::new(Compiled { rule, code }));
            }
        }
        let rules = CompiledSet::new(rules);
        *compiled = Some(rules.clone());
        Ok(rules)
    }
}

/// Declares a set of rules: patterns and their replacements.
///
/// The compiler reports invalid syntax, unknown names and unknown conditions. Everything else that is wrong with a rule
/// is reported when the rules are first used, so a test should call [`Rules::names`]. A name can't be a keyword of
/// Rust.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// static RULES: Rules = rules! {
///     /// Fuses the expression that exporters write for `Gelu`, if the opset has the operator.
///     rule erf_gelu {
///         onnx.Mul(onnx.Mul(%x, ~0.5), onnx.Add(onnx.Erf(onnx.Div(%x, ~1.41421356)), 1.0)) => onnx.Gelu(%x)
///     }
///     rule double_transpose {
///         onnx.Transpose(onnx.Transpose(%x) {perm = $p}) {perm = $q} => onnx.Transpose(%x) {perm = compose($p, $q)}
///     }
/// };
///
/// fn fuse_gelu(f: &mut Function, cx: &PassContext) -> PassResult {
///     cx.rewrite(f, &[&RULES])
/// }
/// ```
#[macro_export]
macro_rules! rules {
    ($($(#[doc = $doc:literal])* rule $name:ident $($word:ident)* { $($text:tt)* } $(=> $code:expr;)?)*) => {{
        {
            // Constants with the names of the rules, so that the compiler rejects duplicate names.
            $(
                #[allow(dead_code, non_upper_case_globals)]
                const $name: () = ();
            )*
            $(
                #[allow(warnings)]
                const _: fn() = || {
                    $crate::__rule!($name [$($word)*] [$($text)*] $($code)?);
                };
            )*
        }
        $crate::Rules::new(&[$(
            $crate::__private::RuleSource {
                text: ::std::concat!(
                    "rule ", ::std::stringify!($name), $(" ", ::std::stringify!($word),)*
                    " { ", ::std::stringify!($($text)*), " }",
                ),
                code: $crate::__rule_code!($($code)?),
            },
        )*])
    }};
}

/// Expands the optional code of a rule.
#[doc(hidden)]
#[macro_export]
macro_rules! __rule_code {
    () => {
        ::std::option::Option::None
    };
    ($code:expr) => {
        ::std::option::Option::Some($crate::__private::rule::Code($code).0)
    };
}
