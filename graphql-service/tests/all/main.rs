//! What requests hold of memory is what is counted for them.

mod memory;
