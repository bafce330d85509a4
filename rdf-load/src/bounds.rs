//! How much of a text is held at once.

/// Longest stretch read at once, so that a file without line ends stays bounded in memory.
pub(crate) const PIECE_BYTES: u64 = 64 * 1024;

/// Maximum size of a token; the buffers of the parsers hold 16 MiB.
pub(crate) const TOKEN_BYTES: usize = 15 << 20;

/// Maximum size of a string in JSON; the parser's buffer holds 16 MiB and may be half full.
pub(crate) const JSON_TOKEN_BYTES: usize = 7 << 20;
