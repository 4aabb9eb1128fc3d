//! Parser for the ops of a rule: of its pattern, before the arrow, and of its replacement, after it.

use std::ops::Range;

use super::lex::Token;
use super::parse::{literals, Parsed, Parser};
use super::rule::{
    After, AttrTerm, Literal, Node, NodeAttr, Number, Operand, PatternValue, RuleError, Spanned,
};

impl Parser<'_> {
    /// Parses an op or alternatives of the pattern, with the names of the results.
    pub(crate) fn pattern_statement(&mut self) -> Parsed<Operand> {
        let at = self.at();
        let names = self.defined()?;
        for name in names.iter().filter(|name| !name.is_empty()) {
            if self.find(name).is_some() {
                return Err(self.error(at, format!("value `%{}` is already defined", name)));
            }
        }
        match self.is("(") {
            true => self.alternatives(names, at),
            false => self.node(names),
        }
    }

    /// Parses alternatives in parentheses.
    fn alternatives(&mut self, names: Vec<String>, at: Range<usize>) -> Parsed<Operand> {
        if !self.in_pattern {
            return Err(self.error(self.at(), "only a pattern can have alternatives"));
        }
        self.expect("(")?;
        let alternatives = self.nested(|parser| {
            let mut alternatives = vec![parser.alternative()?];
            while alternatives.len() < 2 || !parser.is(")") {
                parser.expect("|")?;
                alternatives.push(parser.alternative()?);
            }
            Ok(alternatives)
        })?;
        self.expect(")")?;
        self.choice(names, at, alternatives)
    }

    fn alternative(&mut self) -> Parsed<Spanned<Operand>> {
        let operand = self.spanned(Parser::operand)?;
        match operand.value {
            Operand::List(_) => {
                Err(self.error(operand.at, "a list (`...`) cannot be an alternative"))
            }
            _ => Ok(operand),
        }
    }

    /// Adds a value of the pattern that matches one of several operands.
    fn choice(
        &mut self,
        names: Vec<String>,
        at: Range<usize>,
        alternatives: Vec<Spanned<Operand>>,
    ) -> Parsed<Operand> {
        if names.len() > 1 {
            return Err(self.error(at, "only an op that is required can define several values"));
        }
        let name = names.into_iter().next().unwrap_or_default();
        self.rule.values.push(PatternValue { name, alternatives });
        Ok(Operand::Value(self.rule.values.len() - 1))
    }

    /// Parses the replacement.
    pub(crate) fn replacement(&mut self, end: &str) -> Parsed<()> {
        let expected = match self.rule.root {
            Operand::Value(at) => vec![self.rule.values[at].name.clone()],
            _ => self.rule.nodes[self.rule.roots()[0]].results.clone(),
        };
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
                self.node(names.clone())?;
                let node = self.after().nodes.len() - 1;
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
            Operand::Number(_) | Operand::Splat(_) => {
                "cannot replace a result with a number, whose dtype comes from other operands of its op"
            }
            Operand::Absent => "cannot replace a result with `none`",
            _ => return Ok(result.value),
        };
        Err(self.error(result.at, message))
    }

    /// Parses an op, and returns its first result.
    fn node(&mut self, names: Vec<String>) -> Parsed<Operand> {
        let start = self.at();
        let mut operators = vec![self.operator()?];
        while self.in_pattern && self.eat("|") {
            operators.push(self.operator()?);
        }
        let is_optional = self.is("?");
        if is_optional && !self.in_pattern {
            return Err(self.error(self.at(), "only an op of a pattern can be optional"));
        }
        self.eat("?");
        self.begin_operands(&operators[operators.len() - 1])?;
        let operands =
            self.nested(|parser| parser.list(")", |parser| parser.spanned(Parser::operand)))?;
        let is_list = |one: &Spanned<Operand>| matches!(one.value, Operand::List(_));
        let before_last = &operands[..operands.len().saturating_sub(1)];
        if self.in_pattern && before_last.iter().any(is_list) {
            let message = "only the last operand can be a list (`...`)";
            return Err(self.error(self.at(), message));
        }
        let first = operands.first().cloned();
        let results = match names.is_empty() || is_optional {
            true => vec![String::new()],
            false => names.clone(),
        };
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
        let at = self.since(start.start);
        if !self.in_pattern {
            let nodes = &mut self.after().nodes;
            nodes.push(node);
            let node = nodes.len() - 1;
            return Ok(Operand::Created { node, index: 0 });
        }
        self.rule.nodes.push(node);
        let node = self.rule.nodes.len() - 1;
        let value = Operand::Result { node, index: 0 };
        match first {
            _ if !is_optional => Ok(value),
            Some(first) if !is_list(&first) && first.value != Operand::Absent => {
                self.choice(names, start, vec![Spanned { value, at }, first])
            }
            _ => {
                let message =
                    "an optional op needs a first operand, which replaces it where it is missing";
                Err(self.error(at, message))
            }
        }
    }

    fn after(&mut self) -> &mut After {
        self.rule.after.get_or_insert_with(After::default)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Token::Ident(ident) if ident == "_" || ident == "none" => {
                let is_any = ident == "_" && self.in_pattern;
                self.advance();
                Ok(if is_any {
                    Operand::Any
                } else {
                    Operand::Absent
                })
            }
            Token::Ident(_) => self.node(Vec::new()),
            Token::Mark("(") => {
                let at = self.at();
                self.alternatives(Vec::new(), at)
            }
            Token::Mark("%") if self.in_pattern => self.pattern_value(),
            Token::Mark("%") => self.replacement_value(),
            Token::Mark("$") => self.attr_name().map(Operand::Splat),
            Token::Mark("[") => self.attr_list(true).map(Operand::Elements),
            Token::Mark(mark) if !["-", "~"].contains(mark) => Err(self.expected("an operand")),
            _ => {
                let start = self.at().start;
                let about = self.in_pattern && self.eat("~");
                match self.literal()?.number() {
                    Some(value) => Ok(Operand::Number(Number { value, about })),
                    None => Err(self.misplaced(start, "an operand")),
                }
            }
        }
    }

    /// Parses a list of numbers, or of integers and names: `[0, -1]`, `[$axis]`. Only the elements of an operand may be
    /// a list with a name: `[$axes...]`.
    pub(crate) fn attr_list(&mut self, is_operand: bool) -> Parsed<AttrTerm> {
        let start = self.at().start;
        self.expect("[")?;
        let mut all = None;
        let items = self.nested(|parser| {
            parser.list("]", |parser| {
                if !parser.is("$") {
                    return parser.literal().map(AttrTerm::Literal);
                }
                let name = AttrTerm::Bound(parser.attr_name()?);
                if parser.eat("...") {
                    all = Some(name.clone());
                }
                Ok(name)
            })
        })?;
        let numbers = items.iter().map(|item| match item {
            AttrTerm::Literal(literal) => Some(literal.clone()),
            _ => None,
        });
        let numbers = numbers.collect::<Option<Vec<Literal>>>();
        let is_integer = |item: &AttrTerm| {
            matches!(
                item,
                AttrTerm::Bound(_) | AttrTerm::Literal(Literal::Int(_))
            )
        };
        let expected = match (all, numbers.as_deref().map(literals)) {
            (Some(all), _) if is_operand && items.len() == 1 => return Ok(all),
            (Some(_), _) => "a list without `...`, or the operand `[$name...]`",
            (None, Some(Some(Literal::Floats(_)))) if is_operand => "a list of integers",
            (None, Some(Some(list))) => return Ok(AttrTerm::Literal(list)),
            (None, None) if items.iter().all(is_integer) => return Ok(AttrTerm::List(items)),
            (None, None) => "a list of integers and names",
            (None, Some(None)) => "a list of numbers",
        };
        Err(self.misplaced(start, expected))
    }

    /// Parses the name of an attribute: `$axis`. In a pattern, binds it if it is new.
    pub(crate) fn attr_name(&mut self) -> Parsed<usize> {
        let start = self.at().start;
        self.expect("$")?;
        let name = self.ident("an attribute name")?;
        let at = self.since(start);
        let attrs = &mut self.rule.attrs;
        match attrs.iter().position(|attr| *attr == name) {
            Some(bound) => Ok(bound),
            None if self.in_pattern => {
                attrs.push(name);
                Ok(attrs.len() - 1)
            }
            None => {
                let names: Vec<String> = attrs.iter().map(|name| format!("${}", name)).collect();
                let message = format!("the pattern binds no attribute `${}`", name);
                Err(self.error(at, message).candidates(names))
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
                let alternatives = Vec::new();
                self.rule.values.push(PatternValue { name, alternatives });
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
        if !self.in_pattern && self.eat("..") {
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
        let value = self.spanned(Parser::attr_term)?;
        node.attrs.push(NodeAttr { name, value });
        Ok(())
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
