//! The functions of a block: methods of the object, its constructor, and those that are left alone.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, Ident, ImplItemFn, LitStr, Pat, PatType, Path, Receiver, ReceiverKind, ReturnType, Safety,
    Signature,
};

use crate::attributes::{self, Own};
use crate::errors::Errors;
use crate::values::{self, Answer};

/// As many arguments as a tuple may have that serde can write.
const ARGUMENTS_MAX: usize = 16;

/// The name under which a class offers its handler for `fetch`.
const FETCH: &str = "fetch";

/// What the stub calls a method of its own.
const AS_STUB: &str = "as_stub";

/// A method that callers may call.
pub(crate) struct Method {
    /// The function.
    pub(crate) ident: Ident,
    /// What callers call it.
    pub(crate) name: LitStr,
    /// What they may call it as well.
    pub(crate) also: Vec<LitStr>,
    /// Whether it is marked (M2).
    pub(crate) is_retryable: bool,
    /// Its arguments, without `&self`.
    pub(crate) arguments: Vec<Argument>,
    /// What it gives back.
    pub(crate) answer: Answer,
    /// Its documentation, for the stub.
    pub(crate) copied: Vec<Attribute>,
    /// Under what conditions it is there.
    pub(crate) conditions: Vec<Attribute>,
}

/// An argument of a method.
pub(crate) struct Argument {
    /// Its name.
    pub(crate) ident: Ident,
    /// Its type.
    pub(crate) written: TokenStream,
}

/// The function that makes an object at the start of an incarnation.
pub(crate) struct Constructor {
    /// The function.
    pub(crate) ident: Ident,
    /// Whether it waits for something.
    pub(crate) is_async: bool,
    /// What it gives back.
    pub(crate) answer: Answer,
}

/// What a function of the block is.
pub(crate) enum Role {
    /// A method of the object.
    Method(Method),
    /// The constructor.
    Constructor(Constructor),
    /// No business of callers.
    Local,
}

impl Role {
    /// Takes the attributes of `#[durable_object]` from a function, and says what it is.
    pub(crate) fn take(function: &mut ImplItemFn, class: &Path, errors: &mut Errors) -> Self {
        let own = Own::take(&mut function.attrs, errors);
        let is_method = own.local.is_none() && function.sig.asyncness.is_some() && function.sig.receiver().is_some();
        if let Some(attribute) = &own.construct {
            refuse_on_constructor(&own, errors);
            Self::Constructor(constructor(attribute, function, class, errors))
        } else if is_method {
            Self::Method(method(own, function, class, errors))
        } else {
            refuse_on_others(&own, errors);
            Self::Local
        }
    }
}

impl Method {
    /// Whether it is the handler for `fetch`.
    pub(crate) fn is_fetch(&self) -> bool {
        self.name.value() == FETCH
    }

    /// All its names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &LitStr> {
        std::iter::once(&self.name).chain(&self.also)
    }
}

fn refuse_on_constructor(own: &Own, errors: &mut Errors) {
    for attribute in own.retryable.iter().chain(&own.local) {
        errors
            .push(attribute, "callers cannot call the constructor, so this attribute has no meaning on it: remove it");
    }
    for name in &own.also {
        errors.push(name, "callers cannot call the constructor, so it needs no second name: remove it");
    }
}

/// What `#[retryable]` and `#[also]` say where there is no method.
pub(crate) fn refuse_on_others(own: &Own, errors: &mut Errors) {
    if let Some(attribute) = &own.retryable {
        errors.push(
            attribute,
            "only a method of the object can be marked, and this is none: a method is an `async fn` with `&self` and \
             without `#[local]`",
        );
    }
    for name in &own.also {
        errors.push(
            name,
            "only a method of the object can have a second name, and this is none: a method is an `async fn` with \
             `&self` and without `#[local]`",
        );
    }
}

fn method(own: Own, function: &ImplItemFn, class: &Path, errors: &mut Errors) -> Method {
    let signature = &function.sig;
    refuse_unusual(signature, errors);
    if let Some(receiver) = signature.receiver() {
        check_receiver(receiver, errors);
    }
    let method = Method {
        ident: signature.ident.clone(),
        name: LitStr::new(&signature.ident.unraw().to_string(), signature.ident.span()),
        also: own.also,
        is_retryable: own.retryable.is_some(),
        arguments: arguments(signature, class, errors),
        answer: Answer::parse(&signature.output, class, errors),
        copied: attributes::copied_to_stub(&function.attrs),
        conditions: attributes::conditions(&function.attrs),
    };
    check_names(&method, errors);
    check_number_of_arguments(&method, signature, errors);
    method
}

fn check_names(method: &Method, errors: &mut Errors) {
    if method.name.value() == AS_STUB {
        errors.push(&method.ident, "every stub has a method of this name already: choose another, or add `#[local]`");
    }
    if method.is_fetch() {
        for name in &method.also {
            errors.push(name, "`fetch` is called by requests, which name no method: it cannot have a second name");
        }
    }
    for name in method.also.iter().filter(|name| name.value() == FETCH) {
        errors.push(name, "`fetch` is called with a request: write a method of that name, which takes one");
    }
}

fn check_number_of_arguments(method: &Method, signature: &Signature, errors: &mut Errors) {
    if method.is_fetch() && method.arguments.len() != 1 {
        errors.push(
            signature,
            "`fetch` takes a request and nothing else: write `async fn fetch(&self, request: Request) -> \
             Result<Response, E>`, or add `#[local]`",
        );
    }
    if let Some(argument) = method.arguments.get(ARGUMENTS_MAX) {
        errors.push(
            &argument.ident,
            format_args!("a method takes at most {ARGUMENTS_MAX} arguments: put some of them into a struct"),
        );
    }
}

fn check_receiver(receiver: &Receiver, errors: &mut Errors) {
    let is_shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    if !is_shared {
        errors.push(
            receiver,
            "a method takes `&self`, because others run while it waits: keep what changes in storage or a `RefCell`, \
             or add `#[local]` if callers are not to call it",
        );
    }
}

fn arguments(signature: &Signature, class: &Path, errors: &mut Errors) -> Vec<Argument> {
    signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(typed) => argument(typed, class, errors),
        })
        .collect()
}

fn argument(typed: &PatType, class: &Path, errors: &mut Errors) -> Option<Argument> {
    values::check(&typed.ty, errors);
    if let Some(attribute) = attributes::conditions(&typed.attrs).first() {
        errors.push(attribute, "callers and object must agree on the arguments: put the condition on the whole method");
    }
    if let Pat::Ident(name) = &*typed.pat
        && name.by_ref.is_none()
        && name.subpat.is_none()
    {
        return Some(Argument { ident: name.ident.clone(), written: values::named(&typed.ty, class) });
    }
    errors.push(&typed.pat, "callers see this argument: give it a name, and take it apart in the body");
    None
}

fn constructor(attribute: &Attribute, function: &ImplItemFn, class: &Path, errors: &mut Errors) -> Constructor {
    let signature = &function.sig;
    refuse_unusual(signature, errors);
    if let Some(receiver) = signature.receiver() {
        errors.push(receiver, "the constructor makes the object, so there is no `self` yet: take a `Context`");
    } else if signature.inputs.len() != 1 {
        errors.push(signature, "the constructor takes a `Context` and nothing else");
    }
    if matches!(signature.output, ReturnType::Default) {
        errors.push(attribute, "the constructor returns `Self` or `Result<Self, E>`");
    }
    Constructor {
        ident: signature.ident.clone(),
        is_async: signature.asyncness.is_some(),
        answer: Answer::parse(&signature.output, class, errors),
    }
}

fn refuse_unusual(signature: &Signature, errors: &mut Errors) {
    match &signature.safety {
        Safety::Unsafe(word) => errors.push(word, "a caller elsewhere can promise nothing: remove `unsafe`"),
        Safety::Safe(word) => errors.push(word, "this word has no meaning here: remove `safe`"),
        Safety::Default => {}
    }
    if let Some(abi) = &signature.abi {
        errors.push(abi, "callers do not use the function's ABI: remove it");
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        errors
            .push(&generics.params, "a call from elsewhere cannot choose types or lifetimes: write out what it takes");
    }
    if let Some(clause) = &generics.where_clause {
        errors.push(clause.to_token_stream(), "a call from elsewhere cannot choose types: remove the `where` clause");
    }
}
