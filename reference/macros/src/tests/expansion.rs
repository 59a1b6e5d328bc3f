//! What the macro writes.

use super::{class_of, expand};

/// The expansion, and what each of its parts must be in, without the white space that tokens are printed with.
#[track_caller]
fn assert_writes(attribute: &str, item: &str, parts: &[&str]) {
    let expansion =
        squeezed(&expand(attribute, item).map_or_else(|error| error.to_string(), |tokens| tokens.to_string()));
    for part in parts {
        assert!(expansion.contains(&squeezed(part)), "{part}\nis not in\n{expansion}");
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

const CART: &str = r#"
    impl Cart {
        const LIMIT: u32 = 5;
        #[construct]
        async fn new(context: Context) -> Result<Self, CartError> { todo!() }
        /// Sets a quantity.
        #[retryable]
        #[also = "setQuantity"]
        async fn set_quantity(&self, item: String, mut quantity: u32) -> Result<(), CartError> { todo!() }
        async fn r#type(&self) -> u32 { 1 }
        #[oncemore::retryable]
        #[cfg(unix)]
        async fn fetch(&self, request: Request) -> Result<Response, CartError> { todo!() }
        #[local]
        async fn save(&self) {}
    }
"#;

#[test]
fn the_block_stays_without_the_attributes() {
    let block = r#"
        impl Cart {
            const LIMIT: u32 = 5;
            async fn new(context: Context) -> Result<Self, CartError> { todo!() }
            #[doc = " Sets a quantity."]
            async fn set_quantity(&self, item: String, mut quantity: u32) -> Result<(), CartError> { todo!() }
            async fn r#type(&self) -> u32 { 1 }
            #[cfg(unix)]
            async fn fetch(&self, request: Request) -> Result<Response, CartError> { todo!() }
            async fn save(&self) {}
        }
    "#;
    assert_writes("", CART, &[block]);
    let item: proc_macro2::TokenStream = CART.parse().unwrap();
    let beside_errors = crate::parse::without_attributes(item).map(|block| quote::quote!(#block).to_string());
    assert_eq!(beside_errors.as_deref().map(squeezed), Some(squeezed(block)));
}

#[test]
fn the_object_has_its_name_and_its_marks_in_the_order_of_the_source() {
    let method = "::oncemore::__private::Member::Method(&::oncemore::__private::Function::";
    let marks = format!(
        "const MARKS: ::oncemore::__private::MarkTable<'static> = ::oncemore::__private::MarkTable::new(&[
            (\"set_quantity\", {method}MARKED)), (\"setQuantity\", {method}MARKED)), (\"type\", {method}UNMARKED)),
            #[cfg(unix)] (\"fetch\", {method}MARKED))
        ]);"
    );
    let parts = [
        "impl ::oncemore::DurableObject for Cart",
        "const CLASS: &'static str = \"Cart\"; type Stub = CartStub;",
        "::core::result::Result::map_err(Self::new(context).await,
            ::core::convert::Into::<::oncemore::ConstructError>::into,)",
        &marks,
    ];
    assert_writes("", CART, &parts);
    assert_writes("class = \"Trolley\"", CART, &["const CLASS: &'static str = \"Trolley\"; type Stub = CartStub;"]);
    assert_writes("", &class_of(""), &["Ok(Self::new(context))"]);
}

#[test]
fn calls_are_dispatched_by_all_names() {
    let parts = [
        "\"set_quantity\" | \"setQuantity\" => ::std::boxed::Box::pin(async move {
            match input.arguments::<(String, u32,)>() {
                ::core::result::Result::Ok((argument_0, argument_1,)) =>
                    ::oncemore::Output::ended::<(), CartError>(&Self::set_quantity(self, argument_0, argument_1).await),
                ::core::result::Result::Err(output) => output,
            }
        }),",
        "\"type\" => ::std::boxed::Box::pin(async move { match input.arguments::<()>() {
            ::core::result::Result::Ok(()) => ::oncemore::Output::returned::<u32>(&Self::r#type(self,).await),",
        "#[cfg(unix)] \"fetch\" => ::std::boxed::Box::pin(async move { match input.request() {
            ::core::result::Result::Ok(argument_0) =>
                ::oncemore::Output::responded::<CartError>(Self::fetch(self, argument_0).await),",
        "_ => ::std::boxed::Box::pin(::core::future::ready(::oncemore::Output::UnknownMethod)),",
    ];
    assert_writes("", CART, &parts);
    let infallible = class_of("async fn fetch(&self, request: Request) -> Response { todo!() }");
    assert_writes("", &infallible, &["responded::<::oncemore::Never>(::core::result::Result::Ok(Self::fetch("]);
}

#[test]
fn the_stub_has_the_methods() {
    let parts = [
        "pub struct CartStub { stub: ::oncemore::Stub, }",
        "impl ::core::convert::From<::oncemore::Stub> for CartStub",
        "pub fn as_stub(&self) -> &::oncemore::Stub",
        "#[doc = \" Sets a quantity.\"] #[doc = \"\"] #[doc = \"# Errors\"]",
        "pub async fn set_quantity(&self, item: String, quantity: u32)
            -> ::core::result::Result<(), ::oncemore::CallError<CartError>> {
            self.stub.call(\"set_quantity\", &(item, quantity,)).await
        }",
        "#[doc = \"Calls `type` of a `Cart`.\"]",
        "pub async fn r#type(&self,) -> ::core::result::Result<u32, ::oncemore::CallError<::oncemore::Never>> {
            self.stub.call(\"type\", &()).await
        }",
        "pub async fn fetch(&self, request: ::oncemore::Request)
            -> ::core::result::Result<::oncemore::Response, ::oncemore::CallError<CartError>> {
            self.stub.fetch(request).await
        }",
    ];
    assert_writes("", CART, &parts);
}

#[test]
fn a_class_that_extends_another_falls_back_to_it() {
    let parts = [
        ".extending(&<shop::Basket as ::oncemore::DurableObject>::MARKS);",
        "_ => <shop::Basket as ::oncemore::DurableObject>::dispatch(&self.base, method, input),",
        "pub struct CartStub { base: shop::BasketStub, stub: ::oncemore::Stub, }",
        "impl ::core::ops::Deref for CartStub { type Target = shop::BasketStub;",
    ];
    assert_writes("extends(base: shop::Basket)", CART, &parts);
    assert_writes(
        "extends(0: Basket)",
        CART,
        &["<Basket as ::oncemore::DurableObject>::dispatch(&self.0, method, input)"],
    );
}

#[test]
fn self_is_the_class_in_the_stub_too() {
    let class = class_of("async fn m(&self, other: Vec<Self>) -> Result<Self::Total, CartError> { todo!() }");
    let stub = "pub async fn m(&self, other: Vec<Cart>) -> ::core::result::Result<Cart::Total, ";
    assert_writes("", &class, &[stub, "input.arguments::<(Vec<Cart>,)>()", "ended::<Cart::Total, CartError>"]);
}

#[test]
fn documentation_that_speaks_of_errors_is_not_added_to() {
    let class = class_of("/// Adds.\n///\n/// # Errors\n/// If there is none.\nasync fn add(&self) {}");
    let documented =
        "#[doc = \" Adds.\"] #[doc = \"\"] #[doc = \" # Errors\"] #[doc = \" If there is none.\"] pub async fn add(";
    assert_writes("", &class, &[documented]);
}
