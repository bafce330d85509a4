//! What requests hold of memory is what is counted for them.

#[cfg(target_os = "linux")]
mod memory;
