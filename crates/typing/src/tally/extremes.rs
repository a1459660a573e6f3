//! Keeps the least and the greatest value of a column.

/// The least and greatest of the values that were added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes<T> {
    pub both: Option<(T, T)>,
}

impl<T> Default for Extremes<T> {
    fn default() -> Self {
        Self { both: None }
    }
}

impl<T: Copy> Extremes<T> {
    pub(super) fn add(&mut self, value: T, is_less: impl Fn(T, T) -> bool) {
        let (least, greatest) = self.both.unwrap_or((value, value));
        self.both = Some((
            if is_less(value, least) { value } else { least },
            if is_less(greatest, value) { value } else { greatest },
        ));
    }

    /// The extremes of both.
    pub(crate) fn with(mut self, other: Self, is_less: impl Fn(T, T) -> bool) -> Self {
        if let Some((least, greatest)) = other.both {
            self.add(least, &is_less);
            self.add(greatest, &is_less);
        }
        self
    }
}
