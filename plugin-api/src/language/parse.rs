//! Parser for rules: converts text to a [`Rule`].
//!
//! ```text
//! file      = ("rule" name ("." name)* ["grows"] ["keeps_type"] "{" rule "}")*
//! rule      = statement* ("=>" | "→") statement* ["where" condition,*]
//! statement = [value,* "="] (op | value | choice)
//! op        = operator ("|" operator)* ["?"] "(" operand,* ")" ["{" attr,* "}"]
//! choice    = "(" operand ("|" operand)+ ")"
//! ```

use std::ops::Range;

use super::lex::{tokens, Token, COMMENTS};
use super::rule::{Literal, Operand, Rule, RuleError, Spanned};

/// The maximum nesting depth of ops, terms and lists, which limits the recursion.
const MAX_NESTED: usize = 100;

/// A parsed item, or the error in the text.
pub type Parsed<T> = Result<T, RuleError>;

/// The parts of a rule that a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Extent {
    /// The pattern, the arrow, and the replacement.
    Whole,
    /// The pattern; the rest is optional and ignored.
    PatternFirst,
    /// Only the pattern.
    Pattern,
}

/// Parses all rules of a file.
pub fn file(text: &str, extent: Extent) -> Parsed<Vec<Rule>> {
    let mut parser = Parser::new(text, "")?;
    let mut rules: Vec<Rule> = Vec::new();
    while parser.peek() != &Token::End {
        parser.rule_name = String::new();
        let doc = doc_above(text, parser.at().start);
        if !parser.eat_keyword("rule") {
            return Err(parser.expected("`rule NAME { … }`"));
        }
        let start = parser.at().start;
        let mut name = parser.ident("a rule name")?;
        while parser.eat(".") {
            name.push('.');
            name += &parser.ident("an identifier after `.`")?;
        }
        let at = parser.since(start);
        if rules.iter().any(|rule| rule.name == name) {
            return Err(parser.error(at, format!("duplicate rule `{}`", name)));
        }
        parser.rule_name = name;
        let (mut grows, mut keeps_type) = (false, false);
        loop {
            if parser.eat_keyword("grows") {
                grows = true;
            } else if parser.eat_keyword("keeps_type") {
                keeps_type = true;
            } else {
                break;
            }
        }
        parser.expect("{")?;
        let rule = parser.body("}", extent)?;
        parser.expect("}")?;
        rules.push(Rule {
            grows,
            keeps_type,
            doc,
            at,
            ..rule
        });
    }
    Ok(rules)
}

/// Parses one rule, without its braces.
pub fn rule(name: &str, text: &str, extent: Extent) -> Parsed<Rule> {
    let mut parser = Parser::new(text, name)?;
    let rule = parser.body("", extent)?;
    match parser.peek() {
        Token::End => Ok(rule),
        _ => Err(parser.expected("end of rule")),
    }
}

/// Returns the comment directly above a position.
fn doc_above(text: &str, at: usize) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    for line in text[..line_start].lines().rev() {
        let line = line.trim();
        let comment = line
            .strip_prefix(';')
            .or_else(|| line.strip_prefix("///"))
            .or_else(|| line.strip_prefix("//"));
        match comment {
            Some(comment) => lines.push(comment.trim()),
            None => break,
        }
    }
    lines.reverse();
    lines.join("\n")
}

/// A parser, with its current token.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    depth: usize,
    rule_name: String,
    pub(crate) rule: Rule,
    /// Whether the pattern is parsed, which binds names. The rest of a rule refers to them.
    pub(crate) in_pattern: bool,
    /// The values that the replacement has named so far, in order.
    pub(crate) named: Vec<(String, Operand)>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, name: &str) -> Parsed<Parser<'t>> {
        Ok(Parser {
            text,
            tokens: tokens(text).map_err(|error| RuleError {
                rule: name.to_owned(),
                ..error
            })?,
            next: 0,
            depth: 0,
            rule_name: name.to_owned(),
            rule: Rule::default(),
            in_pattern: true,
            named: Vec::new(),
        })
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    pub(crate) fn peek_second(&self) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + 1).min(last)].0
    }

    pub(crate) fn at(&self) -> Range<usize> {
        self.tokens[self.next].1.clone()
    }

    /// Returns the span from `start` to the last token that was consumed.
    pub(crate) fn since(&self, start: usize) -> Range<usize> {
        start..self.tokens[self.next.saturating_sub(1)].1.end
    }

    pub(crate) fn advance(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(token) if *token == mark)
    }

    pub(crate) fn eat(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        if is {
            self.advance();
        }
        is
    }

    pub(crate) fn eat_keyword(&mut self, ident: &str) -> bool {
        let is = matches!(self.peek(), Token::Ident(token) if token == ident);
        if is {
            self.advance();
        }
        is
    }

    pub(crate) fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", mark)))
    }

    pub(crate) fn error(&self, at: Range<usize>, message: impl Into<String>) -> RuleError {
        RuleError {
            rule: self.rule_name.clone(),
            ..RuleError::new(at, message)
        }
    }

    /// Returns an error about the last item that was parsed.
    pub(crate) fn misplaced(&self, start: usize, what: &str) -> RuleError {
        self.error(self.since(start), format!("expected {}", what))
    }

    pub(crate) fn expected(&self, what: &str) -> RuleError {
        let token = match self.peek() {
            Token::Ident(ident) => format!("`{}`", ident),
            Token::Int(_) | Token::Float(_) => format!("`{}`", &self.text[self.at()]),
            Token::String(_) => "a string".to_owned(),
            Token::Mark(mark) => format!("`{}`", mark),
            Token::End => "end of input".to_owned(),
        };
        let message = format!("expected {}, found {}", what, token);
        self.error(self.at(), message).help(self.syntax_help())
    }

    /// Returns the help for syntax of other languages.
    fn syntax_help(&self) -> String {
        let before = self
            .next
            .checked_sub(1)
            .map_or(0, |at| self.tokens[at].1.end);
        let gap = &self.text[before..self.at().start];
        // A comment on the line of the previous token that is longer than a `;` at the end of a statement.
        let line = gap.lines().next().unwrap_or_default().trim();
        match self.peek() {
            _ if line.len() > 1 && line.starts_with(';') => {
                "remove `;`, which starts a comment".to_owned()
            }
            Token::Mark("->") => "write the arrow as `=>` or `→`".to_owned(),
            Token::Mark("#") => COMMENTS.to_owned(),
            _ => String::new(),
        }
    }

    pub(crate) fn ident(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Ident(_) => match self.advance() {
                Token::Ident(ident) => Ok(ident),
                _ => unreachable!("it was peeked at"),
            },
            _ => Err(self.expected(what)),
        }
    }

    /// Parses a value and returns its name: `%x`, `%0`.
    pub(crate) fn value_name(&mut self) -> Parsed<String> {
        self.expect("%")?;
        match self.peek() {
            Token::Int(_) => {
                let name = self.text[self.at()].to_owned();
                self.advance();
                Ok(name)
            }
            _ => self.ident("a value name"),
        }
    }

    /// Parses an operator: `onnx.Add`, `com.microsoft.Gelu`.
    pub(crate) fn operator(&mut self) -> Parsed<Spanned<String>> {
        self.spanned(|parser| {
            let mut name = parser.ident("an operator name")?;
            while parser.eat(".") {
                name.push('.');
                name += &parser.ident("an identifier after `.`")?;
            }
            Ok(name)
        })
    }

    /// Parses a nested item, and limits the depth.
    pub(crate) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'t>) -> Parsed<T>,
    ) -> Parsed<T> {
        if self.depth >= MAX_NESTED {
            let message = format!("nesting exceeds {} levels", MAX_NESTED);
            return Err(self.error(self.at(), message));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Parses the `(` before an op's operands.
    pub(crate) fn begin_operands(&mut self, operator: &Spanned<String>) -> Parsed<()> {
        if self.eat("(") {
            return Ok(());
        }
        let Spanned { value: name, at } = operator;
        if name.contains('.') {
            return Err(self.expected("`(`"));
        }
        let message = format!("expected an op or a value, found `{}`", name);
        let error = self.error(at.clone(), message);
        Err(error.help(format!("write a value as `%{}`", name)))
    }

    /// Parses an item and returns it with its span.
    pub(crate) fn spanned<T>(
        &mut self,
        item: impl FnOnce(&mut Parser<'t>) -> Parsed<T>,
    ) -> Parsed<Spanned<T>> {
        let start = self.at().start;
        let value = item(self)?;
        let at = self.since(start);
        Ok(Spanned { value, at })
    }

    /// Parses the items of a list and its closing mark.
    pub(crate) fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Parser<'t>) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(item(self)?);
            if !self.is(end) {
                self.expect(",")?;
            }
        }
        Ok(items)
    }

    pub(crate) fn body(&mut self, end: &str, extent: Extent) -> Parsed<Rule> {
        self.rule = Rule::default();
        self.named.clear();
        self.in_pattern = true;
        let start = self.at();
        while !self.ends_before(end) {
            self.rule.root = self.pattern_statement()?;
        }
        if self.rule.nodes.is_empty() {
            return Err(self.error(start, "expected at least one op in the pattern"));
        }
        self.check_root(start.clone())?;
        self.check_connected(start)?;
        self.in_pattern = false;
        let has_arrow = self.is("=>") || self.is("→");
        if extent == Extent::Whole || extent == Extent::PatternFirst && has_arrow {
            if !self.eat("=>") && !self.eat("→") {
                return Err(self.expected("`=>` and a replacement"));
            }
            self.replacement(end)?;
        }
        if self.eat_keyword("where") {
            while !self.is(end) && self.peek() != &Token::End {
                let condition = self.condition()?;
                self.rule.conditions.push(condition);
                if !self.is(end) && self.peek() != &Token::End {
                    self.expect(",")?;
                }
            }
        }
        self.rule.opsets = self.opsets()?;
        self.rule.name = self.rule_name.clone();
        Ok(std::mem::take(&mut self.rule))
    }

    pub(crate) fn ends_before(&self, end: &str) -> bool {
        let is_where = matches!(self.peek(), Token::Ident(ident) if ident == "where");
        is_where || self.is("=>") || self.is("→") || self.is(end) || self.peek() == &Token::End
    }

    /// Checks that each alternative of the root is a result of an op.
    fn check_root(&self, at: Range<usize>) -> Parsed<()> {
        let values = &self.rule.values;
        let mut seen = vec![false; values.len()];
        let mut next = vec![(&self.rule.root, at)];
        while let Some((operand, at)) = next.pop() {
            let is_op = match operand {
                Operand::Result { node, .. } => {
                    self.rule.nodes[*node].results.len() == 1 || *operand == self.rule.root
                }
                Operand::Value(at) => {
                    if !std::mem::replace(&mut seen[*at], true) {
                        let alternatives = values[*at].alternatives.iter();
                        next.extend(alternatives.map(|one| (&one.value, one.at.clone())));
                    }
                    !values[*at].alternatives.is_empty()
                }
                _ => false,
            };
            if !is_op {
                let message = "the last op of the pattern is replaced, so each alternative must be an op with one \
                    result";
                return Err(self.error(at, message));
            }
        }
        Ok(())
    }

    /// Checks that every op of the pattern is reachable from the root through operands.
    fn check_connected(&self, at: Range<usize>) -> Parsed<()> {
        let nodes = &self.rule.nodes;
        match self.rule.reached(true).iter().position(|reached| !reached) {
            None => Ok(()),
            Some(lost) => Err(self.error(
                at,
                format!(
                    "last op `{}` of the pattern does not use `{}`, directly or through other ops",
                    nodes[self.rule.roots()[0]].operators[0].value,
                    nodes[lost].operators[0].value
                ),
            )),
        }
    }

    /// Parses the names before a `=`.
    pub(crate) fn defined(&mut self) -> Parsed<Vec<String>> {
        let start = self.next;
        let mut names = Vec::new();
        loop {
            if self.eat_keyword("_") {
                names.push(String::new());
            } else if self.is("%") {
                names.push(self.value_name()?);
            } else {
                break;
            }
            if !self.eat(",") {
                break;
            }
        }
        if !names.is_empty() && self.eat("=") {
            return Ok(names);
        }
        self.next = start;
        Ok(Vec::new())
    }

    /// Returns the entity that a name of the pattern is bound to.
    pub(crate) fn find(&self, name: &str) -> Option<Operand> {
        for (node, defined) in self.rule.nodes.iter().enumerate() {
            if let Some(index) = defined.results.iter().position(|result| result == name) {
                return Some(Operand::Result { node, index });
            }
        }
        let mut values = self.rule.values.iter();
        if let Some(at) = values.position(|value| value.name == name) {
            return Some(Operand::Value(at));
        }
        self.rule
            .lists
            .iter()
            .position(|list| list == name)
            .map(Operand::List)
    }

    pub(crate) fn unknown(&self, at: Range<usize>, name: &str) -> RuleError {
        let rule = &self.rule;
        let results = rule.nodes.iter().flat_map(|node| &node.results);
        let values = rule.values.iter().map(|value| &value.name);
        let names = values.chain(&rule.lists).chain(results);
        let names = names.filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(|name| format!("%{}", name)).collect();
        let help = match names.is_empty() {
            true => String::new(),
            false => format!("the pattern has `{}`", names.join("`, `")),
        };
        let error = self.error(at, format!("the pattern has no value `%{}`", name));
        error.help(help).candidates(names)
    }

    pub(crate) fn literal(&mut self) -> Parsed<Literal> {
        let start = self.at().start;
        if self.eat("[") {
            let items = self.nested(|parser| parser.list("]", Parser::literal))?;
            return literals(&items).ok_or_else(|| self.misplaced(start, "a list of numbers"));
        }
        let negative = self.eat("-");
        match self.peek().clone() {
            Token::Int(value) => {
                self.advance();
                let int = i64::try_from(if negative { -value } else { value });
                int.map(Literal::Int)
                    .map_err(|_| self.misplaced(start, "an integer of at most 64 bits"))
            }
            Token::Float(value) => {
                self.advance();
                Ok(Literal::Float(if negative { -value } else { value }))
            }
            Token::String(text) if !negative => {
                self.advance();
                Ok(Literal::String(text))
            }
            Token::Ident(ident) if !negative => {
                self.advance();
                Ok(Literal::Ident(ident))
            }
            _ => Err(self.expected("a number, a string or a list of numbers")),
        }
    }
}

/// Returns numbers as one literal.
pub(crate) fn literals(items: &[Literal]) -> Option<Literal> {
    let ints = items.iter().map(|item| match item {
        Literal::Int(int) => Some(*int),
        _ => None,
    });
    if let Some(ints) = ints.collect::<Option<Vec<i64>>>() {
        return Some(Literal::Ints(ints));
    }
    let floats: Option<Vec<f64>> = items.iter().map(Literal::number).collect();
    floats.map(Literal::Floats)
}
