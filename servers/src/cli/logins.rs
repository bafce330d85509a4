//! The file of log-ins that `soml login` keeps, in the folder of the user's configuration. Only its owner may open it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use graph_store::private_files;
use outbound::Secret;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::CliError;
use super::output_file::{OutputFile, unwritten};

/// Maximum size of the file.
const MAX_BYTES: u64 = 4 << 20;
/// A token is used until this long before its end.
const MARGIN: Duration = Duration::from_secs(15);

const VERSION: u32 = 1;

/// Where log-ins are kept.
#[derive(Clone)]
pub(super) struct LoginFile {
    path: PathBuf,
}

/// The file while no other command changes it.
pub(super) struct LockedLogins {
    file: LoginFile,
    pub(super) logins: Vec<KeptTokens>,
    _lock: File,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    logins: Vec<KeptTokens>,
}

/// A log-in: its tokens, and which services are sent them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct KeptTokens {
    /// Who has issued the tokens; for users of a service itself, its address.
    pub(super) issuer: String,
    /// The client that has logged in; absent for users of a service itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    /// Addresses of services that are sent the token.
    pub(super) servers: Vec<String>,
    access_token: String,
    /// When the access token ends, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

impl KeptTokens {
    /// Creates a log-in without tokens.
    pub(super) fn new(issuer: String, client_id: Option<String>, scope: Option<String>) -> Self {
        KeptTokens {
            issuer,
            client_id,
            scope,
            servers: Vec::new(),
            access_token: String::new(),
            expires: None,
            refresh_token: None,
        }
    }

    pub(super) fn set(
        &mut self,
        access_token: &Secret,
        expires_at: Option<SystemTime>,
        refresh_token: Option<&Secret>,
    ) {
        let end = expires_at.and_then(|end| end.duration_since(UNIX_EPOCH).ok());
        self.access_token = access_token.reveal().to_owned();
        self.expires = end.map(|end| end.as_secs());
        self.refresh_token = refresh_token.map(|token| token.reveal().to_owned());
    }

    pub(super) fn access_token(&self) -> Secret {
        Secret::new(self.access_token.as_str())
    }

    pub(super) fn refresh_token(&self) -> Option<Secret> {
        self.refresh_token.as_deref().map(Secret::new)
    }

    /// Returns whether the access token has ended, or is about to.
    pub(super) fn has_expired(&self) -> bool {
        let Some(expires) = self.expires else {
            return false;
        };
        let until = Duration::from_secs(expires).saturating_sub(MARGIN);
        SystemTime::now() >= UNIX_EPOCH + until
    }

    pub(super) fn is_for(&self, server: &str) -> bool {
        self.servers.iter().any(|known| known == server)
    }

    /// Returns whether both are log-ins of one client at one issuer.
    pub(super) fn is_same(&self, other: &KeptTokens) -> bool {
        self.issuer == other.issuer && self.client_id == other.client_id
    }

    /// Returns the command that logs in again.
    pub(super) fn command(&self) -> String {
        // Users of a service itself log in to the first one.
        let provider = Some(&self.issuer).filter(|_| self.client_id.is_none());
        let others = self
            .servers
            .iter()
            .filter(|server| Some(*server) != provider);
        let servers = provider.into_iter().chain(others);
        let mut words = vec!["soml login".to_owned()];
        words.extend(servers.map(|server| format!("--url {server}")));
        if let Some(client) = &self.client_id {
            words.push(format!("--issuer {} --client-id {client}", self.issuer));
        }
        if let Some(scope) = &self.scope {
            words.push(format!("--scope '{scope}'"));
        }
        words.join(" ")
    }
}

impl LoginFile {
    /// Returns the file of the user; `None` where the environment names no folder of theirs.
    pub(super) fn of_user() -> Option<LoginFile> {
        let folder = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let folder = folder("XDG_CONFIG_HOME")
            .or_else(|| folder("APPDATA"))
            .or_else(|| Some(folder("HOME")?.join(".config")))?;
        let path = folder.join("soml").join("logins.json");
        Some(LoginFile { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the log-ins; none where there is no file.
    pub(super) fn read(&self) -> Result<Vec<KeptTokens>, CliError> {
        let failed = |source| CliError::Read {
            name: self.path.display().to_string(),
            source,
        };
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(failed)?,
        };
        if is_shared(&file).map_err(failed)? {
            return Err(CliError::Usage(format!(
                "{} contains tokens, but others than its owner can open it: run `chmod 600`",
                self.path.display()
            )));
        }
        let mut text = String::new();
        file.take(MAX_BYTES)
            .read_to_string(&mut text)
            .map_err(failed)?;
        // The cause could quote a token.
        let content: Content = serde_json::from_str(&text).map_err(|_| self.unusable())?;
        if content.version == VERSION {
            Ok(content.logins)
        } else {
            Err(self.unusable())
        }
    }

    fn unusable(&self) -> CliError {
        CliError::Usage(format!(
            "{} is not a file of log-ins of this version: remove it, and log in again",
            self.path.display()
        ))
    }

    /// Reads the log-ins, and keeps other commands from changing them meanwhile.
    pub(super) fn lock(&self) -> Result<LockedLogins, CliError> {
        let path = self.path.with_extension("lock");
        let folder = path.parent().unwrap_or(Path::new("."));
        let lock = private_files::create_folder(folder)
            .and_then(|()| {
                private_files::options()
                    .write(true)
                    .create(true)
                    .open(&path)
            })
            .and_then(|file| file.lock().map(|()| file))
            .map_err(unwritten(&path))?;
        Ok(LockedLogins {
            logins: self.read()?,
            file: self.clone(),
            _lock: lock,
        })
    }
}

impl LockedLogins {
    /// Returns the log-in for a service.
    pub(super) fn of(&mut self, server: &str) -> Option<&mut KeptTokens> {
        self.logins.iter_mut().find(|login| login.is_for(server))
    }

    /// Adds a log-in in place of an earlier one of the same client, whose services it keeps.
    pub(super) fn put(&mut self, mut login: KeptTokens) {
        let earlier = self
            .logins
            .iter()
            .find(|known| known.is_same(&login))
            .map(|known| known.servers.clone());
        for server in earlier.unwrap_or_default() {
            if !login.is_for(&server) {
                login.servers.push(server);
            }
        }
        // A service is sent one token.
        for known in &mut self.logins {
            known.servers.retain(|server| !login.is_for(server));
        }
        self.logins.retain(|known| !known.servers.is_empty());
        self.logins.push(login);
    }

    pub(super) fn write(self) -> Result<(), CliError> {
        let content = Content {
            version: VERSION,
            logins: self.logins,
        };
        let text = serde_json::to_string_pretty(&content).expect("it consists of texts");
        let mut file = OutputFile::create(&self.file.path, true)?;
        writeln!(file, "{text}").map_err(unwritten(&self.file.path))?;
        file.finish()
    }
}

/// Returns an address as log-ins name services.
pub(super) fn server(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

#[cfg(unix)]
fn is_shared(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

/// Elsewhere the folder decides who may open a file.
#[cfg(not(unix))]
fn is_shared(_file: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(issuer: &str, servers: &[&str]) -> KeptTokens {
        let mut login = KeptTokens::new(issuer.to_owned(), Some("cli".to_owned()), None);
        login.servers = servers.iter().map(|&server| server.to_owned()).collect();
        login
    }

    fn locked(folder: &Path) -> LockedLogins {
        let path = folder.join("soml/logins.json");
        LoginFile { path }.lock().unwrap()
    }

    #[test]
    fn a_service_is_sent_one_token_and_a_log_in_keeps_its_services() {
        let folder = tempfile::tempdir().unwrap();
        let mut logins = locked(folder.path());
        logins.put(login("https://one", &["http://a", "http://b"]));
        logins.put(login("https://two", &["http://b"]));
        logins.put(login("https://one", &["http://c"]));
        logins.write().unwrap();
        let mut logins = locked(folder.path());
        assert_eq!(logins.logins.len(), 2);
        assert_eq!(logins.of("http://a").unwrap().issuer, "https://one");
        assert_eq!(logins.of("http://c").unwrap().issuer, "https://one");
        assert_eq!(logins.of("http://b").unwrap().issuer, "https://two");
        assert!(logins.of("http://d").is_none());
    }

    #[test]
    fn the_command_that_logs_in_again_begins_with_the_provider() {
        let mut login = login("https://a", &["https://b", "https://a"]);
        let by_issuer =
            "soml login --url https://b --url https://a --issuer https://a --client-id cli";
        assert_eq!(login.command(), by_issuer);
        login.client_id = None;
        assert_eq!(
            login.command(),
            "soml login --url https://a --url https://b"
        );
    }

    #[test]
    fn a_token_without_an_end_is_used() {
        let mut login = login("https://one", &[]);
        login.set(&Secret::new("a"), None, None);
        assert!(!login.has_expired());
        let soon = SystemTime::now() + MARGIN / 2;
        login.set(&Secret::new("a"), Some(soon), None);
        assert!(login.has_expired());
        login.set(&Secret::new("a"), Some(soon + MARGIN * 9), None);
        assert!(!login.has_expired());
    }

    #[test]
    fn services_are_named_without_the_last_slash() {
        let named = |text| server(&Url::parse(text).unwrap());
        assert_eq!(named("http://LocalHost:80/"), "http://localhost");
        assert_eq!(named("https://a/b/?c#d"), "https://a/b");
    }
}
