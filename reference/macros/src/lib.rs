//! The attribute that makes a durable object of an `impl` block. Use it through the crate `oncemore`.
//!
//! ```ignore
//! use std::cell::RefCell;
//! use std::collections::BTreeMap;
//!
//! use oncemore::{CallError, Context, Request, Response, UserError, durable_object};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, thiserror::Error, Serialize, Deserialize)]
//! enum CartError {
//!     #[error("{0} is not in the cart")]
//!     NotInTheCart(String),
//! }
//!
//! impl UserError for CartError {}
//!
//! /// What it holds is in memory, and ends with its incarnation; what has to stay goes to storage.
//! struct Cart {
//!     context: Context,
//!     quantities: RefCell<BTreeMap<String, u32>>,
//! }
//!
//! #[durable_object]
//! impl Cart {
//!     /// An incarnation begins: before it answers anything, and after every restart and move.
//!     #[construct]
//!     async fn new(context: Context) -> Result<Self, CartError> {
//!         Ok(Self { context, quantities: RefCell::default() })
//!     }
//!
//!     /// Idempotent: a second run sets the same quantity.
//!     #[retryable]
//!     async fn set_quantity(&self, item: String, quantity: u32) -> Result<(), CartError> {
//!         self.quantities.borrow_mut().insert(item, quantity);
//!         Ok(())
//!     }
//!
//!     /// A second run would add another one, so it is not marked, and never runs again for a retry.
//!     async fn add_one(&self, item: String) -> Result<u32, CartError> {
//!         let mut quantities = self.quantities.borrow_mut();
//!         let quantity = quantities.get_mut(&item).ok_or(CartError::NotInTheCart(item))?;
//!         *quantity += 1;
//!         Ok(*quantity)
//!     }
//!
//!     /// It cannot fail, but a call of it can.
//!     #[retryable]
//!     async fn total(&self) -> u32 {
//!         self.sum()
//!     }
//!
//!     /// HTTP.
//!     #[retryable]
//!     async fn fetch(&self, request: Request) -> Result<Response, CartError> {
//!         Ok(Response::new(format!("{}: {} items", request.uri().path(), self.sum()).into()))
//!     }
//!
//!     /// No method, since it is not `async`: callers cannot reach it.
//!     fn sum(&self) -> u32 {
//!         self.quantities.borrow().values().sum()
//!     }
//! }
//!
//! /// A caller, and `#[durable_object]` wrote the type of its stub.
//! async fn buy(cart: &CartStub) -> Result<u32, CallError<CartError>> {
//!     cart.set_quantity("apples".into(), 3).await?;
//!     cart.add_one("apples".into()).await
//! }
//! ```
//!
//! See [`macro@durable_object`] for what it reads and what it writes.

mod attributes;
mod errors;
mod expand;
mod method;
mod parse;
#[cfg(test)]
mod tests;
mod values;

use proc_macro::TokenStream;
use quote::quote;

/// Makes a class of durable objects of the `impl` block of a type.
///
/// # What stands in the block
///
/// | function | is |
/// |---|---|
/// | `async fn` with `&self` | a method: callers can call it, whatever its visibility |
/// | the same, named `fetch` | the handler for HTTP: it takes a `Request` and returns a `Response` |
/// | marked `#[construct]`, `async` or not | the constructor: from a `Context` to `Self` or `Result<Self, E>` |
/// | marked `#[local]` | no method: it is left alone |
/// | any other: not `async`, or without `self` | no method: it is left alone |
///
/// There is exactly one constructor. A method takes up to 16 arguments, by value, each with a name and of a type that
/// serde can write and read (E3). It returns `Result<T, E>`, where `E` implements `UserError`, or a `T` if it cannot
/// fail; callers then get the error type `Never`. A method fails in this way only if its return type is *written* as
/// a path that ends in `Result` and has two types: behind an alias of another name, a `Result` is a value like any
/// other.
///
/// An `async fn` that takes `self` in any other way is an error without `#[local]`: methods share the object, since
/// others run while one waits. What a macro within the block writes is not seen, and neither is an attribute inside
/// `cfg_attr`; `#[cfg]` on a method works.
///
/// # Attributes of a method
///
/// * `#[retryable]`: running it twice for one call is harmless (M1). The mark belongs to the function (M2): a class
///   that extends this one inherits it with the function, and an override has none until it is marked too.
/// * `#[also = "name"]`: a second name by which callers may call the same function, with the same mark. Stubs use the
///   first; this one is for callers that know an older name, or are not written in Rust. It can be repeated.
///
/// # Options
///
/// * `#[durable_object(class = "Name")]`: the name under which hosts serve the class. Without it, that of the type.
/// * `#[durable_object(extends(base: Basket))]`: the class offers what `Basket` offers, too, and inherits its marks.
///   The object holds one of that class in the named field, and its constructor makes it. A method of the same name
///   overrides the inherited one, and may call it: `self.base.total().await`. There is no way back: a method of
///   `Basket` that calls another one reaches that of `Basket`. A `#[local]` function overrides nothing, and an
///   override takes one name: what else the inherited function is called by (`#[also]`) still reaches the inherited
///   one.
///
/// # What it writes
///
/// The block as it is, an implementation of `DurableObject`, and a type of stubs: `CartStub` for `Cart`. The stub has
/// a method for each of the class, with the same documentation and arguments, and `Result<T, CallError<E>>` in place
/// of what the method returns. It has `as_stub()`, implements `Clone`, `Debug` and `From<Stub>`, and for a class that
/// extends another, `Deref` to that one's stub, which must stand under its name beside that class: `shop::BasketStub`
/// for `extends(base: shop::Basket)`.
///
/// # Marks in JavaScript, and here
///
/// `facts/marks.json` lists what the production runtime takes as marked. Here a mark is part of the class's text, so
///
/// * *the same*: methods declared, inherited, or overridden, the override being marked or not, and calling the
///   overridden one or not; a second name (`#[also]`); a function assigned, bound or wrapped (a method that calls it,
///   with the mark that it is given); `fetch`, marked, overridden and inherited; names that do not exist; getters (a
///   function that is not `async` is not offered, so its name is unknown and unmarked); reading a property, which is
///   unmarked;
/// * *the same, and shorter*: the constructor cannot be called, as it is not in the table;
/// * *without a counterpart*: proxies, generators, functions copied by their properties, what every JavaScript object
///   inherits, properties of one instance, methods that are added or marked while the program runs;
/// * *an error of the compiler*: a mark on something that is no method, alone or among others. In JavaScript this is
///   the `TypeError` of `facts/retryable_calls.json`.
#[proc_macro_attribute]
pub fn durable_object(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let original = proc_macro2::TokenStream::from(item);
    let expanded = expand::expand(attribute.into(), original.clone()).unwrap_or_else(|errors| {
        // The block stays, so that whatever else uses its functions adds no errors of its own.
        let errors = errors.to_compile_error();
        match parse::without_attributes(original.clone()) {
            Some(block) => quote!(#block #errors),
            None => quote!(#original #errors),
        }
    });
    expanded.into()
}

/// Marks a method inside a block under [`macro@durable_object`]: running it twice for one call is harmless (M1).
///
/// It never runs by itself: anywhere else it is an error.
#[proc_macro_attribute]
pub fn retryable(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("retryable", "a method", item)
}

/// Names the constructor inside a block under [`macro@durable_object`].
///
/// It never runs by itself: anywhere else it is an error.
#[proc_macro_attribute]
pub fn construct(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("construct", "the constructor", item)
}

/// Keeps an `async fn` with `&self` inside a block under [`macro@durable_object`] from callers.
///
/// It never runs by itself: anywhere else it is an error.
#[proc_macro_attribute]
pub fn local(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("local", "a function", item)
}

fn misplaced(attribute: &str, place: &str, item: TokenStream) -> TokenStream {
    let error = expand::misplaced(attribute, place).to_compile_error();
    let item = proc_macro2::TokenStream::from(item);
    quote!(#error #item).into()
}
