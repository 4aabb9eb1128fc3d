//! Detection of comparisons between different kinds of values, which never hold.

use passdock_abi::DType;

use super::parse::{Parsed, Parser};
use super::rule::{AttrTerm, Literal, Relation, Spanned, Term};

/// The kind of a term's value, as far as the text determines it.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Text,
    List,
    DType,
    /// An attribute, which may have nearly any kind.
    Any,
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Sort::Number => "a number",
            Sort::Text => "a string",
            Sort::List => "a list",
            Sort::DType => "a dtype",
            Sort::Any => "an attribute",
        }
    }
}

impl Parser<'_> {
    /// Rejects a comparison that never holds.
    pub(crate) fn check_comparison(
        &self,
        left: &Spanned<Term>,
        relation: Relation,
        right: &Spanned<Term>,
    ) -> Parsed<()> {
        let sorts = (
            self.sort(left, &right.value)?,
            self.sort(right, &left.value)?,
        );
        let is_order = !matches!(relation, Relation::Equal | Relation::Unequal);
        let is_mismatch = match sorts {
            (Sort::Number, Sort::Any) | (Sort::Any, Sort::Number) | (Sort::Any, Sort::Any) => false,
            (Sort::Any, other) | (other, Sort::Any) => is_order || other == Sort::DType,
            (a, b) => a != b || (is_order && a != Sort::Number),
        };
        if !is_mismatch {
            return Ok(());
        }
        // The error points to the literal, because the user can change it.
        let (at, own, other) = match right.value {
            Term::Literal(_) => (right, sorts.1, sorts.0),
            _ => (left, sorts.0, sorts.1),
        };
        let message = match is_order && (own == other || other == Sort::Any) {
            true => format!("expected a number, found {}", own.name()),
            false => format!("cannot compare {} with {}", own.name(), other.name()),
        };
        let error = self.error(at.at.clone(), message);
        Err(match &at.value {
            Term::Literal(Literal::String(text))
                if other == Sort::Number || other == Sort::DType =>
            {
                error.help(format!("remove the quotes: `{}`", text))
            }
            _ => error,
        })
    }

    fn sort(&self, term: &Spanned<Term>, other: &Term) -> Parsed<Sort> {
        let literal = match &term.value {
            Term::Literal(literal) | Term::Attr(AttrTerm::Literal(literal)) => literal,
            Term::Attr(AttrTerm::Compose(..) | AttrTerm::List(_)) => return Ok(Sort::List),
            Term::Attr(AttrTerm::Bound(_)) => return Ok(Sort::Any),
            Term::DType(_) => return Ok(Sort::DType),
            _ => return Ok(Sort::Number),
        };
        Ok(match literal {
            Literal::Int(_) | Literal::Float(_) => Sort::Number,
            Literal::String(_) => Sort::Text,
            Literal::Ints(_) | Literal::Floats(_) => Sort::List,
            Literal::Ident(ident) => {
                let is_attr = matches!(other, Term::Attr(_));
                if !is_attr && DType::from_name(ident).is_some() {
                    return Ok(Sort::DType);
                }
                if is_attr {
                    return Err(self.no_attribute(term.at.clone(), ident));
                }
                let error = self.error(term.at.clone(), format!("unknown dtype `{}`", ident));
                return Err(match standard_name(ident) {
                    Some(name) => error.help(format!("use `{}`", name)),
                    None => {
                        let names = DType::ALL.iter().filter_map(|dtype| dtype.name());
                        let names: Vec<&str> = names.collect();
                        let help = format!("the dtypes are {}", names.join(", "));
                        error.help(help).candidates(names)
                    }
                });
            }
        })
    }
}

/// Returns the name of a dtype in rules, given its name elsewhere.
fn standard_name(ident: &str) -> Option<&'static str> {
    let ident = ident.to_ascii_lowercase();
    let short = match ident.as_str() {
        "float" => "f32".to_owned(),
        "half" => "f16".to_owned(),
        "double" => "f64".to_owned(),
        "int" => "i64".to_owned(),
        "string" => "str".to_owned(),
        _ => ident
            .replace("float", "f")
            .replace("uint", "u")
            .replace("int", "i"),
    };
    DType::from_name(&short)?.name()
}
