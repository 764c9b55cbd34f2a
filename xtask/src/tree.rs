//! A crate's files as the compiler sees them: which file holds which module, what each names, and what it defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::Visit;

/// A module's place in its crate: the names from the crate's root down to it.
pub(crate) type Place = Vec<String>;

/// One module: its file, what it declares and what it names.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file that holds it, from the crate's folder.
    pub(crate) file: PathBuf,
    /// Imports: the name they give in this module, and the path as written.
    pub(crate) imports: Vec<Import>,
    /// Paths of two and more names in signatures and bodies, as written.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Names that stand first in any path of signatures and bodies.
    pub(crate) names: BTreeSet<String>,
}

/// One name that a `use` brings into a module.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The name in this module; `*` for a glob.
    pub(crate) name: String,
    /// The path as written, without the `*` of a glob.
    pub(crate) path: Vec<String>,
    /// Whether others see it through this module: a re-export.
    pub(crate) exported: bool,
}

/// The modules of one target, tests left out.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) modules: BTreeMap<Place, Module>,
    /// Each file with its parsed items, tests left out.
    pub(crate) files: Vec<(PathBuf, syn::File)>,
    /// Files that could not be read or parsed, as sentences.
    pub(crate) faults: Vec<String>,
}

impl Tree {
    /// Reads a target from the file of its root module, for instance `crates/slowpath-path/src/lib.rs`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.file(root, &folder, Vec::new());
        tree
    }

    /// Takes one file in as the module at `place`; its children lie in `folder`.
    fn file(&mut self, path: &Path, folder: &Path, place: Place) {
        let parsed = fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| syn::parse_file(&text).map_err(|error| error.to_string()));
        let mut parsed = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                self.faults
                    .push(format!("{} cannot be read as Rust: {error}", path.display()));
                return;
            }
        };
        prune(&mut parsed.items);
        self.items(&parsed.items, path, folder, place);
        self.files.push((path.to_owned(), parsed));
    }

    fn items(&mut self, items: &[syn::Item], path: &Path, folder: &Path, place: Place) {
        let mut module = Module {
            file: path.to_owned(),
            ..Module::default()
        };
        for item in items {
            match item {
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let mut below = place.clone();
                    below.push(name.clone());
                    let inside = folder.join(&name);
                    if let Some((_, items)) = &child.content {
                        self.items(items, path, &inside, below);
                    } else if let Some(given) = path_attribute(&child.attrs) {
                        self.file(&path.with_file_name(given), &inside, below);
                    } else {
                        let flat = folder.join(format!("{name}.rs"));
                        let file = if flat.is_file() {
                            flat
                        } else {
                            inside.join("mod.rs")
                        };
                        self.file(&file, &inside, below);
                    }
                }
                syn::Item::Use(import) => {
                    let exported = !matches!(import.vis, syn::Visibility::Inherited);
                    flatten(&import.tree, &mut Vec::new(), exported, &mut module.imports);
                }
                other => Names(&mut module).visit_item(other),
            }
        }
        self.modules.insert(place, module);
    }

    /// The file where what `path` means in the module at `place` is defined, if that is in this crate.
    pub(crate) fn defined(&self, place: &[String], path: &[String]) -> Option<&Path> {
        self.resolve(place, path, 0)
            .map(|at| self.modules[&at].file.as_path())
    }

    /// The module that defines what `path` means in the module at `place`.
    fn resolve(&self, place: &[String], path: &[String], depth: usize) -> Option<Place> {
        if depth > DEEPEST {
            return None;
        }
        let mut at: Place = place.to_vec();
        let mut rest = path;
        let mut rooted = false;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop()?;
                }
                _ => break,
            }
            rooted = true;
            rest = others;
        }
        for (index, name) in rest.iter().enumerate() {
            let mut below = at.clone();
            below.push(name.clone());
            if self.modules.contains_key(&below) {
                at = below;
                continue;
            }
            let module = self.modules.get(&at)?;
            let outside = !rooted && index == 0;
            if let Some(import) = module.imports.iter().find(|import| &import.name == name) {
                let mut target = import.path.clone();
                // `use serde::Serialize` names another crate unless its first name is a module here.
                target.extend_from_slice(&rest[index + 1..]);
                return self.resolve(&at, &target, depth + 1);
            }
            if outside {
                return None;
            }
            return Some(at);
        }
        Some(at)
    }
}

/// Takes everything that only tests compile out of a list of items.
fn prune(items: &mut Vec<syn::Item>) {
    items.retain(|item| !attributes(item).iter().any(is_test_only));
    for item in items {
        match item {
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    prune(items);
                }
            }
            syn::Item::Impl(block) => block.items.retain(|item| match item {
                syn::ImplItem::Fn(function) => !function.attrs.iter().any(is_test_only),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// Whether an attribute keeps an item out of everything but tests.
fn is_test_only(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Meta>().is_ok_and(|meta| match meta {
            syn::Meta::Path(path) => path.is_ident("test"),
            syn::Meta::List(list) => {
                list.path.is_ident("all")
                    && list
                        .parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated)
                        .is_ok_and(|all| all.iter().any(|one| one.path().is_ident("test")))
            }
            syn::Meta::NameValue(_) => false,
        })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Writes the tree of a `use` out, one import for each name it brings.
fn flatten(tree: &syn::UseTree, before: &mut Vec<String>, exported: bool, into: &mut Vec<Import>) {
    let mut push = |name: String, path: Vec<String>| {
        into.push(Import { name, path, exported });
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, exported, into);
            before.pop();
        }
        syn::UseTree::Name(name) if name.ident == "self" => {
            push(before.last().cloned().unwrap_or_default(), before.clone());
        }
        syn::UseTree::Name(name) => {
            let mut path = before.clone();
            path.push(name.ident.to_string());
            push(name.ident.to_string(), path);
        }
        syn::UseTree::Rename(rename) => {
            let mut path = before.clone();
            if rename.ident != "self" {
                path.push(rename.ident.to_string());
            }
            push(rename.rename.to_string(), path);
        }
        syn::UseTree::Glob(_) => push("*".to_owned(), before.clone()),
        syn::UseTree::Group(group) => {
            for one in &group.items {
                flatten(one, before, exported, into);
            }
        }
    }
}

/// Collects the paths that items name; a `use` inside of a function counts as one.
struct Names<'a>(&'a mut Module);

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.0.names.extend(names.first().cloned());
            if names.len() > 1 {
                self.0.paths.insert(names);
            }
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let mut local = Vec::new();
        flatten(&import.tree, &mut Vec::new(), false, &mut local);
        self.0.paths.extend(local.into_iter().map(|one| one.path));
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        // Most macros of the standard library take expressions; others keep their tokens to themselves.
        if let Ok(arguments) =
            called.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated)
        {
            for argument in &arguments {
                let mut inner = Paths(Vec::new());
                inner.visit_expr(argument);
                for names in inner.0 {
                    self.0.names.extend(names.first().cloned());
                    if names.len() > 1 {
                        self.0.paths.insert(names);
                    }
                }
            }
        }
        syn::visit::visit_macro(self, called);
    }
}

/// Paths of one expression, owned.
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0
            .push(path.segments.iter().map(|one| one.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

/// Re-exports followed before giving up: more would be a circle of re-exports, which does not compile.
const DEEPEST: usize = 16;
