//! Serves the extension on `127.0.0.1:9990`, or on the address that is given.

use std::io;

use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> io::Result<()> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:9990".to_owned());
    let listener = TcpListener::bind(&address).await?;
    #[expect(clippy::print_stderr, reason = "whoever starts it is told where it is")]
    {
        eprintln!(
            "the extension service listens on http://{}/graphql",
            listener.local_addr()?
        );
    }
    axum::serve(listener, example_extension::router()).await
}
