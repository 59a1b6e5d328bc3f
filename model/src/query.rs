//! Questions about a state, as a person writes them: `set-4.starts >= 2 and object.owner > 1`.
//!
//! A term names something of a state, and compares it with a number or a word; terms are joined by `and`, `or` and `not`.
//! What can be named is a list ([`Model::terms`]), so that a page can suggest it while somebody writes.

mod parse;
mod term;

use std::fmt;

use thiserror::Error;

use self::term::Term;
use crate::model::Model;
use crate::world::World;

pub use self::term::TermInfo;

/// How long a question may be, in bytes.
pub const BYTES_MAX: usize = 500;

/// A question about a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query(Expression);

/// What is wrong with a question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at character {at}: {what}")]
pub struct QueryError {
    /// Where, in characters, counted from one.
    pub at: usize,
    /// What, and what is allowed.
    pub what: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Compare(Term, Relation, Value),
}

/// How two things compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Is,
    IsNot,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// What a term comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(i64),
    Word(String),
}

impl Relation {
    const ALL: [(&'static str, Self); 7] = [
        ("!=", Self::IsNot),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Is),
        ("=", Self::Is),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => Some(left.cmp(right)),
            (Value::Word(_), _) | (_, Value::Word(_)) => None,
        };
        match self {
            Self::Is => left == right,
            Self::IsNot => left != right,
            Self::Below => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
            Self::Above => order.is_some_and(std::cmp::Ordering::is_gt),
            Self::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}

impl Query {
    /// Reads a question about states of this model.
    ///
    /// # Errors
    ///
    /// [`QueryError`], with what is allowed in that place.
    pub fn parse(model: &Model, text: &str) -> Result<Self, QueryError> {
        parse::parse(model, text).map(Self)
    }

    /// Whether it is so in this state.
    #[must_use]
    pub fn holds(&self, model: &Model, world: &World) -> bool {
        self.0.holds(model, world)
    }

    /// The question as it was read: [`Query::parse`] reads it back.
    #[must_use]
    pub fn text(&self, model: &Model) -> String {
        Said { model, expression: &self.0 }.to_string()
    }
}

impl Expression {
    fn holds(&self, model: &Model, world: &World) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(model, world)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(model, world)),
            Self::Not(part) => !part.holds(model, world),
            Self::Compare(term, relation, value) => {
                term.value(model, world).is_some_and(|is| relation.holds(&is, value))
            }
        }
    }
}

struct Said<'a> {
    model: &'a Model,
    expression: &'a Expression,
}

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |expression| Said { expression, ..*self };
        match self.expression {
            Expression::All(parts) | Expression::Any(parts) => {
                let word = if matches!(self.expression, Expression::All(_)) { " and " } else { " or " };
                f.write_str("(")?;
                for (index, part) in parts.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { word }, said(part))?;
                }
                f.write_str(")")
            }
            Expression::Not(part) => write!(f, "not {}", said(part)),
            Expression::Compare(term, relation, value) => {
                let sign = Relation::ALL.iter().find(|(_, known)| known == relation).map_or("=", |(sign, _)| sign);
                write!(f, "{} {sign} ", term.name(self.model))?;
                match value {
                    Value::Number(number) => write!(f, "{number}"),
                    Value::Word(word) => f.write_str(word),
                }
            }
        }
    }
}
