//! What a question asks for, as the reader of tables takes it.

/// What the words of a question say, whatever the tables are.
#[derive(Clone, Copy, Debug)]
pub(in crate::pike) struct Asks {
    /// For what has not happened yet.
    pub(in crate::pike) ahead: bool,
    /// For a figure.
    pub(in crate::pike) figure: bool,
    /// For a figure or an amount, in words that also occur in questions about texts.
    pub(in crate::pike) amount: bool,
}

impl Asks {
    /// Whether a text is as likely to answer as a table: neither a figure nor an amount is asked for.
    pub(super) fn may_be_in_text(self) -> bool {
        !self.figure && !self.amount
    }
}
