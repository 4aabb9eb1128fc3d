//! Parser for the conditions of a rule, after `where`.

use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::rule::{AttrTerm, Condition, Literal, Operand, Relation, Spanned, Term, Test};

/// The terms that conditions compare.
const TERMS: [&str; 7] = ["rank", "size", "uses", "dtype", "dim", "axis", "opset"];

/// A condition on one value or on two.
enum Predicate {
    One(fn(Operand) -> Test),
    Two(fn(Operand, Operand) -> Test),
}

const PREDICATES: [(&str, Predicate); 6] = [
    ("const", Predicate::One(Test::Constant)),
    ("float", Predicate::One(Test::Float)),
    ("same_type", Predicate::Two(Test::SameType)),
    ("same_shape", Predicate::Two(Test::SameShape)),
    ("same_dtype", Predicate::Two(Test::SameDType)),
    ("broadcasts_to", Predicate::Two(Test::BroadcastsTo)),
];

impl Parser<'_> {
    pub(crate) fn condition(&mut self) -> Parsed<Condition> {
        let start = self.at().start;
        let negated = self.eat_keyword("not") || self.eat("!");
        let test = match (self.peek().clone(), self.peek_second()) {
            (Token::Ident(ident), Token::Mark("(")) => self.predicate(&ident)?,
            _ => None,
        };
        let test = match test {
            Some(test) => test,
            None => self.comparison()?,
        };
        let at = self.since(start);
        Ok(Condition { negated, test, at })
    }

    pub(crate) fn predicate(&mut self, ident: &str) -> Parsed<Option<Test>> {
        if TERMS.contains(&ident) || ident == "compose" {
            return Ok(None);
        }
        let at = self.at();
        self.advance();
        self.expect("(")?;
        if ident == "identity" {
            let term = self.attr_term()?;
            self.expect(")")?;
            return Ok(Some(Test::Identity(term)));
        }
        let predicate = match PREDICATES.iter().find(|(name, _)| *name == ident) {
            Some((_, predicate)) => predicate,
            None => {
                let names: Vec<&str> = PREDICATES.iter().map(|(name, _)| *name).collect();
                let help = format!(
                    "the conditions are {}, identity, and comparisons of {}",
                    names.join(", "),
                    TERMS.join(", ")
                );
                let known = [&names[..], &["identity"], &TERMS[..]].concat();
                let error = self.error(at, format!("unknown condition `{}`", ident));
                return Err(error.help(help).candidates(known));
            }
        };
        let operands = self.list(")", Parser::known_operand)?;
        match (predicate, &operands[..]) {
            (Predicate::One(test), [a]) => Ok(Some(test(a.clone()))),
            (Predicate::Two(test), [a, b]) => Ok(Some(test(a.clone(), b.clone()))),
            (predicate, _) => {
                let count = match predicate {
                    Predicate::One(_) => "1 value",
                    Predicate::Two(_) => "2 values",
                };
                let message = format!("`{}` expects {}, found {}", ident, count, operands.len());
                Err(self.error(at, message))
            }
        }
    }

    /// Parses a value of the pattern.
    pub(crate) fn known_operand(&mut self) -> Parsed<Operand> {
        let Spanned { value: name, at } = self.spanned(Parser::value_name)?;
        match self.find(&name) {
            Some(Operand::List(_)) => {
                Err(self.error(at, format!("expected a value, found list `%{}...`", name)))
            }
            Some(operand) => Ok(operand),
            None => Err(self.unknown(at, &name)),
        }
    }

    pub(crate) fn comparison(&mut self) -> Parsed<Test> {
        let left = self.spanned(Parser::term)?;
        if self.eat_keyword("in") {
            self.expect("[")?;
            let literals = self.list("]", |parser| parser.spanned(Parser::literal))?;
            for literal in &literals {
                let term = Spanned {
                    value: Term::Literal(literal.value.clone()),
                    at: literal.at.clone(),
                };
                self.check_comparison(&left, Relation::Equal, &term)?;
            }
            let literals = literals.into_iter().map(|literal| literal.value);
            return Ok(Test::OneOf(left.value, literals.collect()));
        }
        let relations = [
            ("==", Relation::Equal),
            ("!=", Relation::Unequal),
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ];
        let relation = relations.iter().find(|(mark, _)| self.is(mark));
        match relation {
            Some((_, relation)) => {
                self.advance();
                let right = self.spanned(Parser::term)?;
                self.check_comparison(&left, *relation, &right)?;
                Ok(Test::Compare(left.value, *relation, right.value))
            }
            None => Err(self.expected("`==`, `!=`, `<`, `<=`, `>`, `>=` or `in`")),
        }
    }

    pub(crate) fn term(&mut self) -> Parsed<Term> {
        let ident = match (self.peek().clone(), self.peek_second()) {
            (Token::Ident(ident), Token::Mark("(")) => ident,
            (Token::Ident(ident), _) if ident == "opset" => ident,
            (Token::Mark("$"), _) => return Ok(Term::Attr(self.attr_term()?)),
            _ => return Ok(Term::Literal(self.literal()?)),
        };
        if ident == "compose" {
            return Ok(Term::Attr(self.attr_term()?));
        }
        let at = self.at();
        self.advance();
        if ident == "opset" {
            let mut domain = String::new();
            if self.eat("(") {
                match self.advance() {
                    Token::String(text) => domain = text,
                    _ => return Err(self.error(at, "`opset(\"…\")` expects a domain in quotes")),
                }
                self.expect(")")?;
            }
            return Ok(Term::Opset(domain));
        }
        self.expect("(")?;
        if ident == "axis" {
            let axis = self.attr_term()?;
            self.expect(",")?;
            let operand = self.known_operand()?;
            self.expect(")")?;
            return Ok(Term::Axis(axis, operand));
        }
        let operand = self.known_operand()?;
        let term = match ident.as_str() {
            "rank" => Term::Rank(operand),
            "size" => Term::Size(operand),
            "uses" => Term::Uses(operand),
            "dtype" => Term::DType(operand),
            "dim" => {
                self.expect(",")?;
                match self.literal()? {
                    Literal::Int(at) => Term::Dim(operand, at),
                    _ => return Err(self.error(at, "`dim` expects a value and an axis")),
                }
            }
            _ => {
                let message = format!("unknown term `{}`", ident);
                let help = format!("the terms are {}", TERMS.join(", "));
                return Err(self.error(at, message).help(help).candidates(TERMS));
            }
        };
        self.expect(")")?;
        Ok(term)
    }

    /// Parses an attribute. In a pattern, a new name is bound to it.
    pub(crate) fn attr_term(&mut self) -> Parsed<AttrTerm> {
        if !self.in_pattern && self.eat_keyword("compose") {
            self.expect("(")?;
            let (first, second) = self.nested(|parser| {
                let first = parser.attr_term()?;
                parser.expect(",")?;
                Ok((first, parser.attr_term()?))
            })?;
            self.expect(")")?;
            return Ok(AttrTerm::Compose(Box::new(first), Box::new(second)));
        }
        if self.is("$") {
            return self.attr_name().map(AttrTerm::Bound);
        }
        if self.is("[") {
            return self.attr_list(false);
        }
        Ok(AttrTerm::Literal(self.attr_literal()?))
    }
}
