//! A composed supergraph in a file, and the subgraphs that it names. How the file is served and followed is in
//! `follow`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use federation::Supergraph;

use super::address::endpoint;
use super::options::{GatewayAppOptions, SubgraphOptions};
use super::subgraph::{Remote, Source, Subgraph, SubgraphsError};

/// Maximum size of a file, as of an answer with a schema.
const MAX_BYTES: u64 = 64 << 20;
/// How long a file must stay the same before it counts as written.
const SETTLING: Duration = Duration::from_millis(50);
/// File systems may say no more exactly than this when a file was changed.
const COARSENESS: Duration = Duration::from_secs(2);

/// The file of a supergraph, and what the configuration adds to it.
pub(super) struct SupergraphFile {
    path: PathBuf,
    /// What is configured of subgraphs by their names, with its number.
    configured: BTreeMap<String, (u32, SubgraphOptions)>,
    /// What was read last.
    last: Mutex<Option<Last>>,
}

/// What stands for a text.
pub(super) type Digest = [u8; SHA256_OUTPUT_LEN];

/// A text that was read.
struct Last {
    stamp: Stamp,
    at: SystemTime,
    digest: Digest,
}

/// What distinguishes a file from the one that was there before, without its text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// Device and inode of the file, where the system has them.
    place: (u64, u64),
}

/// Settings that contradict the file of a supergraph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupergraphFileError {
    /// The options of a subgraph do not name it.
    #[error(
        "`graphql.service.{0}` does not say which subgraph of `gateway.supergraph.file` it is \
         about: set GRAPHQL_SERVICE_{0}_NAME to the subgraph's name in the file, or leave out one \
         of the two properties"
    )]
    NoName(u32),
    /// The names are not those of subgraphs.
    #[error(transparent)]
    Subgraphs(#[from] SubgraphsError),
    /// No subgraph is asked for its schema, so there is nothing to poll.
    #[error(
        "`poll.interval` checks subgraphs for changed schemas, but with `gateway.supergraph.file` \
         no schemas are read from subgraphs: leave out one of the two properties; the file is \
         checked every `service.dwell`"
    )]
    Polled,
    /// There are services in the process, which the file does not know.
    #[error(
        "`gateway.supergraph.file` needs a process that is only a gateway, but there are other \
         services in this process"
    )]
    NotAlone,
}

/// Why the text of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("it is empty")]
    Empty,
    #[error("it is being written")]
    Changing,
    #[error("it is not a file")]
    NotAFile,
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it cannot be read: {0}")]
    Io(io::Error),
}

/// A text that was read, and what stands for it.
pub(super) struct Text {
    pub(super) sdl: String,
    pub(super) digest: Digest,
}

impl ReadError {
    /// Returns whether the file may be there later without anyone's help.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self,
            ReadError::Missing | ReadError::Empty | ReadError::Changing
        )
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing,
            _ => ReadError::Io(error),
        }
    }
}

impl SupergraphFile {
    /// Returns the file that the options name; `None` if they name none.
    ///
    /// # Errors
    /// When other options contradict it.
    pub(super) fn configured(
        options: &GatewayAppOptions,
    ) -> Result<Option<Arc<Self>>, SupergraphFileError> {
        let Some(path) = &options.supergraph_file else {
            return Ok(None);
        };
        if !options.poll_interval.is_zero() {
            return Err(SupergraphFileError::Polled);
        }
        let mut configured: BTreeMap<String, (u32, SubgraphOptions)> = BTreeMap::new();
        for (number, subgraph) in options.given() {
            let name = subgraph
                .name
                .clone()
                .ok_or(SupergraphFileError::NoName(number))?;
            if let Some((first, _)) = configured.get(&name) {
                let (first, second) = (*first, number);
                let same = SubgraphsError::SameName {
                    first,
                    second,
                    name,
                };
                return Err(same.into());
            }
            configured.insert(name, (number, subgraph.clone()));
        }
        Ok(Some(Arc::new(SupergraphFile {
            path: path.clone(),
            configured,
            last: Mutex::default(),
        })))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text; `None` if it is what was read last.
    pub(super) async fn changed(self: &Arc<Self>) -> Result<Option<Text>, ReadError> {
        let file = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || file.read());
        read.await.expect("reading a file does not panic")
    }

    /// Makes the next look read the text again.
    pub(super) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn read(&self) -> Result<Option<Text>, ReadError> {
        let stamp = Stamp::of(&self.path)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|last| last.is_of(stamp)) {
            return Ok(None);
        }
        let at = SystemTime::now();
        let bytes = bytes(&self.path)?;
        // It may be half written, and whoever writes it goes on.
        std::thread::sleep(SETTLING);
        if Stamp::of(&self.path)? != stamp {
            return Err(ReadError::Changing);
        }
        let text = String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8)?;
        if text.trim().is_empty() {
            return Err(ReadError::Empty);
        }
        let digest = digest_of(&text);
        let is_known = last.as_ref().is_some_and(|last| last.digest == digest);
        *last = Some(Last { stamp, at, digest });
        Ok((!is_known).then_some(Text { sdl: text, digest }))
    }

    /// Returns the subgraphs of a supergraph from this file, where the configuration says that they are.
    ///
    /// # Errors
    /// With what is wrong with each address. None of them is shown.
    pub(super) fn subgraphs(&self, supergraph: &Supergraph) -> Result<Vec<Subgraph>, Vec<String>> {
        let (mut subgraphs, mut faults) = (Vec::new(), Vec::new());
        for known in supergraph.subgraphs() {
            let configured = self
                .configured
                .get(&known.name)
                .map(|(_, it)| it.clone())
                .unwrap_or_default();
            let address = configured.address.map_or_else(|| endpoint(&known.url), Ok);
            match address {
                Ok(address) => subgraphs.push(Subgraph {
                    name: known.name.clone(),
                    source: Source::Remote(Box::new(Remote {
                        address,
                        good_to_go: configured.good_to_go,
                        health: configured.health,
                        subscriptions: configured.subscriptions,
                    })),
                }),
                Err(expected) => {
                    let (name, is_there) = (&known.name, !known.url.is_empty());
                    let what = if is_there {
                        format!("the address of the subgraph `{name}` is not {expected}")
                    } else {
                        format!("the subgraph `{name}` has no address")
                    };
                    faults.push(format!(
                        "{what}; help: correct `@join__graph(url:)`, or set GRAPHQL_SERVICE_N_NAME to its name and \
                         GRAPHQL_SERVICE_N to its address"
                    ));
                }
            }
        }
        let names: Vec<&str> = supergraph
            .subgraphs()
            .iter()
            .map(|known| &*known.name)
            .collect();
        let unknown = self
            .configured
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()));
        faults.extend(unknown.map(|(name, (number, _))| {
            format!(
                "no subgraph of the supergraph has the name `{name}` of GRAPHQL_SERVICE_{number}_NAME; help: its \
                 subgraphs are {}",
                names.join(", ")
            )
        }));
        if faults.is_empty() {
            Ok(subgraphs)
        } else {
            Err(faults)
        }
    }
}

/// Returns what stands for a text.
fn digest_of(text: &str) -> Digest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    bytes
}

impl Last {
    /// Returns whether a file is the one that was read, as far as can be known without its text.
    fn is_of(&self, stamp: Stamp) -> bool {
        // A time that cannot be reckoned with is not settled.
        let settled = |modified: SystemTime| {
            modified
                .checked_add(COARSENESS)
                .is_some_and(|until| until < self.at)
        };
        self.stamp == stamp && stamp.modified.is_some_and(settled)
    }
}

impl Stamp {
    fn of(path: &Path) -> Result<Self, ReadError> {
        let known = fs::metadata(path)?;
        // Opening a pipe would wait for whoever writes to it.
        if !known.is_file() {
            return Err(ReadError::NotAFile);
        }
        if known.len() > MAX_BYTES {
            return Err(ReadError::TooLong);
        }
        Ok(Stamp {
            modified: known.modified().ok(),
            length: known.len(),
            place: place(&known),
        })
    }
}

#[cfg(unix)]
fn place(known: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (known.dev(), known.ino())
}

#[cfg(not(unix))]
fn place(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Reads a file that may grow meanwhile.
fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        Err(ReadError::TooLong)
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn read(file: &SupergraphFile) -> Result<Option<String>, ReadError> {
        Ok(file.read()?.map(|text| text.sdl))
    }

    fn options(path: &Path, names: &[(u32, Option<&str>)]) -> GatewayAppOptions {
        let subgraphs = names.iter().map(|(number, name)| {
            let subgraph = SubgraphOptions {
                address: endpoint("http://a/graphql").ok(),
                name: name.map(str::to_owned),
                ..SubgraphOptions::default()
            };
            (*number, subgraph)
        });
        GatewayAppOptions {
            supergraph_file: Some(path.to_owned()),
            subgraphs: subgraphs.collect(),
            ..GatewayAppOptions::default()
        }
    }

    fn file(path: &Path) -> Arc<SupergraphFile> {
        let file = SupergraphFile::configured(&options(path, &[]));
        file.unwrap().unwrap()
    }

    #[test]
    fn a_text_is_read_once_however_the_file_is_replaced() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.graphql");
        let file = file(&path);
        assert!(matches!(read(&file), Err(ReadError::Missing)));
        fs::write(&path, " \n").unwrap();
        assert!(matches!(read(&file), Err(ReadError::Empty)));
        fs::write(&path, "one").unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("one"));
        assert_eq!(read(&file).unwrap(), None);
        // As long as before, and perhaps at the same time.
        fs::write(&path, "two").unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("two"));
        // The same text in another file.
        fs::write(folder.path().join("b"), "two").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        assert_eq!(read(&file).unwrap(), None);
        file.forget();
        assert_eq!(read(&file).unwrap().as_deref(), Some("two"));
    }

    #[test]
    fn a_file_that_has_not_changed_for_a_while_is_not_read_again() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.graphql");
        fs::write(&path, "one").unwrap();
        let old = SystemTime::now() - Duration::from_secs(60);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap();
        let file = file(&path);
        assert_eq!(read(&file).unwrap().as_deref(), Some("one"));
        let last = file.last.lock().unwrap();
        assert!(last.as_ref().unwrap().is_of(Stamp::of(&path).unwrap()));
    }

    #[test]
    fn a_file_from_the_end_of_time_is_read_again() {
        let end = Duration::from_secs(i64::MAX.unsigned_abs());
        let stamp = Stamp {
            modified: SystemTime::UNIX_EPOCH.checked_add(end),
            length: 3,
            place: (0, 0),
        };
        assert!(stamp.modified.is_some());
        let last = Last {
            stamp,
            at: SystemTime::now(),
            digest: digest_of("one"),
        };
        assert!(!last.is_of(stamp));
    }

    #[test]
    fn what_is_no_text_of_a_bounded_length_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.graphql");
        assert!(matches!(
            file(folder.path()).read(),
            Err(ReadError::NotAFile)
        ));
        fs::write(&path, b"\xff").unwrap();
        assert!(matches!(file(&path).read(), Err(ReadError::NotUtf8)));
        let long = File::create(&path).unwrap();
        long.set_len(MAX_BYTES + 1).unwrap();
        assert!(matches!(file(&path).read(), Err(ReadError::TooLong)));
        let passing = [ReadError::Missing, ReadError::Empty, ReadError::Changing];
        assert!(passing.iter().all(ReadError::may_pass));
        assert!(!ReadError::TooLong.may_pass() && !ReadError::NotAFile.may_pass());
    }

    #[test]
    fn options_that_contradict_the_file_are_named() {
        let path = Path::new("a.graphql");
        let error = |options: &GatewayAppOptions| SupergraphFile::configured(options).err();
        let nameless = error(&options(path, &[(0, Some("a")), (3, None)])).unwrap();
        assert_eq!(nameless, SupergraphFileError::NoName(3));
        assert!(nameless.to_string().contains("GRAPHQL_SERVICE_3_NAME"));
        let same = error(&options(path, &[(0, Some("a")), (3, Some("a"))]));
        assert!(matches!(same, Some(SupergraphFileError::Subgraphs(_))));
        let mut polled = options(path, &[]);
        polled.poll_interval = Duration::from_secs(1);
        assert_eq!(error(&polled), Some(SupergraphFileError::Polled));
        polled.supergraph_file = None;
        assert!(SupergraphFile::configured(&polled).unwrap().is_none());
    }
}
