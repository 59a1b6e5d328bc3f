//! The crate stays what its manifest promises: no standard library, and nothing to depend on unless asked.
//!
//! `#![no_std]` alone does not keep the standard library out, because any module may say `extern crate std`. So the
//! sources are parsed, module by module as the compiler would find them, and searched for the name `std`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Ident, TokenStream, TokenTree};
use serde_json::{Value, json};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, Macro, Meta, Stmt, Token};

#[test]
fn the_sources_do_without_the_standard_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let crate_sources = read_crate(&root);
    assert!(crate_sources.is_no_std, "src/lib.rs has no unconditional #![no_std]");
    assert!(crate_sources.findings.is_empty(), "{}", crate_sources.findings.join("\n"));
    let all = rust_files(root.parent().expect("a source directory"));
    let strays: Vec<_> = all.difference(&crate_sources.files).collect();
    assert!(strays.is_empty(), "no module declares these, so nobody checks them: {strays:?}");
}

#[test]
fn the_default_features_depend_on_nothing() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let this = packages.iter().find(|package| package["name"] == env!("CARGO_PKG_NAME"));
    assert_eq!(needed_by_default(this.expect("this package")), Vec::<String>::new());
}

/// Everything that a build without any feature asked for would need, as cargo's metadata describe the package.
fn needed_by_default(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().expect("dependencies");
    let needed = dependencies
        .iter()
        .filter(|dependency| dependency["kind"] != "dev" && dependency["optional"] == false)
        .map(|dependency| format!("dependency {}", dependency["name"]));
    let enabled = package["features"]["default"].as_array().into_iter().flatten();
    needed.chain(enabled.map(|feature| format!("default feature {feature}"))).collect()
}

/// What was found in a crate, from its root along all modules that are compiled outside tests.
#[derive(Default)]
struct CrateSources {
    is_no_std: bool,
    /// Every file that a module declares, those of tests included.
    files: BTreeSet<PathBuf>,
    /// Each as `path:line: what`.
    findings: Vec<String>,
}

fn read_crate(root: &Path) -> CrateSources {
    let mut sources = CrateSources::default();
    let mut pending = vec![(root.to_owned(), root.parent().expect("a directory").to_owned(), false)];
    while let Some((path, directory, only_in_tests)) = pending.pop() {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = scan(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if path == root {
            sources.is_no_std = file.is_no_std;
        }
        if !only_in_tests {
            let findings = file.findings.iter().map(|(line, what)| format!("{}:{line}: {what}", path.display()));
            sources.findings.extend(findings);
        }
        for module in file.modules {
            let (path, directory) = locate(&directory, &module.path);
            pending.push((path, directory, only_in_tests || module.only_in_tests));
        }
        sources.files.insert(path);
    }
    sources
}

/// The file of a module below a directory, and the directory of its own modules.
fn locate(directory: &Path, module: &[String]) -> (PathBuf, PathBuf) {
    let own_directory = directory.join(module.iter().collect::<PathBuf>());
    let beside = own_directory.with_extension("rs");
    let inside = own_directory.join("mod.rs");
    (if beside.exists() { beside } else { inside }, own_directory)
}

fn rust_files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(path);
        }
    }
    files
}

/// What was found in one file.
#[derive(Default)]
struct Scan {
    is_no_std: bool,
    /// The modules that live in files of their own.
    modules: Vec<Module>,
    /// The line of each use of the standard library outside tests, and what it is.
    findings: Vec<(usize, String)>,
    /// The modules around the place that is being read, if they are written in this file.
    inside: Vec<String>,
    /// Whether that place is compiled in tests only.
    only_in_tests: bool,
}

struct Module {
    /// Its name, after those of the modules around it in the same file.
    path: Vec<String>,
    only_in_tests: bool,
}

fn scan(text: &str) -> syn::Result<Scan> {
    let file = syn::parse_file(text)?;
    let mut scan =
        Scan { is_no_std: file.attrs.iter().any(|attribute| attribute.path().is_ident("no_std")), ..Scan::default() };
    scan.visit_file(&file);
    Ok(scan)
}

impl Scan {
    fn find(&mut self, ident: &Ident, what: &str) {
        if !self.only_in_tests {
            self.findings.push((ident.span().start().line, what.to_owned()));
        }
    }

    /// Reads on, with the knowledge of whether these attributes keep what follows out of all but tests.
    fn under(&mut self, attributes: &[Attribute], read: impl FnOnce(&mut Self)) {
        let outside = self.only_in_tests;
        self.only_in_tests |= attributes.iter().any(keeps_to_tests);
        read(self);
        self.only_in_tests = outside;
    }
}

/// Only items, members and statements may be excused by `#[cfg(test)]`; a field or an arm that names `std` is found.
impl<'ast> Visit<'ast> for Scan {
    fn visit_item(&mut self, item: &'ast Item) {
        self.under(attributes_of_item(item), |scan| visit::visit_item(scan, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs[..],
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            ImplItem::Verbatim(_) | _ => &[],
        };
        self.under(attributes, |scan| visit::visit_impl_item(scan, item));
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => &local.attrs[..],
            Stmt::Macro(call) => &call.attrs,
            Stmt::Item(_) | Stmt::Expr(..) => &[],
        };
        self.under(attributes, |scan| visit::visit_stmt(scan, statement));
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.attrs.iter().any(|attribute| attribute.path().is_ident("path")) {
            self.find(&module.ident, "a module at a path of its own, which this test cannot follow");
        }
        self.inside.push(module.ident.to_string());
        if module.content.is_none() {
            self.modules.push(Module { path: self.inside.clone(), only_in_tests: self.only_in_tests });
        }
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_ident(&mut self, ident: &'ast Ident) {
        if ident == "std" {
            self.find(ident, "names the standard library");
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call.path.is_ident("include") {
            self.find(&call.path.segments[0].ident, "includes sources, which this test cannot follow");
        }
        visit::visit_macro(self, call);
    }

    /// The insides of macros and attributes, which have no syntax tree.
    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        for token in tokens.clone() {
            match token {
                // Not `visit_ident`, which asks for a token as long-lived as the file.
                TokenTree::Ident(ident) if ident == "std" => {
                    self.find(&ident, "names the standard library in a macro or an attribute");
                }
                TokenTree::Group(group) => {
                    let mut inner = Self { only_in_tests: self.only_in_tests, ..Self::default() };
                    inner.visit_token_stream(&group.stream());
                    self.findings.append(&mut inner.findings);
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

fn attributes_of_item(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Verbatim(_) | _ => &[],
    }
}

/// Whether the attribute is a `cfg` that can only hold in tests; a `cfg` that is not understood does not count.
fn keeps_to_tests(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    list.path.is_ident("cfg") && list.parse_args().is_ok_and(|condition| implies_test(&condition))
}

fn implies_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let parts = parts.unwrap_or_default();
    if list.path.is_ident("all") {
        parts.iter().any(implies_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(implies_test)
    }
}

/// The lines on which the scanner finds something.
fn lines(text: &str) -> Vec<usize> {
    let findings = scan(text).expect("a sample that parses").findings;
    findings.into_iter().map(|(line, _)| line).collect()
}

#[test]
fn every_way_to_the_standard_library_is_found() {
    for bad in [
        "extern crate std;",
        "extern crate std as core;",
        "use std::vec::Vec;",
        "use {core::fmt, std::io};",
        "use ::std::io as anything;",
        "fn f() -> std::string::String { loop {} }",
        "fn f() { let x: std::string::String; }",
        "fn f() { vec![std::mem::size_of::<u8>()]; }",
        "macro_rules! m { () => { $crate::n!([{ std::process::abort() }]) }; }",
        "#[derive(std::fmt::Debug)] struct S;",
        "#[cfg_attr(feature = \"f\", derive(std::fmt::Debug))] struct S;",
        "struct S { #[cfg(test)] field: std::string::String }",
        "#[cfg(not(test))] extern crate std;",
        "#[cfg(any(test, feature = \"f\"))] extern crate std;",
        "#[cfg(feature = \"test\")] extern crate std;",
        "#[cfg_attr(test, doc = \"\")] extern crate std;",
        "#[test_case] extern crate std;",
        "mod inner { pub mod more { use std::io; } }",
        "impl S { fn f() { std::process::abort() } }",
        "include!(\"elsewhere.rs\");",
        "#[path = \"elsewhere.rs\"] mod m;",
    ] {
        assert_eq!(lines(bad), [1], "{bad}");
    }
    assert_eq!(lines("\n\nuse core::fmt;\n#[cfg(test)]\nuse std::io;\nuse std::fs;\n"), [6]);
}

#[test]
fn tests_comments_and_texts_may_say_std() {
    for good in [
        "//! std::io\n/* use std::io; */\n/// std\nfn f() { /* std */ }",
        "const S: &str = \"use std::io;\"; const R: &str = r#\"std\"#;",
        "#[cfg(feature = \"std\")] fn f() {}",
        "#[cfg(test)] extern crate std;",
        "#[cfg(test)] mod tests { use std::io; mod deep { use std::fs; } }",
        "#[cfg(all(test, feature = \"serde\"))] mod tests { use std::io; }",
        "#[cfg(all(feature = \"a\", any(test, all(test, unix))))] use std::io;",
        "impl S { #[cfg(test)] fn f() { std::process::abort() } }",
        "fn f() { #[cfg(test)] let x = std::mem::size_of::<u8>(); }",
        "fn std_free(stdin: u8) { include(1); include_bytes!(\"b\"); }",
    ] {
        assert_eq!(lines(good), [0; 0], "{good}");
    }
}

#[test]
fn no_std_counts_only_if_unconditional() {
    let is_no_std = |text: &str| scan(text).expect("a sample that parses").is_no_std;
    assert!(is_no_std("//! Docs.\n#![no_std]\nfn f() {}"));
    assert!(!is_no_std("#![cfg_attr(not(test), no_std)]"));
    assert!(!is_no_std("// #![no_std]\nmod m { #![no_std] }"));
}

#[test]
fn modules_are_followed_by_their_paths() {
    let scan = scan("mod a; mod b { mod c; #[cfg(test)] mod d; } #[cfg(test)] mod e { mod f; }");
    let modules = scan.expect("a sample that parses").modules;
    let modules: Vec<_> = modules.iter().map(|m| (m.path.join("/"), m.only_in_tests)).collect();
    let expected = [("a", false), ("b/c", false), ("b/d", true), ("e/f", true)];
    assert_eq!(modules, expected.map(|(path, only_in_tests)| (path.to_owned(), only_in_tests)));
}

#[test]
fn a_needed_dependency_is_found() {
    let dependency = |kind: Value, optional: bool| json!({"name": "x", "kind": kind, "optional": optional});
    let package = |dependency: Value, features: Value| json!({"dependencies": [dependency], "features": features});
    let optional = dependency(Value::Null, true);
    let allowed = [
        package(optional.clone(), json!({"x": ["dep:x"]})),
        package(dependency(json!("dev"), false), json!({"default": []})),
    ];
    for package in allowed {
        assert_eq!(needed_by_default(&package), Vec::<String>::new());
    }
    let forbidden = [
        package(dependency(Value::Null, false), json!({})),
        package(dependency(json!("build"), false), json!({})),
        package(optional, json!({"default": ["x"], "x": ["dep:x"]})),
    ];
    for package in forbidden {
        assert_eq!(needed_by_default(&package).len(), 1, "{package}");
    }
}
