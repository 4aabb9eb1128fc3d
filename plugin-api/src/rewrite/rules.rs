//! [`Rules`]: sets of rules, and [`rules!`](crate::rules), which writes them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_abi::{Status, ValueId};

use super::matching::Match;
use super::rewriter::Rewriter;
use crate::data::EditError;
use crate::language::{self, Extent, Rule, RuleError};

/// What a rule's code answers: a value for each result of the pattern's last op, or `None` if nothing is to be
/// done here after all. What it made is taken back then.
pub type Rewritten = Result<Option<Vec<ValueId>>, EditError>;

/// The reason why a rule's code rewrites nothing: what it looks for isn't there. With `?` it becomes an [`EditError`],
/// on which the driver takes back what the code made: `f.rank(x).ok_or(NoMatch)?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMatch;

impl NoMatch {
    /// Fails unless a condition holds.
    ///
    /// # Errors
    /// If it doesn't.
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
        EditError::new(Status::REFUSED, "the rule doesn't match", None)
    }
}

/// A rule's code: what stands in the place of what was found.
pub type RuleCode = fn(&mut Rewriter<'_>, &Match<'_>) -> Rewritten;

/// A set of rules, of which a function is rewritten until none applies ([`PassContext::rewrite`]).
///
/// [`PassContext::rewrite`]: crate::PassContext::rewrite
pub struct Rules {
    sources: &'static [RuleSource],
    compiled: Mutex<Option<Arc<CompiledSet>>>,
}

/// A rule as [`rules!`](crate::rules) writes it down.
#[doc(hidden)]
pub struct RuleSource {
    /// The rule, as a file has it.
    pub text: &'static str,
    pub code: Option<RuleCode>,
}

/// Rules that can be looked for.
pub(super) struct CompiledSet {
    pub(super) rules: Vec<Arc<Compiled>>,
    /// The rules whose pattern has this operator at its root, by index.
    pub(super) roots: HashMap<String, Vec<usize>>,
}

impl CompiledSet {
    fn new(rules: Vec<Arc<Compiled>>) -> Arc<CompiledSet> {
        let mut roots: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, one) in rules.iter().enumerate() {
            let root = &one.rule.nodes[one.rule.nodes.len() - 1];
            for operator in &root.operators {
                roots.entry(operator.value.clone()).or_default().push(at);
            }
        }
        Arc::new(CompiledSet { rules, roots })
    }
}

/// A rule that can be looked for.
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

    /// Rules out of a text, as `.rules` files have them.
    ///
    /// # Errors
    /// If the text isn't one of rules: what is wrong, and where.
    pub fn parse(text: &str) -> Result<Rules, RuleError> {
        let rules = language::file(text, Extent::Whole)?;
        Ok(Rules::from_rules(rules, None))
    }

    /// Patterns out of a text, as `.rules` files have them: rules of which what stands behind the arrow is left out,
    /// or says nothing. Each is a set of its own, to be found ([`PassContext::find`]).
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
    /// If the text isn't one of rules: what is wrong, and where.
    pub fn parse_patterns(text: &str) -> Result<Vec<Rules>, RuleError> {
        let rules = language::file(text, Extent::AnyBehind)?;
        let patterns = rules
            .into_iter()
            .map(|rule| Rules::from_rules(vec![rule], None));
        Ok(patterns.collect())
    }

    /// A pattern by itself, with its conditions, to be found ([`PassContext::find`]).
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

    /// Rules that were read; code stands behind the arrow of one alone.
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

    /// One set of the rules of several, in order. Where they are applied to many functions, or looked for there, it
    /// costs less than the many do.
    ///
    /// # Errors
    /// If a rule's text is wrong.
    pub fn joined<'r>(sets: impl IntoIterator<Item = &'r Rules>) -> Result<Rules, RuleError> {
        let mut rules = Vec::new();
        for set in sets {
            rules.extend(set.compiled()?.rules.iter().cloned());
        }
        Ok(Rules::from_compiled(rules))
    }

    /// A rule whose code is a closure: `pattern` is what stands in front of the arrow, with the conditions.
    ///
    /// # Errors
    /// If the pattern isn't one.
    pub fn with_code(
        name: &str,
        pattern: &str,
        code: impl Fn(&mut Rewriter<'_>, &Match<'_>) -> Rewritten + Send + Sync + 'static,
    ) -> Result<Rules, RuleError> {
        let rule = language::rule(name, pattern, Extent::Pattern)?;
        Ok(Rules::from_rules(vec![rule], Some(Box::new(code))))
    }

    /// The names of the rules, in order.
    ///
    /// # Errors
    /// If a rule's text is wrong.
    pub fn names(&self) -> Result<Vec<String>, RuleError> {
        let compiled = self.compiled()?;
        let rules = compiled.rules.iter();
        Ok(rules.map(|one| one.rule.name.clone()).collect())
    }

    /// The rules, in order.
    ///
    /// # Errors
    /// If a rule's text is wrong.
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

/// Writes a set of rules: what is looked for, and what stands in its place.
///
/// A mistake in a rule is an error when the rules are first used, so a test should ask for [`Rules::names`].
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// static RULES: Rules = rules! {
///     /// The function that exporters write out, in models that have its operator.
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
            // Called as the rules are: that is how the compiler rejects one that is there twice.
            $(
                #[allow(dead_code, non_upper_case_globals)]
                const $name: () = ();
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

/// The code of a rule, if it has any.
#[doc(hidden)]
#[macro_export]
macro_rules! __rule_code {
    () => {
        ::std::option::Option::None
    };
    ($code:expr) => {
        ::std::option::Option::Some($code as $crate::rewrite::RuleCode)
    };
}
