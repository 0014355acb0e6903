//! How much a request matters.

/// How much a request matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Nobody waits for it.
    Background,
    /// The default.
    #[default]
    Normal,
    /// A person waits for it.
    Interactive,
}
