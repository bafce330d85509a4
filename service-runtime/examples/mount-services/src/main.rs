//! `mount-services SECRET` serves the program on port 3000.

use std::error::Error;

use mount_services::Program;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret = std::env::args()
        .nth(1)
        .ok_or("usage: mount-services SECRET")?;
    let program = Program::new(secret.as_bytes()).await?;
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("http://localhost:3000/objects/ and http://localhost:3000/kg/all/ are GraphiQL");
    let stop = async {
        // Without a signal there is nothing to wait for either.
        let _ = tokio::signal::ctrl_c().await;
    };
    let routes = program.routes.clone();
    axum::serve(listener, routes)
        .with_graceful_shutdown(stop)
        .await?;
    program.end().await;
    Ok(())
}
