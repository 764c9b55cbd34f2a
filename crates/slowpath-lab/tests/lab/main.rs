//! The lab against the real kernel: needs root, or the permission for user namespaces (see the test `alone`).

mod accuracy;
mod basics;
mod captures;
mod changing;
mod hosts;
mod models;
mod quotes;
mod support;
mod trains;
