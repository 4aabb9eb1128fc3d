//! What stands behind the arrow of a rule.

use super::before::{made_kinds, said};
use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::rule::{
    After, AttrTerm, Literal, MentionedAttr, MentionedOperand, NewNode, NewOperand, Operand,
    Presence,
};

impl Parser<'_> {
    pub(crate) fn after(&mut self, end: &str) -> Parsed<After> {
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
                if names.len() > 1 {
                    return Err(self.error(at, "Only an op gives several values their names."));
                }
                let value = self.result(&mut after, &named)?;
                named.push((names[0].clone(), value));
                continue;
            }
            let is_op = matches!(self.peek(), Token::Word(_)) && !names.is_empty();
            if !is_op {
                // What stands alone is the result.
                let result = self.result(&mut after, &named)?;
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
                    // Of several results, those without a name have no users.
                    None if name.is_empty() && wanted.iter().any(|one| !one.is_empty()) => {
                        after.results.push(NewOperand::Absent);
                    }
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

    /// What stands in the place of a result: one value.
    fn result(&mut self, after: &mut After, named: &[(String, NewOperand)]) -> Parsed<NewOperand> {
        let start = self.at().start;
        let result = self.new_operand(after, named)?;
        let message = match &result {
            NewOperand::Bound(Operand::List(_)) => "A list of values can't stand for one result.",
            NewOperand::Number(_) => {
                "A number has the dtype of the operands beside it, and here are none."
            }
            NewOperand::Absent => "`none` can't stand for a result.",
            _ => return Ok(result),
        };
        Err(self.error(self.since(start), message))
    }

    pub(crate) fn new_node(
        &mut self,
        after: &mut After,
        named: &[(String, NewOperand)],
        results: usize,
    ) -> Parsed<NewNode> {
        let mention = self.rule.mentions.len();
        let operator = self.operator(true)?;
        self.begin_operands()?;
        let (operands, places) =
            self.nested(|parser| parser.operands(|parser| parser.new_operand(after, named)))?;
        let places = operands.iter().zip(places);
        let places = places.map(|(operand, at)| MentionedOperand {
            at,
            presence: self.presence(operand),
        });
        self.rule.mentions[mention].operands = places.collect();
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
                    let at = self.since(at.start);
                    match self.find(&name) {
                        Some(Operand::Result { node: like, .. }) => {
                            node.like = Some(like);
                            self.rule.mentions[mention].has_more_attrs = true;
                        }
                        _ => {
                            return Err(
                                self.error(at, format!("`%{}` is no op of the pattern.", name))
                            )
                        }
                    }
                } else {
                    let at = self.at();
                    let name = self.word("an attribute's name")?;
                    self.expect("=")?;
                    let start = self.at().start;
                    let term = self.attr_term()?;
                    let said = MentionedAttr {
                        value: self.since(start),
                        kinds: match &term {
                            AttrTerm::Bound(_) => &[],
                            AttrTerm::Literal(literal) => made_kinds(literal),
                            AttrTerm::Compose(..) => &["ints"],
                        },
                        bound: match &term {
                            AttrTerm::Bound(at) => self.rule.attrs[*at].clone(),
                            _ => String::new(),
                        },
                        ..said(&name, at)
                    };
                    self.rule.mentions[mention].attrs.push(said);
                    node.attrs.push((name, term));
                }
                if !self.is("}") {
                    self.expect(",")?;
                }
            }
        }
        Ok(node)
    }

    /// Whether an op that is made has this operand.
    fn presence(&self, operand: &NewOperand) -> Presence {
        match operand {
            NewOperand::Absent => Presence::Absent,
            NewOperand::Bound(Operand::List(_)) => Presence::List,
            NewOperand::Bound(Operand::Value(at)) => {
                let nodes = &self.rule.nodes;
                let is_optional = nodes
                    .iter()
                    .any(|node| node.operands.contains(&Operand::Optional(*at)));
                match is_optional {
                    true => Presence::Optional,
                    false => Presence::Given,
                }
            }
            _ => Presence::Given,
        }
    }

    pub(crate) fn new_operand(
        &mut self,
        after: &mut After,
        named: &[(String, NewOperand)],
    ) -> Parsed<NewOperand> {
        let start = self.at().start;
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
                let at = self.since(at.start);
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
                _ => Err(self.misplaced(start, "a list of integers")),
            },
            _ => match self.literal()? {
                Literal::Int(value) => Ok(NewOperand::Number(value as f64)),
                Literal::Float(value) => Ok(NewOperand::Number(value)),
                _ => Err(self.misplaced(start, "an operand")),
            },
        }
    }
}
