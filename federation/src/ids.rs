//! Types of ids that are positions in dense tables.

/// Declares types of ids.
macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub(crate) fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("texts and operations are bounded"))
            }

            /// Returns the position in its dense table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

pub(crate) use ids;
