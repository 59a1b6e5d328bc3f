//! Which functions of a class are marked retryable (M2).
//!
//! A mark says that running the function twice for one call is harmless, and it belongs to the *function*, not to the
//! name under which a class offers it. So there are two types: [`Function`] holds the mark, and a [`MarkTable`] says
//! which function a class, or the class that it extends, offers under a name. The gate asks the table and never the
//! object (G1), and what the table does not know is unmarked, which is the safe side: a duplicate is then refused.
//!
//! Everything can be a constant, as a macro over a class would write it:
//!
//! ```
//! use oncemore_protocol::marks::{Function, Mark, MarkTable, Member, Target};
//!
//! static CART: MarkTable<'static> = MarkTable::new(&[
//!     ("total", Member::Method(&Function::MARKED)),
//!     ("add", Member::Method(&Function::UNMARKED)),
//! ]);
//! static GIFT_CART: MarkTable<'static> =
//!     MarkTable::new(&[("wrap", Member::Method(&Function::UNMARKED))]).extending(&CART);
//!
//! assert_eq!(GIFT_CART.mark(Target::Call("total")), Mark::Marked);
//! assert_eq!(GIFT_CART.mark(Target::Call("wrap")), Mark::Unmarked);
//! ```

use core::fmt;

/// Whether a duplicate run is harmless, as the function's author declared (M1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mark {
    /// It was passed to `retryable()`: G3 and G4 let a duplicate in.
    Marked,
    /// It was not, or nobody knows: a duplicate is refused.
    #[default]
    Unmarked,
}

/// One function, and whether it is marked.
///
/// It is neither `Clone` nor `Copy`. Whatever would be a new function elsewhere (an override, a bound copy, a wrapper)
/// is a new `Function` here, born without a mark; a second name for the same function is a second reference to it.
#[derive(Debug)]
pub struct Function {
    mark: Mark,
}

impl Function {
    /// A function as it is declared.
    pub const UNMARKED: Self = Self { mark: Mark::Unmarked };
    /// A function that was marked where it was declared.
    pub const MARKED: Self = Self { mark: Mark::Marked };

    /// Whether the function is marked.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        self.mark
    }
}

/// Marks every candidate, or none if one of them is no function (M2).
///
/// It needs the functions for itself, so marks are settled before a table can lend them to a gate. To mark a function
/// again changes nothing, and neither does an empty list.
///
/// # Errors
///
/// [`NotAFunction`] with the position of the first candidate that is none; then nothing was marked.
pub fn retryable(candidates: &mut [Candidate<'_>]) -> Result<(), NotAFunction> {
    // Two passes: the check must be over before the first mark is set.
    if let Some(index) = candidates.iter().position(|candidate| matches!(candidate, Candidate::Other)) {
        return Err(NotAFunction { index });
    }
    for candidate in candidates {
        match candidate {
            Candidate::Function(function) => function.mark = Mark::Marked,
            Candidate::Other => {}
        }
    }
    Ok(())
}

/// Something that somebody wants to mark.
#[derive(Debug)]
pub enum Candidate<'a> {
    /// A function of any kind.
    Function(&'a mut Function),
    /// Anything else, a list of functions included.
    Other,
}

/// A candidate for a mark was no function; a type error of the class's author (M2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotAFunction {
    /// Where it stood among the candidates, counted from 0.
    pub index: usize,
}

impl fmt::Display for NotAFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "only functions can be marked retryable, and candidate {} is none; nothing was marked", self.index)
    }
}

impl core::error::Error for NotAFunction {}

/// What one class offers under one name.
#[derive(Clone, Copy, Debug)]
pub enum Member<'a> {
    /// A method; `fetch` is one like any other.
    Method(&'a Function),
    /// A getter. Whatever it returns is not the class's own function, so it counts as unmarked (M2).
    Getter,
}

impl Member<'_> {
    const fn mark(&self) -> Mark {
        match self {
            Self::Method(function) => function.mark(),
            Self::Getter => Mark::Unmarked,
        }
    }
}

/// What a request wants of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// To call the method of that name. A `fetch` is the call of [`FETCH`].
    Call(&'a str),
    /// To call something reached over more than one name (`a.b()`); unmarked, whatever stands at its end (M2).
    NestedCall,
    /// To read a property, a method's included, without a call; unmarked (M2).
    Read,
}

/// The name under which a class offers its handler for `fetch`.
pub const FETCH: &str = "fetch";

/// The functions that a class offers, by name, with those of the class that it extends behind them.
#[derive(Clone, Copy, Debug)]
pub struct MarkTable<'a> {
    members: &'a [(&'a str, Member<'a>)],
    parent: Option<&'a Self>,
}

impl<'a> MarkTable<'a> {
    /// How many classes a lookup visits, the object's own included; what lies beyond counts as unknown.
    ///
    /// Statics may refer to each other in a circle, and without a bound a lookup in one would never end.
    pub const CLASSES_MAX: usize = 64;

    /// The table of a class that extends no other. Of several members with one name, the last one counts.
    #[must_use]
    pub const fn new(members: &'a [(&'a str, Member<'a>)]) -> Self {
        Self { members, parent: None }
    }

    /// The same class, extending `parent`: it inherits what it does not itself offer, and the marks with it (M2).
    #[must_use]
    pub const fn extending(self, parent: &'a Self) -> Self {
        Self { members: self.members, parent: Some(parent) }
    }

    /// Whether what the target reaches is marked; unknown names are unmarked (G1, M2).
    #[must_use]
    pub fn mark(&self, target: Target<'_>) -> Mark {
        match target {
            Target::Call(name) => self.member(name).map_or(Mark::Unmarked, |member| member.mark()),
            Target::NestedCall | Target::Read => Mark::Unmarked,
        }
    }

    /// What the class offers under a name: its own member, which hides an inherited one, or the nearest inherited.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Member<'a>> {
        self.classes().find_map(|class| class.own_member(name))
    }

    fn own_member(&self, name: &str) -> Option<Member<'a>> {
        self.members.iter().rev().find(|(own, _)| *own == name).map(|(_, member)| *member)
    }

    /// Every name that the class offers, with what a call reaches under it: its own in their order, then the inherited.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Member<'a>)> {
        self.classes().enumerate().flat_map(move |(depth, class)| {
            let hidden = move |name| self.classes().take(depth).any(|nearer| nearer.own_member(name).is_some());
            let replaced = move |place: usize, name| class.members[place + 1..].iter().any(|(own, _)| *own == name);
            let members = class.members.iter().copied().enumerate();
            members
                .filter(move |(place, (name, _))| !replaced(*place, *name) && !hidden(*name))
                .map(|(_, member)| member)
        })
    }

    /// The class and those that it extends, as far as a lookup goes.
    fn classes(self) -> impl Iterator<Item = Self> {
        core::iter::successors(Some(self), |class| class.parent.copied()).take(Self::CLASSES_MAX)
    }
}

/// One line for each name: the name, and `retryable`, `not retryable` or `getter`.
impl fmt::Display for MarkTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (index, (name, member)) in self.iter().enumerate() {
            let mark = match (member, member.mark()) {
                (Member::Getter, _) => "getter",
                (Member::Method(_), Mark::Marked) => "retryable",
                (Member::Method(_), Mark::Unmarked) => "not retryable",
            };
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{name:width$}  {mark}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::{String, ToString};
    use std::vec::Vec;
    use std::{format, vec};

    fn call(table: &MarkTable<'_>, name: &str) -> Mark {
        table.mark(Target::Call(name))
    }

    #[test]
    fn a_mark_is_inherited_with_the_function_and_lost_by_an_override() {
        let (base, over) = (Function::MARKED, Function::UNMARKED);
        let parent_members = [("kept", Member::Method(&base)), ("replaced", Member::Method(&base))];
        let parent = MarkTable::new(&parent_members);
        let own_members = [("replaced", Member::Method(&over))];
        let child = MarkTable::new(&own_members).extending(&parent);
        assert_eq!(call(&child, "kept"), Mark::Marked);
        assert_eq!(call(&child, "replaced"), Mark::Unmarked);
        assert_eq!(call(&parent, "replaced"), Mark::Marked);
    }

    #[test]
    fn a_table_is_printed_as_a_class_offers_it() {
        let (marked, plain) = (Function::MARKED, Function::UNMARKED);
        let parent_members = [("kept", Member::Method(&marked)), ("replaced", Member::Method(&marked))];
        let parent = MarkTable::new(&parent_members);
        let own_members =
            [("twice", Member::Method(&marked)), ("replaced", Member::Method(&plain)), ("twice", Member::Getter)];
        let child = MarkTable::new(&own_members).extending(&parent);
        assert_eq!(child.to_string(), "replaced  not retryable\ntwice     getter\nkept      retryable");
        for (name, member) in child.iter() {
            assert_eq!(call(&child, name), member.mark());
        }
        assert_eq!(MarkTable::new(&[]).to_string(), "");
    }

    #[test]
    fn a_second_name_shares_the_mark_and_a_getter_hides_it() {
        let mut function = Function::UNMARKED;
        retryable(&mut [Candidate::Function(&mut function)]).unwrap();
        let members = [
            ("name", Member::Method(&function)),
            ("alias", Member::Method(&function)),
            ("twice", Member::Method(&function)),
            ("twice", Member::Getter),
        ];
        let table = MarkTable::new(&members);
        assert_eq!(
            ["name", "alias", "twice", "absent"].map(|name| call(&table, name)),
            [Mark::Marked, Mark::Marked, Mark::Unmarked, Mark::Unmarked,]
        );
    }

    #[test]
    fn only_a_plain_call_can_reach_a_mark() {
        static MEMBERS: [(&str, Member<'static>); 2] =
            [("m", Member::Method(&Function::MARKED)), (FETCH, Member::Method(&Function::MARKED))];
        let table = MarkTable::new(&MEMBERS);
        assert_eq!(table.mark(Target::Call("m")), Mark::Marked);
        assert_eq!(table.mark(Target::Call(FETCH)), Mark::Marked);
        assert_eq!(table.mark(Target::NestedCall), Mark::Unmarked);
        assert_eq!(table.mark(Target::Read), Mark::Unmarked);
    }

    #[test]
    fn marking_is_all_or_nothing_and_may_be_repeated() {
        let (mut one, mut other) = (Function::UNMARKED, Function::UNMARKED);
        let error = retryable(&mut [Candidate::Function(&mut one), Candidate::Other, Candidate::Function(&mut other)])
            .unwrap_err();
        assert_eq!(error, NotAFunction { index: 1 });
        assert!(error.to_string().contains("candidate 1"));
        assert_eq!((one.mark(), other.mark()), (Mark::Unmarked, Mark::Unmarked));
        for _ in 0..2 {
            retryable(&mut [Candidate::Function(&mut one), Candidate::Function(&mut other)]).unwrap();
            assert_eq!((one.mark(), other.mark()), (Mark::Marked, Mark::Marked));
        }
        assert_eq!(retryable(&mut []), Ok(()));
    }

    #[test]
    fn a_circle_of_classes_ends_unmarked() {
        static HEAD: MarkTable<'static> = MarkTable::new(&[]).extending(&TAIL);
        static TAIL: MarkTable<'static> = MarkTable::new(&[("m", Member::Method(&Function::MARKED))]).extending(&HEAD);
        assert_eq!(call(&HEAD, "m"), Mark::Marked);
        assert_eq!(call(&HEAD, "absent"), Mark::Unmarked);
    }

    #[test]
    fn the_farthest_class_that_counts_is_the_last_of_the_bound() {
        fn nested(depth: usize, inner: &MarkTable<'_>) -> Mark {
            match depth {
                0 => call(inner, "m"),
                _ => nested(depth - 1, &MarkTable::new(&[]).extending(inner)),
            }
        }
        let root = MarkTable::new(&[("m", Member::Method(&Function::MARKED))]);
        assert_eq!(nested(MarkTable::CLASSES_MAX - 1, &root), Mark::Marked);
        assert_eq!(nested(MarkTable::CLASSES_MAX, &root), Mark::Unmarked);
    }

    /// A class as data: for each of its members the name, and the mark or `None` for a getter.
    type Class = Vec<(String, Option<bool>)>;

    fn any_classes() -> impl Strategy<Value = Vec<Class>> {
        let member = ((0_u8..4).prop_map(|n| format!("m{n}")), any::<Option<bool>>());
        prop::collection::vec(prop::collection::vec(member, 0..4), 1..5)
    }

    /// Looks a name up in the last of these classes, each extending the one before it.
    fn looked_up(classes: &[Class], parent: Option<&MarkTable<'_>>, name: &str) -> Mark {
        let Some((class, heirs)) = classes.split_first() else {
            return parent.map_or(Mark::Unmarked, |table| call(table, name));
        };
        let members: Vec<(&str, Member<'_>)> = class
            .iter()
            .map(|(name, mark)| {
                let member = match mark {
                    None => Member::Getter,
                    Some(true) => Member::Method(&Function::MARKED),
                    Some(false) => Member::Method(&Function::UNMARKED),
                };
                (name.as_str(), member)
            })
            .collect();
        let own = MarkTable::new(&members);
        let table = match parent {
            Some(parent) => own.extending(parent),
            None => own,
        };
        looked_up(heirs, Some(&table), name)
    }

    proptest! {
        #[test]
        fn the_latest_definition_decides(classes in any_classes(), name in "m[0-5]") {
            // Written out in order of definition, the last member of that name is the one that counts.
            let mut members = classes.iter().flatten().rev();
            let latest = members.find(|(own, _)| *own == name).and_then(|(_, mark)| *mark);
            let expected = if latest == Some(true) { Mark::Marked } else { Mark::Unmarked };
            prop_assert_eq!(looked_up(&classes, None, &name), expected);
        }

        #[test]
        fn all_are_marked_or_none(kinds in prop::collection::vec(any::<bool>(), 0..6)) {
            let mut functions: Vec<Function> = kinds.iter().map(|_| Function::UNMARKED).collect();
            let mut candidates: Vec<Candidate<'_>> = vec![];
            for (function, is_function) in functions.iter_mut().zip(&kinds) {
                candidates.push(match is_function {
                    true => Candidate::Function(function),
                    false => Candidate::Other,
                });
            }
            let first_other = kinds.iter().position(|is_function| !is_function);
            prop_assert_eq!(retryable(&mut candidates).err().map(|error| error.index), first_other);
            let expected = if first_other.is_none() { Mark::Marked } else { Mark::Unmarked };
            prop_assert!(functions.iter().all(|function| function.mark() == expected));
        }
    }
}
