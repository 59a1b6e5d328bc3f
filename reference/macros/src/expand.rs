//! From a class to what it needs: the implementation of the trait, and the type of its stubs.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Path};

use crate::method::{Argument, Method};
use crate::parse::{Base, Class};
use crate::values::Answer;

/// Writes a class.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let class = Class::parse(attribute, item)?;
    let block = &class.block;
    let object = object(&class);
    let stub = stub(&class);
    let methods = stub_methods(&class);
    Ok(quote! {
        #block
        #object
        #stub
        #methods
    })
}

/// `impl DurableObject for …`
fn object(class: &Class) -> TokenStream {
    let Class { path, name, stub, .. } = class;
    let marks = marks(class);
    let construct = construct(class);
    let dispatch = dispatch(class);
    quote! {
        #[automatically_derived]
        #[allow(deprecated, unused_variables)]
        impl ::oncemore::DurableObject for #path {
            const CLASS: &'static str = #name;
            type Stub = #stub;
            const MARKS: ::oncemore::__private::MarkTable<'static> = #marks;
            #construct
            #dispatch
        }
    }
}

/// The table of marks. A second name is a second reference to the same function (M2).
fn marks(class: &Class) -> TokenStream {
    let members = class.methods.iter().flat_map(|method| {
        let conditions = &method.conditions;
        let mark = if method.is_retryable { quote!(MARKED) } else { quote!(UNMARKED) };
        method.names().map(move |name| {
            quote! {
                #(#conditions)*
                (#name, ::oncemore::__private::Member::Method(&::oncemore::__private::Function::#mark))
            }
        })
    });
    let own = quote!(::oncemore::__private::MarkTable::new(&[#(#members),*]));
    match &class.base {
        Some(Base { class, .. }) => quote!(#own.extending(&<#class as ::oncemore::DurableObject>::MARKS)),
        None => own,
    }
}

fn construct(class: &Class) -> TokenStream {
    let ident = &class.constructor.ident;
    let here = at(ident);
    let wait = class.constructor.is_async.then(|| quote!(.await));
    let made = match &class.constructor.answer {
        Answer::Value(_) => quote_spanned!(here=> ::core::result::Result::Ok(Self::#ident(context)#wait)),
        Answer::Result { .. } => quote_spanned! {here=>
            ::core::result::Result::map_err(
                Self::#ident(context)#wait,
                ::core::convert::Into::<::oncemore::ConstructError>::into,
            )
        },
    };
    quote_spanned! {here=>
        fn construct(
            context: ::oncemore::Context,
        ) -> ::oncemore::__private::LocalBoxFuture<'static, ::core::result::Result<Self, ::oncemore::ConstructError>> {
            ::std::boxed::Box::pin(async move { #made })
        }
    }
}

fn dispatch(class: &Class) -> TokenStream {
    let arms = class.methods.iter().map(dispatch_arm);
    let other = match &class.base {
        Some(Base { field, class, .. }) => {
            let object = quote_spanned!(at(class)=> &self.#field);
            quote!(<#class as ::oncemore::DurableObject>::dispatch(#object, method, input))
        }
        None => quote!(::std::boxed::Box::pin(::core::future::ready(::oncemore::Output::UnknownMethod))),
    };
    quote! {
        fn dispatch<'a>(
            &'a self,
            method: &'a str,
            input: ::oncemore::Input,
        ) -> ::oncemore::__private::LocalBoxFuture<'a, ::oncemore::Output> {
            match method {
                #(#arms)*
                _ => #other,
            }
        }
    }
}

fn dispatch_arm(method: &Method) -> TokenStream {
    let Method { ident, conditions, .. } = method;
    let here = at(ident);
    let names = method.names();
    let values: Vec<Ident> = method.arguments.iter().enumerate().map(value).collect();
    let (decode, pattern) = if method.is_fetch() {
        (quote!(input.request()), quote!(#(#values)*))
    } else {
        let types = method.arguments.iter().map(|argument| &argument.written);
        (quote_spanned!(here=> input.arguments::<(#(#types,)*)>()), quote!((#(#values,)*)))
    };
    let output = output(method, &quote_spanned!(here=> Self::#ident(self, #(#values),*).await));
    quote_spanned! {here=>
        #(#conditions)*
        #(#names)|* => ::std::boxed::Box::pin(async move {
            match #decode {
                ::core::result::Result::Ok(#pattern) => #output,
                ::core::result::Result::Err(output) => output,
            }
        }),
    }
}

/// The variable for the argument at an index.
fn value((index, argument): (usize, &Argument)) -> Ident {
    Ident::new(&format!("argument_{index}"), at(&argument.written))
}

/// How a method ended, given the call of it.
fn output(method: &Method, call: &TokenStream) -> TokenStream {
    let here = at(&method.ident);
    match &method.answer {
        Answer::Value(_) if method.is_fetch() => quote_spanned! {here=>
            ::oncemore::Output::responded::<::oncemore::Never>(::core::result::Result::Ok(#call))
        },
        Answer::Result { error, .. } if method.is_fetch() => {
            quote_spanned!(here=> ::oncemore::Output::responded::<#error>(#call))
        }
        Answer::Value(value) => quote_spanned!(here=> ::oncemore::Output::returned::<#value>(&#call)),
        Answer::Result { value, error } => quote_spanned!(here=> ::oncemore::Output::ended::<#value, #error>(&#call)),
    }
}

/// Where an error of the compiler about something that is written for these tokens should point.
///
/// Only the place is theirs. Names mean what they mean to the macro, even if a `macro_rules!` macro wrote the tokens.
fn at(tokens: impl Spanned) -> Span {
    Span::call_site().located_at(tokens.span())
}

/// The type of the stubs, and how to get from it to others.
fn stub(class: &Class) -> TokenStream {
    let stub = &class.stub;
    let documentation = format!(
        "What callers call the methods of `{}` on: each method sends a call to the object, which may be elsewhere.",
        class.path.to_token_stream().to_string().replace(' ', "")
    );
    let base = class.base.as_ref().map(|base| &base.stub);
    let base_field = base.map(|base| quote!(base: #base,));
    let base_value = base.map(|base| {
        quote! {
            base: <#base as ::core::convert::From<::oncemore::Stub>>::from(::core::clone::Clone::clone(&stub)),
        }
    });
    let deref = base.map(|base| deref(stub, base));
    quote! {
        #[doc = #documentation]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #[allow(dead_code, unreachable_pub)]
        pub struct #stub {
            #base_field
            stub: ::oncemore::Stub,
        }

        #[automatically_derived]
        impl ::core::convert::From<::oncemore::Stub> for #stub {
            fn from(stub: ::oncemore::Stub) -> Self {
                Self { #base_value stub }
            }
        }

        #deref
    }
}

/// The methods of the class that it extends can be called on the stub as well.
fn deref(stub: &Ident, base: &Path) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::core::ops::Deref for #stub {
            type Target = #base;
            fn deref(&self) -> &Self::Target {
                &self.base
            }
        }
    }
}

fn stub_methods(class: &Class) -> TokenStream {
    let stub = &class.stub;
    let methods = class.methods.iter().map(|method| stub_method(class, method));
    quote! {
        #[automatically_derived]
        #[allow(clippy::too_many_arguments, dead_code, deprecated, private_interfaces, unreachable_pub)]
        impl #stub {
            /// The stub without the types of the class.
            #[must_use]
            pub fn as_stub(&self) -> &::oncemore::Stub {
                &self.stub
            }

            #(#methods)*
        }
    }
}

fn stub_method(class: &Class, method: &Method) -> TokenStream {
    let Method { ident, name, copied, conditions, .. } = method;
    let here = at(ident);
    let documentation = documentation(class, method);
    let arguments: Vec<&Ident> = method.arguments.iter().map(|argument| &argument.ident).collect();
    let (value, error) = match &method.answer {
        Answer::Value(value) => (value.clone(), quote!(::oncemore::Never)),
        Answer::Result { value, error } => (value.clone(), error.clone()),
    };
    let (parameters, value, call) = if method.is_fetch() {
        (
            quote!(#(#arguments: ::oncemore::Request)*),
            quote!(::oncemore::Response),
            quote_spanned!(here=> fetch(#(#arguments)*)),
        )
    } else {
        let types = method.arguments.iter().map(|argument| &argument.written);
        (quote!(#(#arguments: #types),*), value, quote_spanned!(here=> call(#name, &(#(#arguments,)*))))
    };
    quote_spanned! {here=>
        #(#conditions)*
        #(#copied)*
        #documentation
        pub async fn #ident(&self, #parameters) -> ::core::result::Result<#value, ::oncemore::CallError<#error>> {
            self.stub.#call.await
        }
    }
}

/// What the documentation of a stub's method says beyond that of the method.
fn documentation(class: &Class, method: &Method) -> TokenStream {
    let own: Vec<String> = method.copied.iter().filter_map(text).collect();
    let mut lines = Vec::new();
    if own.is_empty() {
        let class = class.path.to_token_stream().to_string().replace(' ', "");
        lines.push(format!("Calls `{}` of a `{class}`.", method.name.value()));
    }
    if !own.iter().any(|line| line.contains("# Errors")) {
        lines.extend(["", "# Errors", "What the method threw, or why the call failed."].map(String::from));
    }
    quote!(#(#[doc = #lines])*)
}

/// The text of an attribute of documentation.
fn text(attribute: &Attribute) -> Option<String> {
    let documentation = attribute.meta.require_name_value().ok().filter(|pair| pair.path.is_ident("doc"))?;
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &documentation.value else {
        // The text is in another file, or a macro makes it.
        return Some(String::new());
    };
    Some(text.value())
}

/// What an attribute of a block says elsewhere.
pub(crate) fn misplaced(attribute: &str, place: &str) -> syn::Error {
    let message = format!(
        "`#[{attribute}]` stands on {place} in an `impl` block under `#[durable_object]`, and not inside `cfg_attr`"
    );
    syn::Error::new(Span::call_site(), message)
}
