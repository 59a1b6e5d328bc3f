//! The attributes that belong to `#[durable_object]` and vanish with it, and those that it copies to a stub.

use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

use crate::errors::Errors;

/// The attributes of `#[durable_object]` on one item of the block.
#[derive(Default)]
pub(crate) struct Own {
    /// `#[construct]`
    pub(crate) construct: Option<Attribute>,
    /// `#[retryable]`; to mark a function again changes nothing (M2), so there may have been several.
    pub(crate) retryable: Option<Attribute>,
    /// `#[local]`
    pub(crate) local: Option<Attribute>,
    /// The names in `#[also = "…"]`.
    pub(crate) also: Vec<LitStr>,
}

#[derive(Clone, Copy)]
enum Kind {
    Construct,
    Retryable,
    Local,
    Also,
}

impl Kind {
    /// The kind of an attribute, whether or not it is written with the name of the crate.
    fn of(attribute: &Attribute) -> Option<Self> {
        let segments = &attribute.path().segments;
        let known_path = match segments.len() {
            1 => true,
            2 => segments[0].ident == "oncemore",
            _ => false,
        };
        let name = segments.last().filter(|_| known_path)?.ident.to_string();
        match name.as_str() {
            "construct" => Some(Self::Construct),
            "retryable" => Some(Self::Retryable),
            "local" => Some(Self::Local),
            "also" => Some(Self::Also),
            _ => None,
        }
    }
}

impl Own {
    /// Takes them out of the attributes of an item.
    pub(crate) fn take(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Self {
        let mut own = Self::default();
        for (kind, attribute) in remove(attributes) {
            match kind {
                Kind::Construct => own.construct = Some(without_arguments(attribute, errors)),
                Kind::Retryable => own.retryable = Some(without_arguments(attribute, errors)),
                Kind::Local => own.local = Some(without_arguments(attribute, errors)),
                Kind::Also => own.also.extend(name_of(&attribute, errors)),
            }
        }
        own
    }
}

/// Takes them out, whatever is in them.
pub(crate) fn strip(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| Kind::of(attribute).is_none());
}

fn remove(attributes: &mut Vec<Attribute>) -> Vec<(Kind, Attribute)> {
    let found = attributes.iter().filter_map(|attribute| Some((Kind::of(attribute)?, attribute.clone()))).collect();
    strip(attributes);
    found
}

fn without_arguments(attribute: Attribute, errors: &mut Errors) -> Attribute {
    if attribute.meta.require_path_only().is_err() {
        errors.push(&attribute, "this attribute has no arguments: it is about the function that it stands on");
    }
    attribute
}

fn name_of(attribute: &Attribute, errors: &mut Errors) -> Option<LitStr> {
    if let Meta::NameValue(pair) = &attribute.meta
        && let Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) = &pair.value
        && !name.value().is_empty()
    {
        return Some(name.clone());
    }
    errors.push(attribute, "write the second name as `#[also = \"name\"]`");
    None
}

/// Those that a method has in common with the method of the stub.
pub(crate) fn copied_to_stub(attributes: &[Attribute]) -> Vec<Attribute> {
    let copied = |attribute: &&Attribute| ["doc", "deprecated"].iter().any(|name| attribute.path().is_ident(name));
    attributes.iter().filter(copied).cloned().collect()
}

/// Those that decide whether a method is there at all.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect()
}
