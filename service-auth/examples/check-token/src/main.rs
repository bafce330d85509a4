//! `check-token SECRET AUDIENCE TOKEN` prints who sent a token, or why it is refused.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [secret, audience, token] = arguments.as_slice() else {
        eprintln!("usage: check-token SECRET AUDIENCE TOKEN");
        return ExitCode::from(2);
    };
    match check_token::sender(secret, audience, token).await {
        Ok(sender) => {
            println!("{sender}");
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            eprintln!("{refusal} ({})", refusal.code());
            ExitCode::FAILURE
        }
    }
}
