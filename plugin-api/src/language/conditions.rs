//! The conditions of a rule: what stands behind `where`.

use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::rule::{AttrTerm, Condition, Literal, Operand, Relation, RuleError, Term, Test};

/// What conditions compare.
const TERMS: [&str; 6] = ["rank", "size", "uses", "dtype", "dim", "opset"];

impl Parser<'_> {
    pub(crate) fn condition(&mut self) -> Parsed<Condition> {
        let start = self.at().start;
        let negated = self.eat_word("not") || self.eat("!");
        let test = match (self.peek().clone(), self.peek_second()) {
            (Token::Word(word), Token::Mark("(")) => self.predicate(&word)?,
            _ => None,
        };
        let test = match test {
            Some(test) => test,
            None => self.comparison()?,
        };
        let at = self.since(start);
        Ok(Condition { negated, test, at })
    }

    pub(crate) fn predicate(&mut self, word: &str) -> Parsed<Option<Test>> {
        const ONE: [&str; 2] = ["const", "float"];
        const TWO: [&str; 4] = ["same_type", "same_shape", "same_dtype", "stretches_to"];
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
            let words = [&ONE[..], &TWO[..], &["identity"], &TERMS[..]].concat();
            return Err(RuleError {
                known: words.into_iter().map(str::to_owned).collect(),
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
    pub(crate) fn known_operand(&mut self) -> Parsed<Operand> {
        let at = self.at();
        let name = self.value_name()?;
        let at = self.since(at.start);
        match self.find(&name) {
            Some(Operand::List(_)) => {
                Err(self.error(at, format!("`%{}` is a list of values.", name)))
            }
            Some(operand) => Ok(operand),
            None => Err(self.unknown(at, &name)),
        }
    }

    pub(crate) fn comparison(&mut self) -> Parsed<Test> {
        let left = self.place(Parser::term)?;
        if self.eat_word("in") {
            self.expect("[")?;
            let literals = self.list("]", |parser| parser.place(Parser::literal))?;
            for (literal, at) in &literals {
                let term = (Term::Literal(literal.clone()), at.clone());
                self.check_comparison(&left, Relation::Equal, &term)?;
            }
            let literals = literals.into_iter().map(|(literal, _)| literal);
            return Ok(Test::OneOf(left.0, literals.collect()));
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
                let right = self.place(Parser::term)?;
                self.check_comparison(&left, *relation, &right)?;
                Ok(Test::Compare(left.0, *relation, right.0))
            }
            None => Err(self.expected("`==`, `!=`, `<`, `<=`, `>`, `>=` or `in`")),
        }
    }

    pub(crate) fn term(&mut self) -> Parsed<Term> {
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
                return Err(RuleError {
                    known: TERMS.iter().map(|term| (*term).to_owned()).collect(),
                    help: format!("There are {}.", TERMS.join(", ")),
                    ..self.error(
                        at,
                        format!("There is nothing called `{}` to compare.", word),
                    )
                });
            }
        };
        self.expect(")")?;
        Ok(term)
    }

    pub(crate) fn attr_term(&mut self) -> Parsed<AttrTerm> {
        if self.eat_word("compose") {
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
            let start = self.at().start;
            self.advance();
            let name = self.word("an attribute's name")?;
            let at = self.since(start);
            let found = self.rule.attrs.iter().position(|attr| *attr == name);
            return match found {
                Some(at) => Ok(AttrTerm::Bound(at)),
                None => Err(RuleError {
                    known: self
                        .rule
                        .attrs
                        .iter()
                        .map(|name| format!("${}", name))
                        .collect(),
                    ..self.error(at, format!("The pattern binds no attribute `${}`.", name))
                }),
            };
        }
        Ok(AttrTerm::Literal(self.attr_literal()?))
    }
}
