//! What the macro refuses: the text of each error says what to do, and it stands where the mistake is.

use super::{class_of, expand};

/// Of each error what it points at, and its text.
fn complaints(attribute: &str, item: &str) -> Vec<(String, String)> {
    let Err(errors) = expand(attribute, item) else {
        return Vec::new();
    };
    errors.into_iter().map(|error| (error.span().source_text().unwrap_or_default(), error.to_string())).collect()
}

/// There is one error; it points at `place`, and says `advice`.
#[track_caller]
fn assert_refused(attribute: &str, item: &str, place: &str, advice: &str) {
    let complaints = complaints(attribute, item);
    match &complaints[..] {
        [(at, text)] => assert!(at == place && text.contains(advice), "{item}\n{complaints:#?}"),
        _ => panic!("{item}\n{complaints:#?}"),
    }
}

/// As [`assert_refused`], for a function beside a constructor.
#[track_caller]
fn assert_function_refused(function: &str, place: &str, advice: &str) {
    assert_refused("", &class_of(function), place, advice);
}

#[test]
fn what_would_be_borrowed_or_unknown_cannot_travel() {
    for (function, place, advice) in [
        ("async fn m(&self, item: &str) {}", "&", "write `String` for `&str`"),
        ("async fn m(&self, items: Vec<(u8, &[u8])>) {}", "&", "`Vec<T>` for `&[T]`"),
        ("async fn m(&self) -> Result<&str, CartError> { todo!() }", "&", "nothing can be borrowed"),
        ("async fn m(&self, item: Cow<'_, str>) {}", "_", "a type that owns its data"),
        ("async fn m(&self, item: impl Into<String>) {}", "impl", "write it out in place of `impl …`"),
        ("async fn m(&self) -> impl Serialize {}", "impl", "write it out"),
        ("async fn m<T: Serialize>(&self, item: T) {}", "T: Serialize", "cannot choose types or lifetimes"),
        ("async fn m<'a>(&'a self) {}", "'a", "cannot choose types or lifetimes"),
        ("async fn m(&self) where Self: Sized {}", "where Self: Sized", "remove the `where` clause"),
    ] {
        assert_function_refused(function, place, advice);
    }
    assert!(complaints("", &class_of("async fn m(&self, item: Cow<'static, str>) {}")).is_empty());
}

#[test]
fn an_argument_has_a_name_and_there_are_at_most_sixteen() {
    assert_function_refused("async fn m(&self, (a, b): (u8, u8)) {}", "(a, b)", "give it a name");
    assert_function_refused("async fn m(&self, _: u8) {}", "_", "give it a name");
    assert_function_refused("async fn m(&self, ref a: u8) {}", "ref a", "give it a name");
    assert_function_refused("async fn m(&self, #[cfg(unix)] a: u8) {}", "#[cfg(unix)]", "on the whole method");

    let with = |count: u8| {
        let arguments: String = (0..count).map(|index| format!(", a{index}: u8")).collect();
        format!("async fn m(&self{arguments}) {{}}")
    };
    assert!(complaints("", &class_of(&with(16))).is_empty());
    assert_function_refused(&with(17), "a16", "at most 16 arguments: put some of them into a struct");
    assert!(complaints("", &class_of("async fn m(&self, mut a: u8) {}")).is_empty());
}

#[test]
fn a_method_shares_the_object() {
    for receiver in ["self", "mut self", "&mut self", "self: Box<Self>"] {
        assert_function_refused(&format!("async fn m({receiver}) {{}}"), receiver, "takes `&self`");
        let left_alone = format!("#[local] async fn m({receiver}) {{}} fn n({receiver}) {{}}");
        assert!(complaints("", &class_of(&left_alone)).is_empty());
    }
}

#[test]
fn a_method_is_a_plain_function() {
    assert_function_refused("async unsafe fn m(&self) {}", "unsafe", "remove `unsafe`");
    assert_function_refused("async extern \"C\" fn m(&self) {}", "extern \"C\"", "remove it");
}

#[test]
fn the_type_of_the_error_is_written_out() {
    for alias in ["Result<u32>", "io::Result<u32>", "Result"] {
        let function = format!("async fn m(&self) -> {alias} {{ todo!() }}");
        assert_function_refused(&function, alias, "write both types, as in `Result<u32, CartError>`");
    }
    for answer in ["std::result::Result<u32, E>", "Outcome<u32>", "(Result<u32, E>, u8)"] {
        assert!(complaints("", &class_of(&format!("async fn m(&self) -> {answer} {{}}"))).is_empty());
    }
}

#[test]
fn no_two_methods_have_one_name() {
    assert_function_refused("async fn m(&self) {} async fn m(&self) {}", "m", "another method as `m` already");
    assert_function_refused(
        "async fn m(&self) {} #[also = \"m\"] async fn n(&self) {}",
        "\"m\"",
        "another method as `m`",
    );
    assert_function_refused("#[also = \"m\"] async fn m(&self) {}", "\"m\"", "another method as `m` already");
    assert_function_refused("async fn as_stub(&self) {}", "as_stub", "choose another, or add `#[local]`");
    let either = "#[cfg(unix)] async fn m(&self) {} #[cfg(not(unix))] async fn m(&self) {}";
    assert!(complaints("", &class_of(either)).is_empty());
}

#[test]
fn fetch_takes_a_request_and_has_one_name() {
    for arguments in ["&self", "&self, a: Request, b: u8"] {
        let signature = format!("async fn fetch({arguments})");
        assert_function_refused(&format!("{signature} {{}}"), &signature, "takes a request and nothing else");
    }
    let renamed = "#[also = \"get\"] async fn fetch(&self, request: Request) -> Response { todo!() }";
    assert_function_refused(renamed, "\"get\"", "cannot have a second name");
    assert_function_refused("#[also = \"fetch\"] async fn m(&self) {}", "\"fetch\"", "write a method of that name");
}

#[test]
fn a_class_has_one_constructor() {
    assert_refused("", "impl Cart {}", "Cart", "put `#[construct]` on the function that makes the object");
    let another = "#[construct] fn other(context: Context) -> Self { Self }";
    assert_function_refused(another, "other", "has one constructor, and this is another");

    for (function, place, advice) in [
        ("fn new(&self) -> Self", "&self", "there is no `self` yet"),
        ("fn new() -> Self", "fn new() -> Self", "takes a `Context` and nothing else"),
        ("fn new(context: Context)", "#[construct]", "returns `Self` or `Result<Self, E>`"),
        ("fn new(context: Context) -> Result<Self>", "Result<Self>", "write both types"),
        ("unsafe fn new(context: Context) -> Self", "unsafe", "remove `unsafe`"),
        ("fn new<T>(context: Context) -> Self", "T", "cannot choose types"),
        ("#[retryable] fn new(context: Context) -> Self", "#[retryable]", "cannot call the constructor"),
        ("#[local] fn new(context: Context) -> Self", "#[local]", "cannot call the constructor"),
        ("#[also = \"make\"] fn new(context: Context) -> Self", "\"make\"", "needs no second name"),
    ] {
        assert_refused("", &format!("impl Cart {{ #[construct] {function} {{ todo!() }} }}"), place, advice);
    }
}

#[test]
fn only_methods_have_marks_and_second_names() {
    for other in ["fn m(&self) {}", "async fn m() {}", "#[local] async fn m(&self) {}", "const M: u8 = 5;", "m!();"] {
        assert_function_refused(&format!("#[retryable] {other}"), "#[retryable]", "only a method of the object");
        assert_function_refused(&format!("#[also = \"n\"] {other}"), "\"n\"", "only a method of the object");
    }
    assert_function_refused("#[local] const M: u8 = 5;", "#[local]", "stands on a function");
    assert_function_refused("#[retryable(3)] async fn m(&self) {}", "#[retryable(3)]", "has no arguments");
    assert_function_refused("#[also(n)] async fn m(&self) {}", "#[also(n)]", "write the second name as");
    assert_function_refused("#[also = \"\"] async fn m(&self) {}", "#[also = \"\"]", "write the second name as");
}

#[test]
fn it_stands_on_the_own_block_of_a_plain_type() {
    let constructor = "{ #[construct] fn new(context: Context) -> Self { Self } }";
    for (item, place, advice) in [
        ("struct Cart;", "struct Cart;", "on the `impl` block of a class"),
        ("impl Cart<u8> BODY", "Cart<u8>", "it has no generics"),
        ("impl [u8] BODY", "[u8]", "write the name of a struct or enum"),
        ("impl<T> Cart BODY", "T", "it has no generics"),
        ("impl Cart where Cart: Sized BODY", "where Cart: Sized", "no `where` clause"),
        ("impl Shop for Cart BODY", "Shop", "not on one for a trait"),
        ("unsafe impl Cart BODY", "unsafe", "remove it"),
    ] {
        assert_refused("", &item.replace("BODY", constructor), place, advice);
    }
}

#[test]
fn options_are_known_and_given_once() {
    for (options, place, advice) in [
        ("name = \"Cart\"", "name", "unknown option: there are `class = \"Name\"` and `extends(field: Class)`"),
        ("class = \"\"", "\"\"", "a class has a name"),
        ("class = \"A\", class = \"B\"", "class", "given twice"),
        ("extends(a: A), extends(b: B)", "extends", "given twice"),
        ("extends(a: A, b: B)", ",", "extends one other"),
        ("extends(a: A<u8>)", "A<u8>", "it has no generics"),
        ("class", "", "expected `=`"),
        ("class = 5", "5", "expected string literal"),
    ] {
        assert_refused(options, &class_of(""), place, advice);
    }
    assert!(complaints("class = \"C\", extends(0: shop::Basket),", &class_of("")).is_empty());
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let found = complaints("name", &class_of("async fn m(&mut self, a: &str, _: u8) -> Result<u8> {}"));
    let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["name", "&mut self", "&", "_", "Result<u8>"]);
}

#[test]
fn a_misplaced_attribute_says_where_it_belongs() {
    let error = crate::expand::misplaced("retryable", "a method").to_string();
    assert!(
        error.starts_with("`#[retryable]` stands on a method in an `impl` block under `#[durable_object]`"),
        "{error}"
    );
}
