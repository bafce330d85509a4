//! Why traces cannot be sent.

/// Why traces cannot be sent as they are configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TracesError {
    /// Traces are asked for, and this build has none.
    #[error(
        "`{0}` asks for traces, and this build cannot send them: use one with `--features otlp`, or unset the \
         property"
    )]
    NotBuilt(&'static str),
    /// A variable of OpenTelemetry has a value that cannot be used. It may be secret, and is not kept.
    #[error("the variable {name} cannot be used: expected {expected}")]
    Variable {
        /// The variable.
        name: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Sending cannot be set up.
    #[error("traces cannot be sent: {0}")]
    Setup(String),
}
