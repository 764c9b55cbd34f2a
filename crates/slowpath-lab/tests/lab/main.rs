//! The lab against the real kernel: needs root, or the permission for user namespaces (see `own_user`).

mod basics;
mod support;
