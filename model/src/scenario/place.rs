use std::fmt;

/// A table of a scenario, with the numbers of those that may stand there more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// The top of the file.
    Scenario,
    /// `[store]`.
    Store,
    /// `[limits]`.
    Limits,
    /// `[world]`.
    World,
    /// `[faults]`.
    Faults,
    /// The `[[caller]]` with this index.
    Caller(usize),
    /// Of that caller, the `[[caller.call]]` with this index.
    Call(usize, usize),
    /// Of that call, the `[[caller.call.inner]]` with this index.
    Inner(usize, usize, usize),
    /// `[expect]`.
    Expect,
}

/// Where in a scenario something stands, or ought to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table: Table,
    /// The field of it; none: the table itself.
    pub field: Option<&'static str>,
    /// Which item of the field, if it holds several.
    pub item: Option<Item>,
}

/// One of the things that a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Of a list, the one with this index.
    Index(usize),
    /// Of a table, the one under this key.
    Key(String),
}

/// One step on the way from the top of a file to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Table {
    /// The same table of the first caller, call and inner call: what stands for every table of its kind.
    pub(super) const fn kind(self) -> Self {
        match self {
            Self::Caller(_) => Self::Caller(0),
            Self::Call(..) => Self::Call(0, 0),
            Self::Inner(..) => Self::Inner(0, 0, 0),
            Self::Scenario | Self::Store | Self::Limits | Self::World | Self::Faults | Self::Expect => self,
        }
    }

    /// How the table is headed in a file; the top has no heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Scenario => "",
            Self::Store => "[store]",
            Self::Limits => "[limits]",
            Self::World => "[world]",
            Self::Faults => "[faults]",
            Self::Caller(_) => "[[caller]]",
            Self::Call(..) => "[[caller.call]]",
            Self::Inner(..) => "[[caller.call.inner]]",
            Self::Expect => "[expect]",
        }
    }

    /// The place of one of its fields.
    #[must_use]
    pub const fn field(self, field: &'static str) -> Place {
        Place { table: self, field: Some(field), item: None }
    }

    pub(super) fn steps(self) -> Vec<Step<'static>> {
        use Step::{Index, Key};
        match self {
            Self::Scenario => vec![],
            Self::Store => vec![Key("store")],
            Self::Limits => vec![Key("limits")],
            Self::World => vec![Key("world")],
            Self::Faults => vec![Key("faults")],
            Self::Expect => vec![Key("expect")],
            Self::Caller(i) => vec![Key("caller"), Index(i)],
            Self::Call(i, j) => vec![Key("caller"), Index(i), Key("call"), Index(j)],
            Self::Inner(i, j, k) => vec![Key("caller"), Index(i), Key("call"), Index(j), Key("inner"), Index(k)],
        }
    }
}

impl From<Table> for Place {
    fn from(table: Table) -> Self {
        Self { table, field: None, item: None }
    }
}

impl Place {
    /// The place of one item of this field's list.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        Self { item: Some(Item::Index(index)), ..self }
    }

    /// The place of one entry of this field's table.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { item: Some(Item::Key(key.to_owned())), ..self }
    }

    pub(super) fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = self.table.steps();
        steps.extend(self.field.map(Step::Key));
        steps.extend(self.item.as_ref().map(|item| match item {
            Item::Index(index) => Step::Index(*index),
            Item::Key(key) => Step::Key(key),
        }));
        steps
    }
}

/// Counts from one, as people do.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table {
            Table::Scenario => f.write_str("scenario")?,
            Table::Store => f.write_str("store")?,
            Table::Limits => f.write_str("limits")?,
            Table::World => f.write_str("world")?,
            Table::Faults => f.write_str("faults")?,
            Table::Expect => f.write_str("expect")?,
            Table::Caller(i) => write!(f, "caller {}", i + 1)?,
            Table::Call(i, j) => write!(f, "caller {}, call {}", i + 1, j + 1)?,
            Table::Inner(i, j, k) => write!(f, "caller {}, call {}, inner {}", i + 1, j + 1, k + 1)?,
        }
        if let Some(field) = self.field {
            write!(f, ": {field}")?;
        }
        if let Some(Item::Key(key)) = &self.item {
            write!(f, ".{key}")?;
        }
        Ok(())
    }
}
