//! A list that is nearly always short, and then needs no allocation.

/// A list with up to four items inline, or more in a vector.
#[derive(Clone, Debug)]
pub(crate) enum Few<T> {
    /// The items, and their number.
    Inline([T; 4], usize),
    /// All items.
    Heap(Vec<T>),
}

impl<T: Copy> Few<T> {
    /// Creates an empty list. `filler` fills unused elements.
    pub(crate) const fn new(filler: T) -> Few<T> {
        Few::Inline([filler; 4], 0)
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Few::Inline(items, len) if *len < items.len() => {
                items[*len] = item;
                *len += 1;
            }
            Few::Inline(items, _) => {
                let mut all = Vec::with_capacity(2 * items.len());
                all.extend_from_slice(&items[..]);
                all.push(item);
                *self = Few::Heap(all);
            }
            Few::Heap(items) => items.push(item),
        }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Few::Inline(items, len) => &items[..*len],
            Few::Heap(items) => items,
        }
    }
}

impl<T: Copy> Extend<T> for Few<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn pushed_elements_are_kept_at_any_length() {
        for len in 0..10 {
            let mut few = Few::new(0);
            few.extend(0..len);
            assert_eq!(few.as_slice(), (0..len).collect::<Vec<_>>());
        }
    }
}
