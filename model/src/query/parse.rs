//! Reads a question.

use super::term::Term;
use super::{BYTES_MAX, Expression, QueryError, Relation, Value};
use crate::model::Model;

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 32;

pub(super) fn parse(model: &Model, text: &str) -> Result<Expression, QueryError> {
    if text.len() > BYTES_MAX {
        return Err(QueryError { at: 1, what: format!("a question is at most {BYTES_MAX} bytes long") });
    }
    let mut reader = Reader { text, at: 0, depth: 0, terms: model.all_terms(), model };
    let expression = reader.any()?;
    reader.skip();
    if reader.rest().is_empty() {
        return Ok(expression);
    }
    Err(reader.error("expected `and`, `or` or the end".to_owned()))
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
    depth: usize,
    terms: Vec<(Term, Vec<String>)>,
    model: &'a Model,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: String) -> QueryError {
        QueryError { at: self.text[..self.at].chars().count() + 1, what }
    }

    fn skip(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// A word, if one is next: it is not taken yet.
    fn word(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        &rest[..end]
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.word() == word;
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        self.skip();
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    fn any(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.all()?];
        while self.takes("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.not()?];
        while self.takes("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn not(&mut self) -> Result<Expression, QueryError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("a question is nested at most {DEPTH_MAX} deep")));
        }
        let read = if self.takes("not") {
            Ok(Expression::Not(Box::new(self.not()?)))
        } else if self.takes_sign("(") {
            let inside = self.any()?;
            if self.takes_sign(")") { Ok(inside) } else { Err(self.error("expected `)`".to_owned())) }
        } else {
            self.compare()
        };
        self.depth -= 1;
        read
    }

    fn compare(&mut self) -> Result<Expression, QueryError> {
        let name = self.word();
        let known = self.terms.iter().find(|(term, _)| term.name(self.model) == name).cloned();
        let Some((term, words)) = known else {
            return Err(self.error(self.no_such_term(name)));
        };
        self.at += name.len();
        self.skip();
        let relation = Relation::ALL.iter().find(|(sign, _)| self.rest().starts_with(sign)).copied();
        let is_flag = words.iter().any(|word| word == "true");
        let Some((sign, relation)) = relation else {
            if is_flag {
                return Ok(Expression::Compare(term, Relation::Is, Value::Word("true".to_owned())));
            }
            return Err(self.error("expected one of =, !=, <, <=, >, >=".to_owned()));
        };
        if !words.is_empty() && !matches!(relation, Relation::Is | Relation::IsNot) {
            return Err(self.error(format!("`{name}` is a word: it can be = or != another")));
        }
        self.at += sign.len();
        let value = self.value(name, &words)?;
        Ok(Expression::Compare(term, relation, value))
    }

    fn value(&mut self, name: &str, words: &[String]) -> Result<Value, QueryError> {
        let text = self.word();
        let value = if words.is_empty() {
            let number = text.parse().map(Value::Number);
            number.map_err(|_| self.error(format!("`{name}` is compared with a whole number")))?
        } else if words.iter().any(|word| word == text) {
            Value::Word(text.to_owned())
        } else {
            return Err(self.error(format!("`{name}` is one of {}", words.join(", "))));
        };
        self.at += text.len();
        Ok(value)
    }

    fn no_such_term(&self, name: &str) -> String {
        let names: Vec<String> = self.terms.iter().map(|(term, _)| term.name(self.model)).collect();
        let start = name.split('.').next().unwrap_or_default();
        let near: Vec<_> = names.iter().filter(|known| known.split('.').next() == Some(start)).take(10).collect();
        let offered =
            if near.is_empty() || start.is_empty() { names.iter().step_by(7).take(6).collect() } else { near };
        let offered: Vec<_> = offered.into_iter().map(String::as_str).collect();
        if name.is_empty() {
            return format!("expected a name such as {}", offered.join(", "));
        }
        format!("nothing is called `{name}`; there is {}", offered.join(", "))
    }
}

fn one_or(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}
