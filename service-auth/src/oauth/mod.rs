//! A public client of an authorization server (OAuth 2.0), for programs without a browser of their own.
//!
//! [`OauthClient::discover`] reads the metadata of an issuer ([OpenID Connect Discovery], [RFC 8414]). The device
//! authorization grant ([RFC 8628]) has the user confirm the log-in in a browser, on any device. Tokens are refreshed
//! ([RFC 6749 section 6]) and revoked ([RFC 7009]). There is no authorization code grant here, and nothing is stored.
//!
//! [OpenID Connect Discovery]: https://openid.net/specs/openid-connect-discovery-1_0.html
//! [RFC 8414]: https://www.rfc-editor.org/rfc/rfc8414
//! [RFC 8628]: https://www.rfc-editor.org/rfc/rfc8628
//! [RFC 6749 section 6]: https://www.rfc-editor.org/rfc/rfc6749#section-6
//! [RFC 7009]: https://www.rfc-editor.org/rfc/rfc7009

mod client;
mod device;
mod error;
mod metadata;
mod tokens;

pub use client::OauthClient;
pub use device::DeviceAuthorization;
#[cfg(feature = "idp")]
pub(crate) use error::printable;
pub use error::{Denial, OauthError};
pub use tokens::Tokens;
#[cfg(feature = "idp")]
pub(crate) use tokens::claimed_end;
