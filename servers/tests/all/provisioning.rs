//! Provisioning files: what they say, and what is wrong with them.

use std::fs;

use service_auth::provisioning::{Password, Provisioning, ProvisioningError};
use tempfile::TempDir;

const HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$\
                    bm90IGEgcmVhbCBoYXNoLCBidXQgMzIgYnl0ZXMhISE";

fn parse(text: &str) -> Result<Provisioning, ProvisioningError> {
    Provisioning::parse("users.yaml", text, &|name| match name {
        "PASSWORD" => Some("from the environment".to_owned()),
        "HASH" => Some(HASH.to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    })
}

/// Returns the mistakes of a text that begins with the usual roles.
fn mistakes_of_user(user: &str) -> String {
    let text = format!(
        "security:\n  roles: [{{name: Reader, default: true}}, {{name: Editor}}]\n  users:\n  - {user}\n"
    );
    parse(&text).expect_err(user).to_string()
}

#[test]
fn roles_and_users_are_read() {
    let text = format!(
        "security:
  roles:
  - name: Reader
    default: true
  - {{name: Admin, superRole: true, default: false}}
  users:
  - {{username: anna, email: anna@example.org, password: correct horse, roles: [Admin]}}
  - {{username: bert, password: '${{PASSWORD}}'}}
  - {{username: carl, password: '{HASH}', roles: []}}
  - {{username: dora, password: 0123}}
  - {{username: emil, password: '${{HASH}}'}}
"
    );
    let read = parse(&text).unwrap();
    assert_eq!(read.super_roles().collect::<Vec<_>>(), ["Admin"]);
    assert_eq!(read.default_roles().collect::<Vec<_>>(), ["Reader"]);
    let users: Vec<_> = read
        .users
        .iter()
        .map(|user| {
            let password = match &user.password {
                Password::Plain(text) => text.reveal(),
                Password::Hash(_) => "a hash",
            };
            (
                user.username.as_str(),
                user.email.as_deref(),
                password,
                user.roles.as_slice(),
            )
        })
        .collect();
    let (reader, admin) = (["Reader".to_owned()], ["Admin".to_owned()]);
    assert_eq!(
        users,
        [
            (
                "anna",
                Some("anna@example.org"),
                "correct horse",
                &admin[..]
            ),
            ("bert", None, "from the environment", &reader),
            ("carl", None, "a hash", &[]),
            ("dora", None, "0123", &reader),
            ("emil", None, "a hash", &reader),
        ]
    );
}

#[test]
fn mistakes_have_their_place_and_the_nearest_name() {
    for (text, expected) in [
        ("", "1:1: the file is empty, expected `security`"),
        (
            "users: []",
            "1:1: unknown key `users` in the file\nusers.yaml:1:1: the file has no `security`",
        ),
        (
            "securty: {}",
            "1:1: unknown key `securty` in the file; did you mean `security`?\nusers.yaml:1:1: the file has no `security`",
        ),
        (
            "security: [a]",
            "1:11: security: expected a mapping, found a list",
        ),
        (
            "security: {user: []}",
            "1:12: unknown key `user` in security; did you mean `users`?",
        ),
        (
            "security:\n  roles: Reader",
            "2:10: security.roles: expected a list, found a string",
        ),
        (
            "security:\n  roles:\n  - {name: A}\n  - {name: A}",
            "4:12: security.roles[1].name: there are two roles `A`",
        ),
        (
            "security:\n  roles:\n  - {superRole: true}",
            "3:5: security.roles[0] has no `name`",
        ),
        (
            "security:\n  roles:\n  - {name: A, superrole: true}",
            "3:15: unknown key `superrole` in security.roles[0]; did you mean `superRole`?",
        ),
        (
            "security:\n  roles:\n  - {name: A, default: 'true'}",
            "3:24: security.roles[0].default: expected true or false",
        ),
        (
            "security:\n  roles:\n  - {name: ' '}",
            "3:12: security.roles[0].name: the string is empty",
        ),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert_eq!(error, format!("users.yaml:{expected}"), "{text}");
    }
}

#[test]
fn mistakes_of_users_have_their_place_and_the_nearest_name() {
    for (user, expected) in [
        ("{password: x}", "4:5: security.users[0] has no `username`"),
        ("{username: a}", "4:5: security.users[0] has no `password`"),
        (
            "{username: a, pasword: x}",
            "4:19: unknown key `pasword` in security.users[0]; did you mean `password`?\nusers.yaml:4:5: security.users[0] has no `password`",
        ),
        (
            "{username: a, password: x, roles: [Raeder]}",
            "4:40: security.users[0].roles[0]: no role `Raeder` in security.roles; did you mean `Reader`?",
        ),
        (
            "{username: a, password: x, roles: [Reader, Reader]}",
            "4:48: security.users[0].roles[1]: the role `Reader` is listed twice",
        ),
        (
            "{username: a, password: x, roles: Reader}",
            "4:39: security.users[0].roles: expected a list, found a string",
        ),
        (
            "{username: a, password: [x]}",
            "4:29: security.users[0].password: expected a string, found a list",
        ),
        (
            "{username: a, password: ''}",
            "4:29: security.users[0].password: the password is empty",
        ),
        (
            "{username: a, password: '${EMPTY}'}",
            "4:29: security.users[0].password: the password is empty",
        ),
        (
            "{username: a, password: '${NOWHERE}'}",
            "4:29: security.users[0].password: the environment has no variable `NOWHERE`",
        ),
        (
            "{username: a, password: '${A B}'}",
            "4:29: security.users[0].password: `${…}` does not name a variable of the environment",
        ),
        (
            "{username: a, password: $argon2id$v=19$x}",
            "4:29: security.users[0].password: the argon2 string is malformed",
        ),
        (
            "{username: A, email: a, password: x}",
            "4:26: security.users[0]: there are two users `a`",
        ),
    ] {
        assert_eq!(
            mistakes_of_user(user),
            format!("users.yaml:{expected}"),
            "{user}"
        );
    }
    let twice =
        mistakes_of_user("{username: a, password: x}\n  - {username: b, email: A, password: x}");
    assert_eq!(
        twice,
        "users.yaml:5:26: security.users[1]: there are two users `A`"
    );
}

#[test]
fn a_hash_that_would_stall_log_ins_is_refused() {
    for costly in [
        "m=1048576,t=2,p=1",
        "m=19456,t=1000,p=1",
        "m=19456,t=2,p=64",
    ] {
        let hash = HASH.replace("m=19456,t=2,p=1", costly);
        let mistakes = mistakes_of_user(&format!("{{username: a, password: '{hash}'}}"));
        assert!(
            mistakes.contains("more than 256 MiB, 16 passes or 8 lanes"),
            "{mistakes}"
        );
    }
}

#[test]
fn nothing_shows_a_password() {
    for text in [
        "security: {users: [{username: a, password: [hunter2]}]}",
        "security: {users: [{username: a, password: {hunter2: hunter2}}]}",
        "security:\n  users:\n  - username: a\n    password: hunter2: hunter2\n",
        "security:\n  users:\n  - username: a\n    password\n    hunter2: x: y\n",
        "security:\n  users:\n  - username: a\n    password: @hunter2\n",
        "security:\n  users:\n  - username: a\n    password: 'hunter2\n",
        "security: {users: [{username: a, password: $argon2id$hunter2}]}",
    ] {
        let error = parse(text).expect_err(text);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
    let read = parse("security: {users: [{username: a, password: hunter2}]}").unwrap();
    assert!(!format!("{read:?}").contains("hunter2"));
}

#[test]
fn a_file_that_is_missing_or_too_large_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("users.yaml");
    let missing = Provisioning::read(&path).unwrap_err();
    assert!(
        matches!(missing, ProvisioningError::Read { .. }),
        "{missing}"
    );
    fs::write(&path, format!("# {}\nsecurity: {{}}", "x".repeat(1 << 20))).unwrap();
    let large = Provisioning::read(&path).unwrap_err();
    assert!(
        matches!(large, ProvisioningError::TooLarge { .. }),
        "{large}"
    );
    fs::write(&path, "security: {}").unwrap();
    assert!(Provisioning::read(&path).unwrap().users.is_empty());
}
