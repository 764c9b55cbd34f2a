//! The command as its users meet it, in one program, because each one more has to be linked.

mod browser;
mod command;
mod diagnose;
mod documents;
mod errors;
mod first_use;
mod fit;
mod folders;
mod japanese;
mod many;
mod measure;
mod records;
mod robust;
mod schema;
mod sliders;
mod support;
mod sweep;
mod traces;
mod trial;
mod ui;
