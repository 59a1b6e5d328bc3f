//! From the tokens of a block to what it says about a class.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, ImplItem, Item, ItemImpl, LitStr, Member, Path, PathArguments, Token, Type};

use crate::attributes::{self, Own};
use crate::errors::Errors;
use crate::method::{Constructor, Method, Role, refuse_on_others};
use crate::values;

/// A class of durable objects.
pub(crate) struct Class {
    /// The block, without the attributes of `#[durable_object]`.
    pub(crate) block: ItemImpl,
    /// The type, without generics.
    pub(crate) path: Path,
    /// The name under which hosts serve it.
    pub(crate) name: LitStr,
    /// The name of the type of its stubs.
    pub(crate) stub: Ident,
    /// What it extends.
    pub(crate) base: Option<Base>,
    /// What begins an incarnation.
    pub(crate) constructor: Constructor,
    /// In the order in which they are written.
    pub(crate) methods: Vec<Method>,
}

/// The class that another one extends.
pub(crate) struct Base {
    /// The field that holds the object of that class.
    pub(crate) field: Member,
    /// That class.
    pub(crate) class: Path,
    /// The type of its stubs, which stands beside it. By this name and not as the trait's `Stub`, since a public type's
    /// `Deref` must not mention a class that is private.
    pub(crate) stub: Path,
}

impl Class {
    /// Reads a class.
    pub(crate) fn parse(attribute: TokenStream, item: TokenStream) -> syn::Result<Self> {
        let mut errors = Errors::default();
        let options = syn::parse2::<Options>(attribute).unwrap_or_else(|error| {
            errors.add(error);
            Options::default()
        });
        let mut block = block(item)?;
        let path = class_path(&block.self_ty)?;
        check_block(&block, &mut errors);

        let (constructors, methods) = functions(&mut block, &path, &mut errors);
        check_duplicates(&methods, &mut errors);
        let constructor = one_constructor(constructors, &path, &mut errors);
        let class = constructor.zip(path.segments.last()).map(|(constructor, last)| Self {
            name: options.class.unwrap_or_else(|| LitStr::new(&last.ident.unraw().to_string(), last.ident.span())),
            stub: stub_name(&last.ident),
            base: options.base,
            path: path.clone(),
            block,
            constructor,
            methods,
        });
        errors.or(class)
    }
}

/// The item without the attributes of `#[durable_object]`, for use beside errors about it.
pub(crate) fn without_attributes(item: TokenStream) -> Option<ItemImpl> {
    let mut block = block(item).ok()?;
    block.items.iter_mut().filter_map(attributes_of).for_each(attributes::strip);
    Some(block)
}

fn block(item: TokenStream) -> syn::Result<ItemImpl> {
    let item: Item = syn::parse2(item)?;
    if let Item::Impl(block) = item {
        return Ok(block);
    }
    Err(syn::Error::new_spanned(item, "`#[durable_object]` stands on the `impl` block of a class"))
}

fn class_path(written: &Type) -> syn::Result<Path> {
    if let Some(path) = values::path(written) {
        let is_plain = path.segments.iter().all(|segment| matches!(segment.arguments, PathArguments::None));
        if is_plain {
            return Ok(path.clone());
        }
    }
    Err(syn::Error::new_spanned(
        written,
        "hosts serve a class under one name, so it has no generics: write the name of a struct or enum without any",
    ))
}

fn stub_name(class: &Ident) -> Ident {
    format_ident!("{}Stub", class.unraw(), span = class.span())
}

fn check_block(block: &ItemImpl, errors: &mut Errors) {
    if let Some((path, _)) = &block.trait_ {
        errors.push(path, "`#[durable_object]` stands on the class's own `impl` block, not on one for a trait");
    }
    if let Some(word) = &block.unsafety {
        errors.push(word, "a durable object is never `unsafe`: remove it");
    }
    if !block.generics.params.is_empty() {
        errors.push(&block.generics.params, "hosts serve a class under one name, so it has no generics");
    }
    if let Some(clause) = &block.generics.where_clause {
        errors.push(clause, "hosts serve a class under one name, so it has no `where` clause");
    }
}

/// Sorts the functions by what they are, and takes their attributes away.
fn functions(block: &mut ItemImpl, class: &Path, errors: &mut Errors) -> (Vec<Constructor>, Vec<Method>) {
    let (mut constructors, mut methods) = (Vec::new(), Vec::new());
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            match Role::take(function, class, errors) {
                Role::Constructor(constructor) => constructors.push(constructor),
                Role::Method(method) => methods.push(method),
                Role::Local => {}
            }
        } else if let Some(attributes) = attributes_of(item) {
            let own = Own::take(attributes, errors);
            refuse_on_others(&own, errors);
            for attribute in own.construct.iter().chain(&own.local) {
                errors.push(attribute, "this attribute stands on a function");
            }
        }
    }
    (constructors, methods)
}

fn attributes_of(item: &mut ImplItem) -> Option<&mut Vec<Attribute>> {
    match item {
        ImplItem::Const(item) => Some(&mut item.attrs),
        ImplItem::Fn(item) => Some(&mut item.attrs),
        ImplItem::Type(item) => Some(&mut item.attrs),
        ImplItem::Macro(item) => Some(&mut item.attrs),
        ImplItem::Verbatim(_) | _ => None,
    }
}

fn one_constructor(constructors: Vec<Constructor>, class: &Path, errors: &mut Errors) -> Option<Constructor> {
    let mut constructors = constructors.into_iter();
    let first = constructors.next();
    if first.is_none() {
        errors.push(
            class,
            "an incarnation has to begin somewhere: put `#[construct]` on the function that makes the object, such as \
             `fn new(context: Context) -> Self`",
        );
    }
    for other in constructors {
        errors.push(other.ident, "a class has one constructor, and this is another: remove one `#[construct]`");
    }
    first
}

fn check_duplicates(methods: &[Method], errors: &mut Errors) {
    let mut seen = BTreeMap::new();
    for method in methods {
        for name in method.names() {
            let Some(earlier) = seen.insert(name.value(), method) else {
                continue;
            };
            // Of two methods with conditions, one may be absent. If not, the compiler will say so.
            if earlier.conditions.is_empty() || method.conditions.is_empty() {
                errors.push(name, format_args!("callers know another method as `{}` already", name.value()));
            }
        }
    }
}

/// What stands in `#[durable_object(…)]`.
#[derive(Default)]
struct Options {
    class: Option<LitStr>,
    base: Option<Base>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            options.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn parse_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key: Ident = input.call(Ident::parse_any)?;
        let is_repeated = match key.to_string().as_str() {
            "class" => {
                input.parse::<Token![=]>()?;
                self.class.replace(class_name(input)?).is_some()
            }
            "extends" => self.base.replace(Base::parse(input)?).is_some(),
            _ => {
                let message = "unknown option: there are `class = \"Name\"` and `extends(field: Class)`";
                return Err(syn::Error::new(key.span(), message));
            }
        };
        if is_repeated {
            return Err(syn::Error::new(key.span(), format_args!("`{key}` is given twice: remove one")));
        }
        Ok(())
    }
}

fn class_name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name: LitStr = input.parse()?;
    if name.value().is_empty() {
        return Err(syn::Error::new(name.span(), "a class has a name"));
    }
    Ok(name)
}

impl Base {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        syn::parenthesized!(content in input);
        let field = content.parse()?;
        content.parse::<Token![:]>()?;
        let class = class_path(&content.parse()?)?;
        if !content.is_empty() {
            return Err(content.error("a class extends one other: `extends(field: Class)`"));
        }
        let mut stub = class.clone();
        if let Some(last) = stub.segments.last_mut() {
            last.ident = stub_name(&last.ident);
        }
        Ok(Self { field, class, stub })
    }
}
