//! The types of what travels: it travels by value, and both sides must know what it is (E3).

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, Path, PathArguments, ReturnType, Type, TypePath};

use crate::errors::Errors;

/// What a function gives back, as it is written.
pub(crate) enum Answer {
    /// `-> T`: it cannot fail.
    Value(TokenStream),
    /// `-> Result<T, E>`
    Result {
        /// `T`
        value: TokenStream,
        /// `E`
        error: TokenStream,
    },
}

impl Answer {
    /// What stands behind a function's arguments.
    pub(crate) fn parse(output: &ReturnType, class: &Path, errors: &mut Errors) -> Self {
        let ReturnType::Type(_, written) = output else {
            return Self::Value(quote!(()));
        };
        check(written, errors);
        match results(written) {
            Ok(Some((value, error))) => Self::Result { value: named(value, class), error: named(error, class) },
            Ok(None) => Self::Value(named(written, class)),
            Err(error) => {
                errors.add(error);
                Self::Value(quote!(()))
            }
        }
    }
}

/// The two types of a `Result`, or `None` if the type is another.
fn results(written: &Type) -> syn::Result<Option<(&Type, &Type)>> {
    let Some(last) = path(written).and_then(|path| path.segments.last()).filter(|last| last.ident == "Result") else {
        return Ok(None);
    };
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        let types: Vec<&GenericArgument> = arguments.args.iter().collect();
        if let [GenericArgument::Type(value), GenericArgument::Type(error)] = types[..] {
            return Ok(Some((value, error)));
        }
    }
    Err(syn::Error::new_spanned(
        written,
        "the type of the error cannot be seen here: write both types, as in `Result<u32, CartError>`",
    ))
}

/// The path that a type is, if it is one.
pub(crate) fn path(written: &Type) -> Option<&Path> {
    if let Type::Path(TypePath { qself: None, path, .. }) = written {
        Some(path)
    } else if let Type::Group(group) = written {
        // What a `macro_rules!` macro was given as a type arrives in a group.
        path(&group.elem)
    } else if let Type::Paren(inner) = written {
        path(&inner.elem)
    } else {
        None
    }
}

/// Complains about a type that cannot travel, as far as its text shows.
pub(crate) fn check(written: &Type, errors: &mut Errors) {
    if let Some((span, message)) = obstacle(written.to_token_stream()) {
        errors.add(syn::Error::new(span, message));
    }
}

fn obstacle(tokens: TokenStream) -> Option<(Span, &'static str)> {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => obstacle(group.stream()),
            TokenTree::Punct(punct) if punct.as_char() == '&' => Some((
                punct.span(),
                "calls travel by value, so nothing can be borrowed: write `String` for `&str`, `Vec<T>` for `&[T]`, \
                 and `T` for `&T`",
            )),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => match tokens.next() {
                Some(name) if name.to_string() != "static" => Some((
                    name.span(),
                    "calls travel by value, so nothing can be borrowed: write a type that owns its data",
                )),
                _ => None,
            },
            TokenTree::Ident(word) if word == "impl" => {
                Some((word.span(), "both sides of a call must know the type: write it out in place of `impl …`"))
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A type with the name of the class in place of `Self`, which means another type in the stub.
pub(crate) fn named(written: &Type, class: &Path) -> TokenStream {
    without_self(written.to_token_stream(), class)
}

fn without_self(tokens: TokenStream, class: &Path) -> TokenStream {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(word) if word == "Self" => respanned(class, &word),
            TokenTree::Group(group) => {
                let mut replaced = Group::new(group.delimiter(), without_self(group.stream(), class));
                replaced.set_span(group.span());
                TokenTree::from(replaced).into()
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token.into(),
        })
        .collect()
}

/// The path of the class where `Self` was written.
fn respanned(class: &Path, at: &Ident) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(at.span());
        token
    };
    class.to_token_stream().into_iter().map(respan).collect()
}
