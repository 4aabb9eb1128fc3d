//! From a rule's text to a [`Rule`].
//!
//! ```text
//! file      = ("rule" name ["grows"] ["keeps_type"] "{" rule "}")*
//! rule      = statement* ("=>" | "→") statement* ["where" condition,*]
//! statement = [value,* "="] (op | value)
//! op        = operator ("|" operator)* "(" operand,* ")" ["{" attr,* "}"]
//! ```

use std::ops::Range;

use super::lex::{tokens, Token};
use super::rule::{
    After, AttrPattern, AttrTerm, Condition, Literal, NewNode, NewOperand, Node, Number, Operand,
    Relation, Rule, RuleError, Term, Test,
};

type Parsed<T> = Result<T, RuleError>;

/// All rules of a file, with the place of each one's name.
pub(crate) fn file(text: &str) -> Parsed<Vec<(Rule, Range<usize>)>> {
    let mut parser = Parser::new(text, "")?;
    let mut rules: Vec<(Rule, Range<usize>)> = Vec::new();
    while parser.peek() != &Token::End {
        parser.rule_name = String::new();
        if !parser.eat_word("rule") {
            return Err(parser.expected("`rule NAME { … }`"));
        }
        let at = parser.at();
        let name = parser.word("the rule's name")?;
        if rules.iter().any(|(rule, _)| rule.name == name) {
            return Err(parser.error(at, format!("There are two rules called `{}`.", name)));
        }
        parser.rule_name = name;
        let (mut grows, mut keeps_type) = (false, false);
        loop {
            if parser.eat_word("grows") {
                grows = true;
            } else if parser.eat_word("keeps_type") {
                keeps_type = true;
            } else {
                break;
            }
        }
        parser.expect("{")?;
        let rule = parser.body("}", true)?;
        parser.expect("}")?;
        rules.push((
            Rule {
                grows,
                keeps_type,
                ..rule
            },
            at,
        ));
    }
    Ok(rules)
}

/// One rule, without its braces; `has_after`: with what comes behind the arrow.
pub(crate) fn rule(name: &str, text: &str, has_after: bool) -> Parsed<Rule> {
    let mut parser = Parser::new(text, name)?;
    let rule = parser.body("", has_after)?;
    match parser.peek() {
        Token::End => Ok(rule),
        _ => Err(parser.expected("the rule's end")),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    rule_name: String,
    rule: Rule,
}

fn empty_rule() -> Rule {
    Rule {
        name: String::new(),
        nodes: Vec::new(),
        values: Vec::new(),
        lists: Vec::new(),
        attrs: Vec::new(),
        conditions: Vec::new(),
        after: None,
        grows: false,
        keeps_type: false,
    }
}

impl Parser {
    fn new(text: &str, name: &str) -> Parsed<Parser> {
        let tokens = tokens(text).map_err(|error| RuleError {
            rule: name.to_owned(),
            ..error
        })?;
        Ok(Parser {
            tokens,
            next: 0,
            rule_name: name.to_owned(),
            rule: empty_rule(),
        })
    }

    // Tokens.

    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn peek_second(&self) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + 1).min(last)].0
    }

    fn at(&self) -> Range<usize> {
        self.tokens[self.next].1.clone()
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        if is {
            self.advance();
        }
        is
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(found) if found == word);
        if is {
            self.advance();
        }
        is
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", mark)))
    }

    fn error(&self, at: Range<usize>, message: impl Into<String>) -> RuleError {
        RuleError {
            rule: self.rule_name.clone(),
            at,
            message: message.into(),
            help: String::new(),
        }
    }

    fn expected(&self, what: &str) -> RuleError {
        let found = match self.peek() {
            Token::Word(word) => format!("`{}`", word),
            Token::Number(number, _) => format!("`{}`", number),
            Token::Text(_) => "a text".to_owned(),
            Token::Mark(mark) => format!("`{}`", mark),
            Token::End => "the end".to_owned(),
        };
        self.error(
            self.at(),
            format!("Here has to be {}, not {}.", what, found),
        )
    }

    fn word(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(_) => match self.advance() {
                Token::Word(word) => Ok(word),
                _ => unreachable!("it was peeked at"),
            },
            _ => Err(self.expected(what)),
        }
    }

    /// `%x`, `%0`: the name.
    fn value_name(&mut self) -> Parsed<String> {
        self.expect("%")?;
        match self.peek().clone() {
            Token::Number(number, false) => {
                self.advance();
                Ok(number.to_string())
            }
            _ => self.word("a value's name"),
        }
    }

    /// `onnx.Add`, `com.microsoft.Gelu`.
    fn operator(&mut self) -> Parsed<String> {
        let mut name = self.word("an operator's name")?;
        while self.eat(".") {
            name.push('.');
            name += &self.word("the rest of the operator's name")?;
        }
        Ok(name)
    }

    /// The items of a list, up to its end, which is eaten.
    fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Parser) -> Parsed<T>,
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

    // Rules.

    fn body(&mut self, end: &str, has_after: bool) -> Parsed<Rule> {
        self.rule = empty_rule();
        let start = self.at();
        while !self.ends_before(end) {
            self.statement_before()?;
        }
        if self.rule.nodes.is_empty() {
            return Err(self.error(start, "A rule looks for at least one op."));
        }
        self.check_connected(start)?;
        if has_after {
            if !self.eat("=>") && !self.eat("→") {
                return Err(self.expected("`=>` and what stands in the place of these ops"));
            }
            let after = self.after(end)?;
            self.rule.after = Some(after);
        }
        if self.eat_word("where") {
            while !self.is(end) && self.peek() != &Token::End {
                let condition = self.condition()?;
                self.rule.conditions.push(condition);
                if !self.is(end) && self.peek() != &Token::End {
                    self.expect(",")?;
                }
            }
        }
        self.rule.name = self.rule_name.clone();
        Ok(std::mem::replace(&mut self.rule, empty_rule()))
    }

    fn ends_before(&self, end: &str) -> bool {
        let is_where = matches!(self.peek(), Token::Word(word) if word == "where");
        is_where || self.is("=>") || self.is("→") || self.is(end) || self.peek() == &Token::End
    }

    /// Every op of the pattern has to be reached from its root by operands.
    fn check_connected(&self, at: Range<usize>) -> Parsed<()> {
        let nodes = &self.rule.nodes;
        let mut reached = vec![false; nodes.len()];
        reached[nodes.len() - 1] = true;
        // Operands stand before their users.
        for (index, node) in nodes.iter().enumerate().rev() {
            for operand in &node.operands {
                if let (true, Operand::Result { node, .. }) = (reached[index], operand) {
                    reached[*node] = true;
                }
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(lost) => Err(self.error(
                at,
                format!(
                    "The last op of the pattern, {}, doesn't use {}, neither itself nor through others.",
                    nodes[nodes.len() - 1].operators[0],
                    nodes[lost].operators[0]
                ),
            )),
        }
    }

    /// The names before a `=`.
    fn defined(&mut self) -> Parsed<Vec<String>> {
        let start = self.next;
        let mut names = Vec::new();
        loop {
            if self.eat_word("_") {
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

    fn statement_before(&mut self) -> Parsed<()> {
        let at = self.at();
        let names = self.defined()?;
        for name in names.iter().filter(|name| !name.is_empty()) {
            if self.find(name).is_some() {
                return Err(self.error(at, format!("There is a `%{}` before this.", name)));
            }
        }
        let node = self.node(names)?;
        self.rule.nodes.push(node);
        Ok(())
    }

    /// What the pattern calls so.
    fn find(&self, name: &str) -> Option<Operand> {
        for (node, defined) in self.rule.nodes.iter().enumerate() {
            if let Some(index) = defined.results.iter().position(|result| result == name) {
                return Some(Operand::Result { node, index });
            }
        }
        if let Some(at) = self.rule.values.iter().position(|value| value == name) {
            return Some(Operand::Value(at));
        }
        self.rule
            .lists
            .iter()
            .position(|list| list == name)
            .map(Operand::List)
    }

    fn node(&mut self, results: Vec<String>) -> Parsed<Node> {
        let mut operators = vec![self.operator()?];
        while self.eat("|") {
            operators.push(self.operator()?);
        }
        self.expect("(")?;
        let operands = self.list(")", Parser::operand)?;
        let last = operands.len().saturating_sub(1);
        let misplaced =
            |(at, operand): (usize, &Operand)| matches!(operand, Operand::List(_)) && at != last;
        if operands.iter().enumerate().any(misplaced) {
            return Err(self.error(
                self.at(),
                "Only the last operand can stand for all that follow (`...`).",
            ));
        }
        let attrs = match self.eat("{") {
            true => self.list("}", Parser::attr_before)?,
            false => Vec::new(),
        };
        Ok(Node {
            operators,
            results: if results.is_empty() {
                vec![String::new()]
            } else {
                results
            },
            operands,
            attrs,
        })
    }

    fn operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Token::Word(word) if word == "_" => {
                self.advance();
                Ok(Operand::Any)
            }
            Token::Word(word) if word == "none" => {
                self.advance();
                Ok(Operand::Absent)
            }
            Token::Word(_) => {
                let node = self.node(Vec::new())?;
                self.rule.nodes.push(node);
                let node = self.rule.nodes.len() - 1;
                Ok(Operand::Result { node, index: 0 })
            }
            Token::Mark("%") => {
                let at = self.at();
                let name = self.value_name()?;
                let (is_list, is_optional) = (self.eat("..."), self.eat("?"));
                match self.find(&name) {
                    Some(Operand::List(_)) => {
                        Err(self.error(at, "A list of operands is matched once."))
                    }
                    Some(operand) if !is_list => Ok(operand),
                    Some(_) => Err(self.error(at, format!("`%{}` is one value.", name))),
                    None if is_list => {
                        self.rule.lists.push(name);
                        Ok(Operand::List(self.rule.lists.len() - 1))
                    }
                    None => {
                        self.rule.values.push(name);
                        let at = self.rule.values.len() - 1;
                        Ok(if is_optional {
                            Operand::Optional(at)
                        } else {
                            Operand::Value(at)
                        })
                    }
                }
            }
            Token::Mark("[") => match self.literal()? {
                Literal::Ints(ints) => Ok(Operand::Ints(ints)),
                _ => Err(self.expected("a list of integers")),
            },
            _ => {
                let about = self.eat("~");
                match self.literal()? {
                    Literal::Int(value) => Ok(Operand::Number(Number {
                        value: value as f64,
                        about,
                    })),
                    Literal::Float(value) => Ok(Operand::Number(Number { value, about })),
                    _ => Err(self.expected("an operand")),
                }
            }
        }
    }

    fn attr_before(&mut self) -> Parsed<(String, AttrPattern)> {
        let name = self.word("an attribute's name")?;
        self.expect("=")?;
        if self.eat("$") {
            let bound = self.word("a name for the attribute")?;
            let attrs = &mut self.rule.attrs;
            let found = attrs.iter().position(|attr| *attr == bound);
            let at = found.unwrap_or_else(|| {
                attrs.push(bound);
                attrs.len() - 1
            });
            return Ok((name, AttrPattern::Bound(at)));
        }
        Ok((name, AttrPattern::Is(self.literal()?)))
    }

    fn literal(&mut self) -> Parsed<Literal> {
        if self.eat("[") {
            let items = self.list("]", Parser::literal)?;
            let ints = items.iter().map(|item| match item {
                Literal::Int(int) => Some(*int),
                _ => None,
            });
            if let Some(ints) = ints.collect::<Option<Vec<i64>>>() {
                return Ok(Literal::Ints(ints));
            }
            let floats = items.iter().map(|item| match item {
                Literal::Int(int) => Some(*int as f64),
                Literal::Float(float) => Some(*float),
                _ => None,
            });
            let floats = floats.collect::<Option<Vec<f64>>>();
            return floats
                .map(Literal::Floats)
                .ok_or_else(|| self.expected("a list of numbers"));
        }
        let negative = self.eat("-");
        let sign = if negative { -1.0 } else { 1.0 };
        match self.peek().clone() {
            Token::Number(value, is_float) => {
                self.advance();
                Ok(match is_float {
                    true => Literal::Float(sign * value),
                    false => Literal::Int((sign * value) as i64),
                })
            }
            Token::Text(text) if !negative => {
                self.advance();
                Ok(Literal::Text(text))
            }
            Token::Word(word) if !negative => {
                self.advance();
                Ok(Literal::Word(word))
            }
            _ => Err(self.expected("a number, a text or a list of numbers")),
        }
    }

    // What stands behind the arrow.

    fn after(&mut self, end: &str) -> Parsed<After> {
        let root = self.rule.nodes.len() - 1;
        let wanted = self.rule.nodes[root].results.clone();
        let start = self.at();
        let mut after = After {
            nodes: Vec::new(),
            results: Vec::new(),
        };
        let mut named: Vec<(String, NewOperand)> = Vec::new();
        while !self.ends_before(end) {
            let at = self.at();
            let names = self.defined()?;
            if self.is("%") && !names.is_empty() {
                let value = self.new_operand(&mut after, &named)?;
                named.push((names[0].clone(), value));
                continue;
            }
            let is_op = matches!(self.peek(), Token::Word(_)) && !names.is_empty();
            if !is_op {
                // What stands alone is the result.
                let result = self.new_operand(&mut after, &named)?;
                after.results.push(result);
                if after.results.len() > 1 || wanted.len() > 1 {
                    let message = "This replaces one result; say `%name = …` of each result of the pattern's last op.";
                    return Err(self.error(at, message));
                }
                continue;
            }
            let node = self.new_node(&mut after, &named, names.len())?;
            after.nodes.push(node);
            let node = after.nodes.len() - 1;
            for (index, name) in names.into_iter().enumerate() {
                named.push((name, NewOperand::Made { node, index }));
            }
        }
        if after.results.is_empty() {
            for name in &wanted {
                let found = named
                    .iter()
                    .rev()
                    .find(|(other, _)| other == name && !name.is_empty());
                match found {
                    Some((_, value)) => after.results.push(value.clone()),
                    None if name.is_empty() => {
                        let message =
                            "Nothing says what stands in the place of the pattern's last op.";
                        return Err(self.error(start, message));
                    }
                    None => {
                        let message =
                            format!("Nothing says what stands in the place of `%{}`.", name);
                        return Err(self.error(start, message));
                    }
                }
            }
        }
        Ok(after)
    }

    fn new_node(
        &mut self,
        after: &mut After,
        named: &[(String, NewOperand)],
        results: usize,
    ) -> Parsed<NewNode> {
        let operator = self.operator()?;
        self.expect("(")?;
        let operands = self.list(")", |parser| parser.new_operand(after, named))?;
        let mut node = NewNode {
            operator,
            results,
            operands,
            like: None,
            attrs: Vec::new(),
        };
        if self.eat("{") {
            while !self.eat("}") {
                if self.eat("..") {
                    let at = self.at();
                    let name = self.value_name()?;
                    match self.find(&name) {
                        Some(Operand::Result { node: like, .. }) => node.like = Some(like),
                        _ => {
                            return Err(
                                self.error(at, format!("`%{}` is no op of the pattern.", name))
                            )
                        }
                    }
                } else {
                    let name = self.word("an attribute's name")?;
                    self.expect("=")?;
                    node.attrs.push((name, self.attr_term()?));
                }
                if !self.is("}") {
                    self.expect(",")?;
                }
            }
        }
        Ok(node)
    }

    fn new_operand(
        &mut self,
        after: &mut After,
        named: &[(String, NewOperand)],
    ) -> Parsed<NewOperand> {
        match self.peek() {
            Token::Word(word) if word == "_" || word == "none" => {
                self.advance();
                Ok(NewOperand::Absent)
            }
            Token::Word(_) => {
                let node = self.new_node(after, named, 1)?;
                after.nodes.push(node);
                Ok(NewOperand::Made {
                    node: after.nodes.len() - 1,
                    index: 0,
                })
            }
            Token::Mark("%") => {
                let at = self.at();
                let name = self.value_name()?;
                let (_, _) = (self.eat("..."), self.eat("?"));
                let made = named.iter().rev().find(|(other, _)| *other == name);
                if let Some((_, made)) = made {
                    return Ok(made.clone());
                }
                match self.find(&name) {
                    Some(operand) => Ok(NewOperand::Bound(operand)),
                    None => Err(self.unknown(at, &name)),
                }
            }
            Token::Mark("[") => match self.literal()? {
                Literal::Ints(ints) => Ok(NewOperand::Ints(ints)),
                _ => Err(self.expected("a list of integers")),
            },
            _ => match self.literal()? {
                Literal::Int(value) => Ok(NewOperand::Number(value as f64)),
                Literal::Float(value) => Ok(NewOperand::Number(value)),
                _ => Err(self.expected("an operand")),
            },
        }
    }

    fn unknown(&self, at: Range<usize>, name: &str) -> RuleError {
        let rule = &self.rule;
        let results = rule.nodes.iter().flat_map(|node| &node.results);
        let known: Vec<String> = rule
            .values
            .iter()
            .chain(&rule.lists)
            .chain(results)
            .filter(|n| !n.is_empty())
            .map(|n| format!("`%{}`", n))
            .collect();
        RuleError {
            help: match known.is_empty() {
                true => String::new(),
                false => format!("The pattern has {}.", known.join(", ")),
            },
            ..self.error(at, format!("The pattern has no value `%{}`.", name))
        }
    }

    // Conditions.

    fn condition(&mut self) -> Parsed<Condition> {
        let negated = self.eat_word("not") || self.eat("!");
        let test = match (self.peek().clone(), self.peek_second()) {
            (Token::Word(word), Token::Mark("(")) => self.predicate(&word)?,
            _ => None,
        };
        let test = match test {
            Some(test) => test,
            None => self.comparison()?,
        };
        Ok(Condition { negated, test })
    }

    fn predicate(&mut self, word: &str) -> Parsed<Option<Test>> {
        const ONE: [&str; 2] = ["const", "float"];
        const TWO: [&str; 4] = ["same_type", "same_shape", "same_dtype", "stretches_to"];
        const TERMS: [&str; 6] = ["rank", "size", "uses", "dtype", "dim", "opset"];
        if TERMS.contains(&word) || word == "compose" {
            return Ok(None);
        }
        let at = self.at();
        self.advance();
        self.expect("(")?;
        if word == "identity" {
            let term = self.attr_term()?;
            self.expect(")")?;
            return Ok(Some(Test::Identity(term)));
        }
        let count = if ONE.contains(&word) {
            1
        } else if TWO.contains(&word) {
            2
        } else {
            return Err(RuleError {
                help: format!(
                    "There are {}, identity, and to compare {}.",
                    [&ONE[..], &TWO[..]].concat().join(", "),
                    TERMS.join(", ")
                ),
                ..self.error(at, format!("There is no condition `{}`.", word))
            });
        };
        let operands = self.list(")", Parser::known_operand)?;
        if operands.len() != count {
            let message = format!(
                "`{}` takes {} {}.",
                word,
                count,
                if count == 1 { "value" } else { "values" }
            );
            return Err(self.error(at, message));
        }
        let mut operands = operands.into_iter();
        let (a, b) = (operands.next(), operands.next());
        Ok(match (word, a, b) {
            ("const", Some(a), _) => Some(Test::Constant(a)),
            ("float", Some(a), _) => Some(Test::Float(a)),
            ("same_type", Some(a), Some(b)) => Some(Test::SameType(a, b)),
            ("same_shape", Some(a), Some(b)) => Some(Test::SameShape(a, b)),
            ("same_dtype", Some(a), Some(b)) => Some(Test::SameDType(a, b)),
            ("stretches_to", Some(a), Some(b)) => Some(Test::StretchesTo(a, b)),
            _ => None,
        })
    }

    /// A value of the pattern.
    fn known_operand(&mut self) -> Parsed<Operand> {
        let at = self.at();
        let name = self.value_name()?;
        match self.find(&name) {
            Some(Operand::List(_)) => {
                Err(self.error(at, format!("`%{}` is a list of values.", name)))
            }
            Some(operand) => Ok(operand),
            None => Err(self.unknown(at, &name)),
        }
    }

    fn comparison(&mut self) -> Parsed<Test> {
        let left = self.term()?;
        if self.eat_word("in") {
            self.expect("[")?;
            return Ok(Test::OneOf(left, self.list("]", Parser::literal)?));
        }
        let relations = [
            ("==", Relation::Equal),
            ("!=", Relation::Unequal),
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ];
        let found = relations.iter().find(|(mark, _)| self.is(mark));
        match found {
            Some((_, relation)) => {
                self.advance();
                Ok(Test::Compare(left, *relation, self.term()?))
            }
            None => Err(self.expected("`==`, `!=`, `<`, `<=`, `>`, `>=` or `in`")),
        }
    }

    fn term(&mut self) -> Parsed<Term> {
        let word = match (self.peek().clone(), self.peek_second()) {
            (Token::Word(word), Token::Mark("(")) => word,
            (Token::Word(word), _) if word == "opset" => word,
            (Token::Mark("$"), _) => return Ok(Term::Attr(self.attr_term()?)),
            _ => return Ok(Term::Literal(self.literal()?)),
        };
        if word == "compose" {
            return Ok(Term::Attr(self.attr_term()?));
        }
        let at = self.at();
        self.advance();
        if word == "opset" {
            let mut domain = String::new();
            if self.eat("(") {
                match self.advance() {
                    Token::Text(text) => domain = text,
                    _ => return Err(self.error(at, "`opset(\"…\")` takes a domain in quotes.")),
                }
                self.expect(")")?;
            }
            return Ok(Term::Opset(domain));
        }
        self.expect("(")?;
        let operand = self.known_operand()?;
        let term = match word.as_str() {
            "rank" => Term::Rank(operand),
            "size" => Term::Size(operand),
            "uses" => Term::Uses(operand),
            "dtype" => Term::DType(operand),
            "dim" => {
                self.expect(",")?;
                match self.literal()? {
                    Literal::Int(at) => Term::Dim(operand, at),
                    _ => return Err(self.error(at, "`dim` takes a value and an axis.")),
                }
            }
            _ => {
                return Err(self.error(
                    at,
                    format!("There is nothing called `{}` to compare.", word),
                ));
            }
        };
        self.expect(")")?;
        Ok(term)
    }

    fn attr_term(&mut self) -> Parsed<AttrTerm> {
        if self.eat_word("compose") {
            self.expect("(")?;
            let first = self.attr_term()?;
            self.expect(",")?;
            let second = self.attr_term()?;
            self.expect(")")?;
            return Ok(AttrTerm::Compose(Box::new(first), Box::new(second)));
        }
        if self.is("$") {
            self.advance();
            let at = self.at();
            let name = self.word("an attribute's name")?;
            let found = self.rule.attrs.iter().position(|attr| *attr == name);
            return match found {
                Some(at) => Ok(AttrTerm::Bound(at)),
                None => Err(self.error(at, format!("The pattern binds no attribute `${}`.", name))),
            };
        }
        Ok(AttrTerm::Literal(self.literal()?))
    }
}
