//! The command as its user meets it: the real binary, its words and its exit status.

mod command {
    mod bless;
    mod exit_status;
    mod explore;
    mod interrupt;
    mod json;
    mod listing;
    mod manners;
    mod matrix;
    mod support;
    mod traces;
}
