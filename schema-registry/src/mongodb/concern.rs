//! Read and write concerns: what a server is asked to guarantee of what it reads and writes.
//!
//! See "Read Concern" and "Write Concern" in the manual of MongoDB.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use mongodb::options::{ReadConcern, ReadConcernLevel};

/// The largest number of members that a replica set has.
const MOST_MEMBERS: u32 = 50;

/// Which data reads return.
///
/// A server that does not support a read concern answers with an error, which the store reports; no other concern is
/// used in its place. `snapshot` needs a replica set of MongoDB 5.0 or later, and `linearizable` a replica set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MongoReadConcern {
    /// No read concern is sent, so the default of the server applies.
    Default,
    /// What the primary has, even if a failover may undo it.
    Local,
    /// What a majority of the members has.
    #[default]
    Majority,
    /// What a majority has, with every change acknowledged before the read began.
    Linearizable,
    /// One state of all data, which a majority has.
    Snapshot,
    /// As `local`, and in sharded clusters without asking whether a document has moved.
    Available,
}

impl MongoReadConcern {
    /// All of them.
    pub const ALL: [MongoReadConcern; 6] = [
        MongoReadConcern::Default,
        MongoReadConcern::Local,
        MongoReadConcern::Majority,
        MongoReadConcern::Linearizable,
        MongoReadConcern::Snapshot,
        MongoReadConcern::Available,
    ];

    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            MongoReadConcern::Default => "default",
            MongoReadConcern::Local => "local",
            MongoReadConcern::Majority => "majority",
            MongoReadConcern::Linearizable => "linearizable",
            MongoReadConcern::Snapshot => "snapshot",
            MongoReadConcern::Available => "available",
        }
    }

    pub(super) fn to_sent(self) -> Option<ReadConcern> {
        let level = match self {
            MongoReadConcern::Default => return None,
            MongoReadConcern::Local => ReadConcernLevel::Local,
            MongoReadConcern::Majority => ReadConcernLevel::Majority,
            MongoReadConcern::Linearizable => ReadConcernLevel::Linearizable,
            MongoReadConcern::Snapshot => ReadConcernLevel::Snapshot,
            MongoReadConcern::Available => ReadConcernLevel::Available,
        };
        Some(level.into())
    }
}

impl fmt::Display for MongoReadConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MongoReadConcern {
    type Err = &'static str;

    /// Parses a name, in any case; the error completes "expected …".
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = |concern: &MongoReadConcern| concern.as_str().eq_ignore_ascii_case(text.trim());
        MongoReadConcern::ALL
            .into_iter()
            .find(named)
            .ok_or("`default`, `local`, `majority`, `linearizable`, `snapshot` or `available`")
    }
}

/// What a server has done before it acknowledges a write.
///
/// It is parsed from a name or from settings that are separated by commas:
///
/// ```
/// use schema_registry::MongoWriteConcern;
///
/// let concern: MongoWriteConcern = "w=2, wtimeout=1000".parse()?;
/// assert_eq!(concern.to_string(), "w=2, wtimeout=1000");
/// assert!("unacknowledged".parse::<MongoWriteConcern>()?.is_unacknowledged());
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MongoWriteConcern {
    members: Option<Members>,
    timeout: Option<Duration>,
    journal: Option<bool>,
}

/// Which members of a replica set have a write.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    Number(u32),
    Majority,
    /// Those of a custom write concern, which is defined by tags in the configuration of the replica set.
    Tag(String),
}

/// Names, and what they stand for.
const NAMED: [(&str, MongoWriteConcern); 7] = [
    ("acknowledged", named(None, None)),
    ("w1", named(Some(Members::Number(1)), None)),
    ("w2", named(Some(Members::Number(2)), None)),
    ("w3", named(Some(Members::Number(3)), None)),
    ("unacknowledged", named(Some(Members::Number(0)), None)),
    ("journaled", named(None, Some(true))),
    ("majority", named(Some(Members::Majority), None)),
];

const fn named(members: Option<Members>, journal: Option<bool>) -> MongoWriteConcern {
    MongoWriteConcern {
        members,
        timeout: None,
        journal,
    }
}

impl Default for MongoWriteConcern {
    fn default() -> Self {
        named(Some(Members::Majority), None)
    }
}

impl MongoWriteConcern {
    /// Returns whether writes are not acknowledged by the server.
    #[must_use]
    pub fn is_unacknowledged(&self) -> bool {
        self.members == Some(Members::Number(0))
    }

    /// Returns what a command has under `writeConcern`, if anything.
    pub(super) fn to_sent(&self) -> Option<Document> {
        let mut sent = Document::new();
        match &self.members {
            None => {}
            Some(Members::Number(number)) => {
                sent.insert("w", i32::try_from(*number).unwrap_or(i32::MAX));
            }
            Some(Members::Majority) => {
                sent.insert("w", "majority");
            }
            Some(Members::Tag(tag)) => {
                sent.insert("w", tag);
            }
        }
        if let Some(timeout) = self.timeout {
            sent.insert("wtimeout", milliseconds(timeout));
        }
        if let Some(journal) = self.journal {
            sent.insert("j", journal);
        }
        (!sent.is_empty()).then_some(sent)
    }
}

/// Returns a time as commands have it.
pub(super) fn milliseconds(time: Duration) -> Bson {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).into()
}

impl fmt::Display for MongoWriteConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, concern)| concern == self) {
            return f.write_str(name);
        }
        let members = self.members.as_ref().map(|members| match members {
            Members::Number(number) => format!("w={number}"),
            Members::Majority => "w=majority".to_owned(),
            Members::Tag(tag) => format!("w={tag}"),
        });
        let timeout = self
            .timeout
            .map(|timeout| format!("wtimeout={}", timeout.as_millis()));
        let journal = self.journal.map(|journal| format!("journal={journal}"));
        let settings: Vec<_> = [members, timeout, journal].into_iter().flatten().collect();
        f.write_str(&settings.join(", "))
    }
}

impl FromStr for MongoWriteConcern {
    type Err = &'static str;

    /// Parses a name in any case, or settings; the error completes "expected …".
    ///
    /// The settings are `w` (a number of members, `majority` or the name of a custom write concern), `wtimeout` in
    /// milliseconds, and `journal` or `j` (`true` or `false`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Some((_, concern)) = NAMED
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text))
        {
            return Ok(concern.clone());
        }
        let mut concern = named(None, None);
        for setting in text.split(',') {
            concern.set(setting.trim())?;
        }
        if concern.is_unacknowledged() && concern.journal == Some(true) {
            return Err("a number of members above 0 with `journal=true`");
        }
        Ok(concern)
    }
}

impl MongoWriteConcern {
    fn set(&mut self, setting: &str) -> Result<(), &'static str> {
        const EXPECTED: &str = "`acknowledged`, `w1`, `w2`, `w3`, `unacknowledged`, `journaled`, `majority`, or \
                                settings such as `w=2, wtimeout=1000, journal=true`";
        let (key, value) = setting.split_once('=').ok_or(EXPECTED)?;
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let is_repeated = match key.as_str() {
            "w" => self.members.replace(members(value)?).is_some(),
            "wtimeout" | "wtimeoutms" => self.timeout.replace(timeout(value)?).is_some(),
            "j" | "journal" => self.journal.replace(flag(value)?).is_some(),
            _ => return Err(EXPECTED),
        };
        if is_repeated {
            Err("each setting once")
        } else {
            Ok(())
        }
    }
}

fn members(value: &str) -> Result<Members, &'static str> {
    const EXPECTED: &str =
        "`w` to be a number from 0 to 50, `majority` or the name of a custom write concern";
    if value.eq_ignore_ascii_case("majority") {
        return Ok(Members::Majority);
    }
    if value.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+')) {
        let number = value.parse().map_err(|_| EXPECTED)?;
        return if number <= MOST_MEMBERS {
            Ok(Members::Number(number))
        } else {
            Err(EXPECTED)
        };
    }
    if value.is_empty() || value.contains('=') {
        return Err(EXPECTED);
    }
    Ok(Members::Tag(value.to_owned()))
}

fn timeout(value: &str) -> Result<Duration, &'static str> {
    let milliseconds: u32 = value
        .parse()
        .ok()
        .filter(|milliseconds| i32::try_from(*milliseconds).is_ok())
        .ok_or("`wtimeout` to be a number of milliseconds")?;
    Ok(Duration::from_millis(milliseconds.into()))
}

fn flag(value: &str) -> Result<bool, &'static str> {
    value
        .to_ascii_lowercase()
        .parse()
        .map_err(|_| "`journal` to be `true` or `false`")
}

/// Returns the read concern by which it is learnt whether a write was made whose answer was lost: nothing undoes what a
/// majority has. A write that no one acknowledges is looked for where it was sent to.
pub(super) fn confirming(write: &MongoWriteConcern) -> MongoReadConcern {
    if write.is_unacknowledged() {
        MongoReadConcern::Local
    } else {
        MongoReadConcern::Majority
    }
}

/// Adds a write concern to a command.
pub(super) fn add(command: &mut Document, concern: &MongoWriteConcern) {
    if let Some(concern) = concern.to_sent() {
        command.extend(doc! { "writeConcern": concern });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_concerns_are_parsed_and_shown() {
        for concern in MongoReadConcern::ALL {
            assert_eq!(concern.to_string().parse(), Ok(concern));
            assert_eq!(concern.as_str().to_uppercase().parse(), Ok(concern));
        }
        let expected = "majorit".parse::<MongoReadConcern>().unwrap_err();
        assert!(expected.starts_with("`default`, `local`"), "{expected}");
    }

    #[test]
    fn write_concerns_are_parsed_and_shown_and_sent() {
        for (text, shown, sent) in [
            ("acknowledged", "acknowledged", doc! {}),
            ("W1", "w1", doc! { "w": 1 }),
            ("w2", "w2", doc! { "w": 2 }),
            ("w=3", "w3", doc! { "w": 3 }),
            ("unacknowledged", "unacknowledged", doc! { "w": 0 }),
            ("journaled", "journaled", doc! { "j": true }),
            (" MAJORITY ", "majority", doc! { "w": "majority" }),
            (
                "w=2, wtimeout=1000",
                "w=2, wtimeout=1000",
                doc! { "w": 2, "wtimeout": 1000 },
            ),
            (
                "W = majority , wTimeoutMS=0,j=TRUE",
                "w=majority, wtimeout=0, journal=true",
                doc! { "w": "majority", "wtimeout": 0, "j": true },
            ),
            ("w=twoRacks", "w=twoRacks", doc! { "w": "twoRacks" }),
            ("journal=false", "journal=false", doc! { "j": false }),
            ("wtimeout=7", "wtimeout=7", doc! { "wtimeout": 7 }),
        ] {
            let concern: MongoWriteConcern = text.parse().unwrap();
            assert_eq!(concern.to_string(), shown);
            assert_eq!(concern.to_sent().unwrap_or_default(), sent, "{text}");
            assert_eq!(shown.parse(), Ok(concern));
        }
        assert_eq!(MongoWriteConcern::default().to_string(), "majority");
    }

    #[test]
    fn what_is_no_write_concern_is_refused() {
        for text in [
            "",
            "w4",
            "w",
            "w=",
            "w=51",
            "w=-1",
            "w=2x",
            "w=1,",
            "w=1,w=2",
            "w=a=b",
            "x=1",
            "wtimeout=",
            "wtimeout=-1",
            "wtimeout=4294967295",
            "j=1",
            "w=0, j=true",
        ] {
            assert!(text.parse::<MongoWriteConcern>().is_err(), "{text}");
        }
    }
}
