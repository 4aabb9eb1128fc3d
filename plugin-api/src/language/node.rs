//! Parser for the ops of a rule: of its pattern, before the arrow, and of its replacement, after it.

use std::ops::Range;

use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::rule::{After, AttrTerm, Literal, Node, NodeAttr, Number, Operand, RuleError, Spanned};

impl Parser<'_> {
    /// Parses an op of the pattern, with the names of its results.
    pub(crate) fn pattern_op(&mut self) -> Parsed<()> {
        let at = self.at();
        let names = self.defined()?;
        for name in names.iter().filter(|name| !name.is_empty()) {
            if self.find(name).is_some() {
                return Err(self.error(at, format!("value `%{}` is already defined", name)));
            }
        }
        self.node(names).map(drop)
    }

    /// Parses the replacement.
    pub(crate) fn replacement(&mut self, end: &str) -> Parsed<()> {
        let root = self.rule.nodes.len() - 1;
        let expected = self.rule.nodes[root].results.clone();
        let start = self.at();
        self.rule.after = Some(After::default());
        let mut results = Vec::new();
        while !self.ends_before(end) {
            let at = self.at();
            let names = self.defined()?;
            if names.is_empty() {
                // A value without a name is the result.
                results.push(self.result()?);
                if results.len() > 1 || expected.len() > 1 {
                    let message = "expected `%name = …` for each result of the pattern's last op";
                    return Err(self.error(at, message));
                }
            } else if matches!(self.peek(), Token::Ident(_)) {
                let node = self.node(names.clone())?;
                let results = names.into_iter().enumerate();
                let results = results.map(|(index, name)| (name, Operand::Created { node, index }));
                self.named.extend(results);
            } else if let [name] = &names[..] {
                let value = self.result()?;
                self.named.push((name.clone(), value));
            } else {
                return Err(self.error(at, "only an op can define several values"));
            }
        }
        if results.is_empty() {
            results = self.named_results(&expected, &start)?;
        }
        self.after().results = results;
        Ok(())
    }

    /// Returns the values of the replacement that have the names of the root's results.
    fn named_results(&self, expected: &[String], at: &Range<usize>) -> Parsed<Vec<Operand>> {
        let has_names = expected.iter().any(|name| !name.is_empty());
        let result = |name: &String| match self.named.iter().rev().find(|(other, _)| other == name)
        {
            Some((_, value)) if !name.is_empty() => Ok(value.clone()),
            // Of several results, those without a name have no users.
            _ if name.is_empty() && has_names => Ok(Operand::Absent),
            _ => {
                let result = match name.is_empty() {
                    true => "the pattern's last op".to_owned(),
                    false => format!("`%{}`", name),
                };
                let message = format!("missing replacement of {}", result);
                Err(self.error(at.clone(), message))
            }
        };
        expected.iter().map(result).collect()
    }

    /// Parses the replacement of one result.
    fn result(&mut self) -> Parsed<Operand> {
        let result = self.spanned(Parser::operand)?;
        let message = match &result.value {
            Operand::List(_) => "cannot replace a result with a list of values",
            Operand::Number(_) => {
                "cannot replace a result with a number, whose dtype comes from other operands of its op"
            }
            Operand::Absent => "cannot replace a result with `none`",
            _ => return Ok(result.value),
        };
        Err(self.error(result.at, message))
    }

    /// Parses an op, and returns its index on its side of the arrow.
    fn node(&mut self, mut results: Vec<String>) -> Parsed<usize> {
        let is_replacement = self.rule.after.is_some();
        let mut operators = vec![self.operator()?];
        while !is_replacement && self.eat("|") {
            operators.push(self.operator()?);
        }
        self.begin_operands(&operators[operators.len() - 1])?;
        let operands =
            self.nested(|parser| parser.list(")", |parser| parser.spanned(Parser::operand)))?;
        let is_list = |one: &Spanned<Operand>| matches!(one.value, Operand::List(_));
        let before_last = &operands[..operands.len().saturating_sub(1)];
        if !is_replacement && before_last.iter().any(is_list) {
            let message = "only the last operand can be a list (`...`)";
            return Err(self.error(self.at(), message));
        }
        if results.is_empty() {
            results.push(String::new());
        }
        let mut node = Node {
            operators,
            results,
            operands,
            like: None,
            attrs: Vec::new(),
        };
        if self.eat("{") {
            self.list("}", |parser| parser.node_attr(&mut node))?;
        }
        let nodes = match is_replacement {
            true => &mut self.after().nodes,
            false => &mut self.rule.nodes,
        };
        nodes.push(node);
        Ok(nodes.len() - 1)
    }

    fn after(&mut self) -> &mut After {
        self.rule.after.get_or_insert_with(After::default)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let start = self.at().start;
        let is_replacement = self.rule.after.is_some();
        match self.peek() {
            Token::Ident(ident) if ident == "_" || ident == "none" => {
                let is_any = ident == "_" && !is_replacement;
                self.advance();
                Ok(if is_any {
                    Operand::Any
                } else {
                    Operand::Absent
                })
            }
            Token::Ident(_) => {
                let (node, index) = (self.node(Vec::new())?, 0);
                Ok(match is_replacement {
                    true => Operand::Created { node, index },
                    false => Operand::Result { node, index },
                })
            }
            Token::Mark("%") if is_replacement => self.replacement_value(),
            Token::Mark("%") => self.pattern_value(),
            Token::Mark("[") => match self.literal()? {
                Literal::Ints(ints) => Ok(Operand::Ints(ints)),
                _ => Err(self.misplaced(start, "a list of integers")),
            },
            _ => {
                let about = !is_replacement && self.eat("~");
                match self.literal()?.number() {
                    Some(value) => Ok(Operand::Number(Number { value, about })),
                    None => Err(self.misplaced(start, "an operand")),
                }
            }
        }
    }

    /// Parses a value of the pattern, and binds its name if it is new.
    fn pattern_value(&mut self) -> Parsed<Operand> {
        let Spanned { value: name, at } = self.spanned(Parser::value_name)?;
        let (is_list, is_optional) = (self.eat("..."), self.eat("?"));
        match self.find(&name) {
            Some(Operand::List(_)) => Err(self.error(at, "cannot match a list of operands twice")),
            Some(_) if is_list => {
                Err(self.error(at, format!("`%{}` is a value, not a list", name)))
            }
            Some(operand) => Ok(operand),
            None if is_list => {
                self.rule.lists.push(name);
                Ok(Operand::List(self.rule.lists.len() - 1))
            }
            None => {
                self.rule.values.push(name);
                let at = self.rule.values.len() - 1;
                Ok(match is_optional {
                    true => Operand::Optional(at),
                    false => Operand::Value(at),
                })
            }
        }
    }

    /// Parses a value that the replacement or the pattern defines.
    fn replacement_value(&mut self) -> Parsed<Operand> {
        let Spanned { value: name, at } = self.spanned(Parser::value_name)?;
        let (_, _) = (self.eat("..."), self.eat("?"));
        let created = self.named.iter().rev().find(|(other, _)| *other == name);
        let created = created.map(|(_, value)| value.clone());
        created
            .or_else(|| self.find(&name))
            .ok_or_else(|| self.unknown(at, &name))
    }

    /// Parses an attribute of an op, or `..` with the op whose attributes are copied.
    fn node_attr(&mut self, node: &mut Node) -> Parsed<()> {
        let is_replacement = self.rule.after.is_some();
        if is_replacement && self.eat("..") {
            let Spanned { value: name, at } = self.spanned(Parser::value_name)?;
            return match self.find(&name) {
                Some(Operand::Result { node: like, .. }) => {
                    node.like = Some(like);
                    Ok(())
                }
                _ => Err(self.error(at, format!("`%{}` is not an op of the pattern", name))),
            };
        }
        let name = self.spanned(|parser| parser.ident("an attribute name"))?;
        self.expect("=")?;
        let value = self.spanned(match is_replacement {
            true => Parser::attr_term,
            false => Parser::pattern_attr,
        })?;
        node.attrs.push(NodeAttr { name, value });
        Ok(())
    }

    /// Parses an attribute of the pattern: a literal, or a name to bind.
    fn pattern_attr(&mut self) -> Parsed<AttrTerm> {
        if !self.eat("$") {
            return Ok(AttrTerm::Literal(self.attr_literal()?));
        }
        let name = self.ident("an attribute name")?;
        let attrs = &mut self.rule.attrs;
        let bound = attrs.iter().position(|attr| *attr == name);
        Ok(AttrTerm::Bound(bound.unwrap_or_else(|| {
            attrs.push(name);
            attrs.len() - 1
        })))
    }

    /// Parses an attribute that is a literal.
    pub(crate) fn attr_literal(&mut self) -> Parsed<Literal> {
        let at = self.at();
        match self.literal()? {
            Literal::Ident(ident) => Err(self.no_attribute(at, &ident)),
            literal => Ok(literal),
        }
    }

    /// Returns the error for an identifier instead of an attribute's value.
    pub(crate) fn no_attribute(&self, at: Range<usize>, ident: &str) -> RuleError {
        let error = self.error(
            at,
            format!("expected an attribute value, found `{}`", ident),
        );
        error.help(format!("write a string in quotes: `\"{}\"`", ident))
    }
}
