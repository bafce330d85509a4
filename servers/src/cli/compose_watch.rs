//! `soml compose --watch`: composes again whenever a subgraph changes.

use std::path::PathBuf;
use std::time::Duration;

use federation::compose::SubgraphSource;
use service_runtime::with_causes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::compose::{Compose, Origin, Report};
use super::serve::stop_signal;
use super::store::runtime;
use super::{CliError, Console, Exit};

/// Pause between two looks at a file.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a file must stay the same before it counts as written.
const SETTLING: Duration = Duration::from_millis(50);

/// What has become of the schema of a subgraph: the SDL, or why it cannot be had.
type Seen = (usize, Result<String, String>);

impl Compose {
    /// Composes until someone stops it.
    pub(super) fn watch(&self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let output = self.output().ok_or_else(|| {
            CliError::Usage("--watch needs --output, the file that it keeps up to date".to_owned())
        })?;
        let runtime = runtime()?;
        let origins = self.origins();
        let result = runtime.block_on(async {
            let (sender, receiver) = unbounded_channel();
            for (at, origin) in origins.iter().cloned().enumerate() {
                tokio::spawn(look(at, origin, self.interval(), sender.clone()));
            }
            drop(sender);
            tokio::select! {
                () = stop_signal() => Ok(Exit::Success),
                result = self.follow(receiver, &output, console) => result,
            }
        });
        // A look at an endpoint may take long; no one waits for it.
        runtime.shutdown_background();
        result
    }

    /// Composes after each change, as soon as every schema has been seen.
    async fn follow(
        &self,
        mut changes: UnboundedReceiver<Seen>,
        output: &std::path::Path,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let mut schemas: Vec<Option<String>> = vec![None; self.origins().len()];
        while let Some(first) = changes.recv().await {
            // Changes that come together are composed together.
            tokio::time::sleep(SETTLING).await;
            let mut unreadable = false;
            let mut next = Some(first);
            while let Some((at, seen)) = next {
                match seen {
                    Ok(sdl) => schemas[at] = Some(sdl),
                    Err(why) => {
                        unreadable = true;
                        writeln!(console.err, "error: {why}")?;
                    }
                }
                next = changes.try_recv().ok();
            }
            let known: Option<Vec<String>> = schemas.iter().cloned().collect();
            if let Some(schemas) = known.filter(|_| !unreadable) {
                self.once(&self.sources_of(schemas), output, console)?;
            } else if unreadable {
                writeln!(console.err, "{}: unchanged", output.display())?;
            }
            console.out.flush()?;
            console.err.flush()?;
        }
        Ok(Exit::Success)
    }

    /// Composes, and says what became of the file.
    fn once(
        &self,
        sources: &[SubgraphSource],
        output: &std::path::Path,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let name = output.display();
        match self.compose(sources, console) {
            Ok(Report::Composed) => writeln!(console.err, "{name}: written")?,
            Ok(Report::Failed) => writeln!(console.err, "{name}: unchanged")?,
            // The next change may find the folder there, or room on the disk.
            Err(error @ CliError::WriteFile { .. }) => {
                writeln!(console.err, "error: {}", with_causes(&error))?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Looks at the schema of a subgraph again and again, and says when it has changed.
async fn look(at: usize, origin: Origin, interval: Duration, sender: UnboundedSender<Seen>) {
    let mut last: Option<Result<String, String>> = None;
    loop {
        let seen = match &origin {
            Origin::File(path) => settled(path.clone(), last.as_ref()).await,
            Origin::Endpoint(_) => read(&origin).await,
        };
        if last.as_ref() != Some(&seen) {
            last = Some(seen.clone());
            if sender.send((at, seen)).is_err() {
                return;
            }
        }
        tokio::time::sleep(match origin {
            Origin::File(_) => PAUSE,
            Origin::Endpoint(_) => interval,
        })
        .await;
    }
}

async fn read(origin: &Origin) -> Result<String, String> {
    origin.read().await.map_err(|error| with_causes(&error))
}

/// Reads a file; one that differs from before is read until it stays the same, as it may be half written.
async fn settled(path: PathBuf, last: Option<&Result<String, String>>) -> Result<String, String> {
    let origin = Origin::File(path);
    let mut seen = read(&origin).await;
    while last != Some(&seen) {
        tokio::time::sleep(SETTLING).await;
        let again = read(&origin).await;
        if again == seen {
            break;
        }
        seen = again;
    }
    seen
}
