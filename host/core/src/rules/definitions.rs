//! The check of rules against op definitions: operands, attributes and versions.

use passdock_ir::OpName;
use passdock_loader::{AttrInfo, OpDefs, OpInfo, count_range};
use passdock_plugin_api as sdk;
use sdk::rewrite::{AttrTerm, Literal, NodeAttr, Operand, Opset, Rule, RuleError};

use super::{Mention, versions};

/// Checks a rule against the definitions of its operators. Rejects an operand or an attribute that no op has in the
/// rule's versions, and operators that no version has together.
pub(super) fn check(rule: &Rule, ops: &OpDefs) -> Result<(), RuleError> {
    Check { rule, ops }.run()
}

struct Check<'c> {
    rule: &'c Rule,
    ops: &'c OpDefs,
}

/// An operator in a rule, with its definitions.
pub(super) struct RuleOp<'k> {
    pub(super) mention: Mention<'k>,
    pub(super) domain: String,
    pub(super) definitions: Vec<OpInfo>,
    /// Whether the op of the rule is valid by each of the definitions.
    fits: Vec<bool>,
}

impl RuleOp<'_> {
    /// Whether the op of the rule is valid in a version.
    pub(super) fn is_right(&self, version: i64) -> bool {
        let mut definitions = self.definitions.iter();
        let at = definitions.rposition(|one| one.since <= version);
        at.is_some_and(|at| self.fits[at])
    }
}

impl Check<'_> {
    fn run(&self) -> Result<(), RuleError> {
        let mut ops: Vec<Vec<RuleOp<'_>>> = Vec::new();
        for mentions in Mention::all(self.rule) {
            let op = mentions.into_iter().map(|mention| {
                let mut op = RuleOp {
                    domain: domain(mention.operator()),
                    definitions: self.ops.versions(mention.operator()),
                    fits: Vec::new(),
                    mention,
                };
                self.fit(&mut op).map(|()| op)
            });
            ops.push(op.collect::<Result<_, _>>()?);
        }
        versions::check(self.rule, &ops, |domain| self.version_range(domain))?;
        self.check_bound(ops.iter().flatten())
    }

    /// Returns the first and the last version of a domain that the rule allows.
    fn version_range(&self, domain: &str) -> (i64, i64) {
        let opset = self.opset(domain);
        opset.map_or((1, i64::MAX), |opset| (opset.at_least, opset.at_most))
    }

    fn opset(&self, domain: &str) -> Option<&Opset> {
        self.rule.opsets.iter().find(|opset| opset.domain == domain)
    }

    /// Determines the definitions by which an op of the rule is valid. An error if there is none in the rule's
    /// versions.
    fn fit(&self, op: &mut RuleOp<'_>) -> Result<(), RuleError> {
        let (first, last) = self.version_range(&op.domain);
        let mention = op.mention;
        let (mut rule_error, mut is_defined) = (None, false);
        for (at, definition) in op.definitions.iter().enumerate() {
            let next = op
                .definitions
                .get(at + 1)
                .map_or(i64::MAX, |next| next.since);
            let applies = definition.since <= last && next > first;
            let mismatch = self.mismatch(mention, definition);
            op.fits.push(applies && mismatch.is_none());
            is_defined |= applies;
            if applies && mismatch.is_some() {
                // The newest version is the most useful one in an error.
                rule_error = mismatch;
            }
        }
        let since = op.definitions.first().map(|first| first.since);
        if let (false, Some(since), Some(opset)) = (is_defined, since, self.opset(&op.domain)) {
            let name = mention.operator();
            let message = format!(
                "`{}` requires version {} or later, but the rule allows at most {}",
                name, since, last
            );
            return Err(RuleError::new(opset.at.clone(), message));
        }
        match rule_error.filter(|_| !op.fits.contains(&true)) {
            Some(rule_error) => Err(rule_error),
            None => Ok(()),
        }
    }

    /// Rejects a name that is bound to attributes of different kinds, since they are never equal.
    fn check_bound<'k>(&self, all: impl Iterator<Item = &'k RuleOp<'k>>) -> Result<(), RuleError> {
        let mut bound: Vec<(usize, String, Vec<&str>)> = Vec::new();
        for op in all {
            let operands = op.mention.node.operands.iter().flat_map(|operand| {
                let uses = match &operand.value {
                    Operand::Splat(at) => vec![(*at, vec!["number", "float", "int"])],
                    Operand::Elements(AttrTerm::Bound(at)) => vec![(*at, vec!["ints"])],
                    Operand::Elements(term) => items(term),
                    _ => Vec::new(),
                };
                uses.into_iter()
                    .map(|(at, kinds)| (at, "an operand".to_owned(), operand.at.clone(), kinds))
            });
            let attrs = op.mention.node.attrs.iter().flat_map(|attr| {
                let uses = match &attr.value.value {
                    AttrTerm::Bound(at) => {
                        let attributes = op.definitions.iter().flat_map(|one| &one.attributes);
                        let own = attributes
                            .flatten()
                            .filter(|one| one.name == attr.name.value);
                        vec![(*at, own.map(|one| one.kind).collect())]
                    }
                    term => items(term),
                };
                let name = format!("`{}`", attr.name.value);
                uses.into_iter()
                    .map(move |(at, kinds)| (at, name.clone(), attr.value.at.clone(), kinds))
            });
            for (at, name, span, kinds) in operands.chain(attrs) {
                if kinds.is_empty() {
                    continue;
                }
                match bound.iter().find(|(other, ..)| *other == at) {
                    Some((_, other, theirs)) if !theirs.iter().any(|kind| kinds.contains(kind)) => {
                        let message = format!(
                            "`${}` is {} as {other}, but {} as {name}",
                            self.rule.attrs[at],
                            with_article(theirs[0]),
                            with_article(kinds[0])
                        );
                        return Err(RuleError::new(span, message));
                    }
                    Some(_) => {}
                    None => bound.push((at, name, kinds)),
                }
            }
        }
        Ok(())
    }

    /// Returns the reason why no op of this definition matches the rule, if any.
    fn mismatch(&self, mention: Mention<'_>, definition: &OpInfo) -> Option<RuleError> {
        self.operands(mention, definition).or_else(|| {
            let attrs = definition.attributes.as_ref()?;
            let given = mention.node.attrs.iter();
            let rule_error = given.filter_map(|given| attr(mention, given, attrs)).next();
            rule_error.or_else(|| missing(mention, attrs))
        })
    }

    fn operands(&self, mention: Mention<'_>, definition: &OpInfo) -> Option<RuleError> {
        let least = definition.min_operands;
        let most = definition.max_operands.unwrap_or(u32::MAX);
        let allowed = count_range("operand", least, most);
        let operands = &mention.node.operands;
        let is_list = |operand: &Operand| matches!(operand, Operand::List(_));
        let has_list = operands.iter().any(|one| is_list(&one.value));
        let mut given = operands
            .iter()
            .enumerate()
            .filter(|(_, one)| !is_list(&one.value) && !self.is_optional(&one.value));
        // After a list operand, only the number of operands matters.
        let beyond = match has_list {
            true => given.nth(most as usize),
            false => given.find(|(at, _)| *at >= most as usize),
        };
        if let Some((_, one)) = beyond {
            let message = format!(
                "too many operands: `{}` expects {allowed}",
                mention.operator()
            );
            return Some(RuleError::new(one.at.clone(), message));
        }
        let needed = operands.iter().take(least as usize);
        if let Some(one) = needed.clone().find(|one| one.value == Operand::Absent) {
            let message = format!("this operand of `{}` is required", mention.operator());
            return Some(RuleError::new(one.at.clone(), message));
        }
        if !has_list && needed.count() < least as usize {
            let count = operands.len() as u32;
            let message = format!("`{}` expects {allowed}, found {count}", mention.operator());
            return Some(RuleError::new(mention.name.at.clone(), message));
        }
        None
    }

    /// Whether an operand may be omitted.
    fn is_optional(&self, operand: &Operand) -> bool {
        let value = match operand {
            Operand::Value(value) | Operand::Optional(value) => *value,
            operand => return *operand == Operand::Absent,
        };
        let values = &self.rule.values;
        let operands = self.rule.nodes.iter().flat_map(|node| &node.operands);
        let alternatives = values.iter().flat_map(|value| &value.alternatives);
        let may_be_absent = |one: &Operand| matches!(one, Operand::Absent | Operand::Optional(_));
        operands
            .chain(alternatives)
            .any(|one| one.value == Operand::Optional(value))
            || (values[value].alternatives.iter()).any(|one| may_be_absent(&one.value))
    }
}

fn attr(mention: Mention<'_>, given: &NodeAttr, attrs: &[AttrInfo]) -> Option<RuleError> {
    let Some(definition) = attrs.iter().find(|attr| attr.name == given.name.value) else {
        let message = format!(
            "unknown attribute `{}` of `{}`",
            given.name.value,
            mention.operator()
        );
        let names: Vec<&str> = attrs.iter().map(|attr| attr.name).collect();
        let help = match names.is_empty() {
            true => "the operator has no attributes".to_owned(),
            false => format!("the attributes are {}", names.join(", ")),
        };
        let error = RuleError::new(given.name.at.clone(), message);
        return Some(error.help(help).candidates(names));
    };
    let kinds = kinds(&given.value.value, mention.is_replacement);
    if kinds.is_empty() || kinds.contains(&definition.kind) {
        return None;
    }
    let message = format!(
        "expected attribute `{}` of `{}` to be {}, found {}",
        definition.name,
        mention.operator(),
        with_article(definition.kind),
        with_article(kinds[0])
    );
    let is_whole = kinds.contains(&"int") || kinds.contains(&"ints");
    let error = RuleError::new(given.value.at.clone(), message);
    Some(match is_whole && definition.kind.starts_with("float") {
        true => error.help("write a float with a decimal point: `1.0`"),
        false => error,
    })
}

/// Returns the error about a required attribute that the replacement lacks.
fn missing(mention: Mention<'_>, attrs: &[AttrInfo]) -> Option<RuleError> {
    if !mention.is_replacement || mention.node.like.is_some() {
        return None;
    }
    let given = &mention.node.attrs;
    let is_given = |name: &str| given.iter().any(|given| given.name.value == name);
    let mut required = attrs.iter().filter(|attr| attr.required);
    let lost = required.find(|attr| !is_given(attr.name))?;
    let message = format!(
        "missing attribute `{}` of `{}`",
        lost.name,
        mention.operator()
    );
    Some(RuleError::new(mention.name.at.clone(), message))
}

/// Returns the names in a list of integers, with their kinds.
fn items(term: &AttrTerm) -> Vec<(usize, Vec<&'static str>)> {
    let AttrTerm::List(items) = term else {
        return Vec::new();
    };
    let names = items.iter().filter_map(|item| match item {
        AttrTerm::Bound(at) => Some((*at, vec!["int"])),
        _ => None,
    });
    names.collect()
}

/// Returns the kinds of attributes that a value in a rule may have. Empty if the text doesn't determine them.
fn kinds(value: &AttrTerm, is_replacement: bool) -> &'static [&'static str] {
    let literal = match value {
        AttrTerm::Bound(_) => return &[],
        AttrTerm::Compose(..) | AttrTerm::List(_) => return &["ints"],
        AttrTerm::Literal(literal) => literal,
    };
    match literal {
        Literal::Int(_) if is_replacement => &["int"],
        Literal::Int(_) => &["int", "float"],
        Literal::Float(_) => &["float"],
        Literal::String(_) => &["string"],
        Literal::Ints(ints) if is_replacement && !ints.is_empty() => &["ints"],
        Literal::Ints(_) => &["ints", "floats"],
        Literal::Floats(_) => &["floats"],
        Literal::Ident(_) => &[],
    }
}

fn domain(name: &str) -> String {
    let domain = OpName::parse(name).and_then(|name| name.domain);
    domain.unwrap_or_default().into_owned()
}

/// Returns the name of an attribute kind with an article, for messages.
fn with_article(kind: &str) -> String {
    match kind {
        "int" => "an integer".to_owned(),
        "float" => "a float".to_owned(),
        "string" => "a string".to_owned(),
        "ints" => "a list of integers".to_owned(),
        "floats" => "a list of floats".to_owned(),
        "strings" => "a list of strings".to_owned(),
        other => format!("a {}", other),
    }
}
