//! Hash maps that planning is quick with. Their hasher is seeded at random, since clients choose many of the keys.

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, RandomState>;
