//! The pattern of a rule: what stands before the arrow.

use std::ops::Range;

use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::rule::{
    AttrPattern, Literal, MentionedAttr, MentionedOperand, Node, Number, Operand, Presence,
    RuleError,
};

impl Parser<'_> {
    pub(crate) fn statement_before(&mut self) -> Parsed<()> {
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

    pub(crate) fn node(&mut self, results: Vec<String>) -> Parsed<Node> {
        let first = self.rule.mentions.len();
        let mut operators = vec![self.operator(false)?];
        while self.eat("|") {
            operators.push(self.operator(false)?);
        }
        let last_mention = self.rule.mentions.len();
        self.begin_operands()?;
        let (operands, said) = self.nested(|parser| parser.operands(Parser::operand))?;
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
        let (attrs, said_attrs): (Vec<_>, Vec<_>) = attrs.into_iter().unzip();
        let said: Vec<MentionedOperand> = operands
            .iter()
            .zip(said)
            .map(|(operand, at)| MentionedOperand {
                at,
                presence: match operand {
                    Operand::Absent => Presence::Absent,
                    Operand::Optional(_) => Presence::Optional,
                    Operand::List(_) => Presence::List,
                    _ => Presence::Given,
                },
            })
            .collect();
        for (at, mention) in self.rule.mentions[first..last_mention]
            .iter_mut()
            .enumerate()
        {
            mention.is_alternative = at > 0;
            mention.operands = said.clone();
            mention.attrs = said_attrs.clone();
        }
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

    pub(crate) fn operand(&mut self) -> Parsed<Operand> {
        let start = self.at().start;
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
                let at = self.since(at.start);
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
                _ => Err(self.misplaced(start, "a list of integers")),
            },
            _ => {
                let about = self.eat("~");
                match self.literal()? {
                    Literal::Int(value) => Ok(Operand::Number(Number {
                        value: value as f64,
                        about,
                    })),
                    Literal::Float(value) => Ok(Operand::Number(Number { value, about })),
                    _ => Err(self.misplaced(start, "an operand")),
                }
            }
        }
    }

    pub(crate) fn attr_before(&mut self) -> Parsed<((String, AttrPattern), MentionedAttr)> {
        let at = self.at();
        let name = self.word("an attribute's name")?;
        self.expect("=")?;
        let start = self.at().start;
        if self.eat("$") {
            let bound = self.word("a name for the attribute")?;
            let said = MentionedAttr {
                value: self.since(start),
                bound: bound.clone(),
                ..said(&name, at)
            };
            let attrs = &mut self.rule.attrs;
            let found = attrs.iter().position(|attr| *attr == bound);
            let at = found.unwrap_or_else(|| {
                attrs.push(bound);
                attrs.len() - 1
            });
            return Ok(((name, AttrPattern::Bound(at)), said));
        }
        let literal = self.attr_literal()?;
        let said = MentionedAttr {
            value: self.since(start),
            kinds: match &literal {
                Literal::Int(_) => &["int", "float"],
                Literal::Ints(_) => &["ints", "floats"],
                other => made_kinds(other),
            },
            ..said(&name, at)
        };
        Ok(((name, AttrPattern::Is(literal)), said))
    }

    /// What an attribute is, written down.
    pub(crate) fn attr_literal(&mut self) -> Parsed<Literal> {
        let at = self.at();
        match self.literal()? {
            Literal::Word(word) => Err(RuleError {
                help: format!("A text stands in quotes: `\"{}\"`.", word),
                ..self.error(at, format!("No attribute is `{}`.", word))
            }),
            literal => Ok(literal),
        }
    }
}

/// An attribute of which nothing is said yet but the name.
pub(crate) fn said(name: &str, at: Range<usize>) -> MentionedAttr {
    MentionedAttr {
        name: name.to_owned(),
        value: at.clone(),
        at,
        kinds: &[],
        bound: String::new(),
    }
}

/// The kinds of attributes that this makes.
pub(crate) fn made_kinds(literal: &Literal) -> &'static [&'static str] {
    match literal {
        Literal::Int(_) => &["int"],
        Literal::Float(_) => &["float"],
        Literal::Text(_) => &["string"],
        Literal::Ints(ints) if ints.is_empty() => &["ints", "floats"],
        Literal::Ints(_) => &["ints"],
        Literal::Floats(_) => &["floats"],
        Literal::Word(_) => &[],
    }
}
