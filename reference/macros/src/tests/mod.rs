//! The macro as a function from tokens to tokens.

mod expansion;
mod facts;
mod refusals;

use proc_macro2::TokenStream;

/// Expands `#[durable_object(attribute)] item`.
fn expand(attribute: &str, item: &str) -> syn::Result<TokenStream> {
    let parse = |text: &str| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    crate::expand::expand(parse(attribute), parse(item))
}

/// A class with a constructor, and these functions beside it.
fn class_of(functions: &str) -> String {
    format!("impl Cart {{ #[construct] fn new(context: Context) -> Self {{ Self }} {functions} }}")
}
