//! What a folder keeps of documents, and what is refused or named when files are damaged or gone.

use super::*;
use crate::store::MigrationPhase;

fn open(folder: &Path) -> FolderSchemaStore {
    FolderSchemaStore::open(folder).unwrap()
}

#[tokio::test]
async fn documents_rights_and_the_binding_are_there_after_a_restart() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    let one = store
        .create("Films", "id: /soml/Films".into())
        .await
        .unwrap();
    let two = store.create("films", "x: 1\n".into()).await.unwrap();
    let any = Expected::default();
    let two_now = store.replace("films", "x: 2\n".into(), &any).await.unwrap();
    assert_ne!(two.revision, two_now.revision);
    store.create("gone", "".into()).await.unwrap();
    store.remove("gone", &any).await.unwrap();
    let long = "Ab".repeat(64);
    let longest = store.create(&long, "".into()).await.unwrap();
    let rights = store.set_rights("rbac: {}".into(), &any).await.unwrap();
    store
        .set_binding(ServiceKind::Objects, Some("Films"))
        .await
        .unwrap();
    fs::write(folder.path().join("documents/half.partial"), "x").unwrap();

    let again = open(folder.path());
    assert_eq!(again.get("Films").await.unwrap(), Some(one));
    assert_eq!(again.get("films").await.unwrap(), Some(two_now));
    assert_eq!(again.get(&long).await.unwrap(), Some(longest));
    assert_eq!(again.list().await.unwrap().len(), 3);
    assert_eq!(again.rights().await.unwrap(), Some(rights));
    assert_eq!(
        again.binding(ServiceKind::Objects).await.unwrap().id(),
        Some("Films")
    );
    again.set_binding(ServiceKind::Objects, None).await.unwrap();
    assert_eq!(
        open(folder.path())
            .binding(ServiceKind::Objects)
            .await
            .unwrap()
            .id(),
        None
    );
}

#[tokio::test]
async fn a_copy_has_everything() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(&folder.path().join("a"));
    let stored = store.create("films", "x: 1\n".into()).await.unwrap();
    store
        .set_binding(ServiceKind::Objects, Some("films"))
        .await
        .unwrap();
    store.copy_to(&folder.path().join("b")).unwrap();
    let copy = open(&folder.path().join("b"));
    assert_eq!(copy.get("films").await.unwrap(), Some(stored));
    assert_eq!(
        copy.binding(ServiceKind::Objects).await.unwrap().id(),
        Some("films")
    );
}

#[tokio::test]
async fn a_document_of_a_later_version_is_refused_as_such() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("films", "id: x\n".into()).await.unwrap();
    let path = folder.path().join("documents/films.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(FORM, "# soml-store 12 ", 1)).unwrap();
    match FolderSchemaStore::open(folder.path()) {
        Err(SchemaStoreError::Version { path: named }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_flipped_bit_and_every_cut_is_refused_with_the_name_of_the_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("films", "id: x\n".into()).await.unwrap();
    let path = folder.path().join("documents/films.yaml");
    let whole = fs::read(&path).unwrap();
    let mut broken: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        broken.push(bytes);
    }
    for bytes in broken {
        fs::write(&path, &bytes).unwrap();
        match FolderSchemaStore::open(folder.path()) {
            Err(SchemaStoreError::Damaged { path: named, .. }) => assert_eq!(named, path),
            // Another digit as the version.
            Err(SchemaStoreError::Version { path: named })
                if bytes[..MARK.len()] == whole[..MARK.len()]
                    && bytes[MARK.len()] != whole[MARK.len()] =>
            {
                assert_eq!(named, path);
            }
            other => panic!("{other:?}: {}", String::from_utf8_lossy(&bytes)),
        }
    }
}

#[tokio::test]
async fn what_was_unbound_stays_unbound_and_a_lost_binding_is_not_made_up() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("films", "x: 1\n".into()).await.unwrap();
    let bound = folder.path().join("bound.yaml");
    assert!(bound.exists(), "that nothing is bound is kept too");
    assert_eq!(
        open(folder.path())
            .binding(ServiceKind::Objects)
            .await
            .unwrap()
            .id(),
        None
    );
    store
        .set_binding(ServiceKind::Objects, Some("films"))
        .await
        .unwrap();
    store.set_binding(ServiceKind::Objects, None).await.unwrap();
    let again = open(folder.path());
    assert_eq!(
        again.binding(ServiceKind::Objects).await.unwrap().id(),
        None
    );
    assert!(again.missing().await.unwrap().is_empty());
    again.copy_to(&folder.path().join("copy")).unwrap();
    assert!(folder.path().join("copy/bound.yaml").exists());
    again
        .set_binding(ServiceKind::Objects, Some("films"))
        .await
        .unwrap();
    fs::remove_file(&bound).unwrap();
    assert_eq!(again.missing().await.unwrap(), ["bound.yaml"]);
    assert_eq!(
        open(folder.path())
            .binding(ServiceKind::Objects)
            .await
            .unwrap()
            .id(),
        None
    );
    fs::create_dir(&bound).unwrap();
    match FolderSchemaStore::open(folder.path()) {
        Err(SchemaStoreError::Access { path, .. }) => assert_eq!(path, bound),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_bound_to_searches_is_kept_apart_from_what_is_bound_to_the_object_service() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    let search = async |folder: &Path| open(folder).binding(ServiceKind::Search).await.unwrap();
    let films = Binding::Schema("films".to_owned());
    for id in ["films", "books"] {
        store.create(id, "x: 1\n".into()).await.unwrap();
    }
    assert_eq!(search(folder.path()).await, Binding::Unknown);
    store
        .set_binding(ServiceKind::Objects, Some("books"))
        .await
        .unwrap();
    assert_eq!(search(folder.path()).await, Binding::Unknown);
    store
        .set_binding(ServiceKind::Search, Some("films"))
        .await
        .unwrap();
    assert_eq!(search(folder.path()).await, films);
    // Whatever happens to the one leaves the other alone.
    store.set_binding(ServiceKind::Objects, None).await.unwrap();
    assert_eq!(search(folder.path()).await, films);
    assert_eq!(
        open(folder.path())
            .binding(ServiceKind::Objects)
            .await
            .unwrap()
            .id(),
        None
    );
    store
        .set_binding(ServiceKind::Objects, Some("books"))
        .await
        .unwrap();
    store.set_binding(ServiceKind::Search, None).await.unwrap();
    assert_eq!(search(folder.path()).await, Binding::Nothing);
    let again = open(folder.path());
    assert_eq!(
        again.binding(ServiceKind::Objects).await.unwrap().id(),
        Some("books")
    );
    again
        .set_binding(ServiceKind::Search, Some("films"))
        .await
        .unwrap();
    let copy = folder.path().join("copy");
    again.copy_to(&copy).unwrap();
    assert_eq!(search(&copy).await, films);
}

#[tokio::test]
async fn a_lost_document_that_is_bound_to_searches_is_named_and_a_removed_one_is_not() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("films", "x: 1\n".into()).await.unwrap();
    store
        .set_binding(ServiceKind::Search, Some("films"))
        .await
        .unwrap();
    let path = folder.path().join("documents/films.yaml");
    fs::remove_file(&path).unwrap();
    match open(folder.path()).binding(ServiceKind::Search).await {
        Err(SchemaStoreError::Missing { path: named, .. }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
    let again = open(folder.path());
    again.remove("films", &Expected::default()).await.unwrap();
    for store in [again, open(folder.path())] {
        let kept = store.binding(ServiceKind::Search).await.unwrap();
        assert_eq!(kept, Binding::Schema("films".to_owned()));
        assert_eq!(store.get("films").await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_binding_that_cannot_be_written_does_not_change() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("films", "x: 1\n".into()).await.unwrap();
    store
        .set_binding(ServiceKind::Search, Some("films"))
        .await
        .unwrap();
    let blocked = folder.path().join("bound.partial");
    fs::create_dir(&blocked).unwrap();
    store
        .set_binding(ServiceKind::Search, None)
        .await
        .unwrap_err();
    fs::remove_dir(&blocked).unwrap();
    for store in [store, open(folder.path())] {
        let kept = store.binding(ServiceKind::Search).await.unwrap();
        assert_eq!(kept, Binding::Schema("films".to_owned()));
    }
}

#[tokio::test]
async fn bindings_of_a_later_version_are_refused_as_such() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.set_binding(ServiceKind::Search, None).await.unwrap();
    let path = bound_path(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.ends_with("{\"schemas\":[],\"rights\":false,\"search\":\"\"}\n"),
        "{text}"
    );
    fs::write(&path, text.replacen(FORM, "# soml-store 2 ", 1)).unwrap();
    match FolderSchemaStore::open(folder.path()) {
        Err(SchemaStoreError::Version { path: named }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_folder_is_opened_for_writing_where_that_is_allowed() {
    let folder = tempfile::TempDir::new().unwrap();
    let place = folder.path().join("new");
    let store = FolderSchemaStore::open_as_allowed(&place).unwrap();
    store.set_binding(ServiceKind::Search, None).await.unwrap();
    let again = FolderSchemaStore::open_as_allowed(&place).unwrap();
    assert_eq!(
        again.binding(ServiceKind::Search).await.unwrap(),
        Binding::Nothing
    );
    let names: Vec<_> = fs::read_dir(&place).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for kind in [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ] {
        assert!(is_refused(&kind.into()));
    }
    assert!(!is_refused(&io::ErrorKind::StorageFull.into()));
}

#[tokio::test]
async fn a_missing_document_is_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    for id in ["films", "Books"] {
        store.create(id, "x: 1\n".into()).await.unwrap();
    }
    store
        .set_binding(ServiceKind::Objects, Some("films"))
        .await
        .unwrap();
    let path = folder.path().join("documents/films.yaml");
    fs::remove_file(&path).unwrap();
    assert_eq!(store.missing().await.unwrap(), ["documents/films.yaml"]);
    match open(folder.path()).binding(ServiceKind::Objects).await {
        Err(error @ SchemaStoreError::Missing { .. }) => {
            let text = error.to_string();
            assert!(text.contains(path.to_str().unwrap()), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn missing_rights_are_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    let any = Expected::default();
    store.set_rights("rbac: {}".into(), &any).await.unwrap();
    assert!(store.missing().await.unwrap().is_empty());
    fs::remove_file(folder.path().join("rights.yaml")).unwrap();
    assert_eq!(store.missing().await.unwrap(), ["rights.yaml"]);
    let again = open(folder.path());
    assert_eq!(again.rights().await.unwrap(), None);
    assert_eq!(again.missing().await.unwrap(), ["rights.yaml"]);
    again.set_rights("rbac: {}".into(), &any).await.unwrap();
    assert!(again.missing().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_document_missing_at_the_start_is_named_until_it_is_removed_or_stored_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    for id in ["films", "books", "Kept"] {
        store.create(id, "x: 1\n".into()).await.unwrap();
    }
    for id in ["films", "books"] {
        let path = folder.path().join(format!("documents/{id}.yaml"));
        fs::remove_file(path).unwrap();
    }
    let both = ["documents/books.yaml", "documents/films.yaml"];
    let again = open(folder.path());
    assert_eq!(again.missing().await.unwrap(), both);
    assert_eq!(again.list().await.unwrap().len(), 1);
    again
        .set_binding(ServiceKind::Objects, Some("Kept"))
        .await
        .unwrap();
    let again = open(folder.path());
    assert_eq!(again.missing().await.unwrap(), both, "they stay listed");
    again.create("films", "x: 2\n".into()).await.unwrap();
    assert_eq!(again.missing().await.unwrap(), both[..1]);
    let any = Expected::default();
    again.remove("books", &any).await.unwrap();
    assert!(matches!(
        again.remove("books", &any).await,
        Err(SchemaStoreError::NotFound)
    ));
    let again = open(folder.path());
    assert!(again.missing().await.unwrap().is_empty());
    assert_eq!(again.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_was_removed_or_never_acknowledged_is_not_named_as_missing() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    for id in ["films", "books"] {
        store.create(id, "x: 1\n".into()).await.unwrap();
    }
    let (path, any) = (document_path(folder.path(), "films"), Expected::default());
    let text = fs::read(&path).unwrap();
    store.remove("films", &any).await.unwrap();
    assert!(open(folder.path()).missing().await.unwrap().is_empty());
    // As a crash leaves it between the list and the document.
    fs::write(&path, text).unwrap();
    let again = open(folder.path());
    assert_eq!(again.list().await.unwrap().len(), 2);
    // The list cannot be written.
    let blocked = folder.path().join("bound.partial");
    fs::create_dir(&blocked).unwrap();
    again.create("plays", "x: 1\n".into()).await.unwrap_err();
    again.remove("books", &any).await.unwrap_err();
    fs::remove_dir(&blocked).unwrap();
    for store in [again, open(folder.path())] {
        assert_eq!(store.list().await.unwrap().len(), 2);
        assert!(store.missing().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_folder_of_an_earlier_version_lists_nothing_until_it_is_changed() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    for id in ["films", "books"] {
        store.create(id, "x: 1\n".into()).await.unwrap();
    }
    let bound = bound_path(folder.path());
    let earlier = StoredSchema {
        id: "films".to_owned(),
        text: "".into(),
        revision: "-".to_owned(),
    };
    write(&bound, &earlier).unwrap();
    let again = open(folder.path());
    assert_eq!(
        again.binding(ServiceKind::Objects).await.unwrap().id(),
        Some("films")
    );
    assert!(again.missing().await.unwrap().is_empty());
    let any = Expected::default();
    again.replace("films", "x: 2\n".into(), &any).await.unwrap();
    let text = read(&bound).unwrap().text;
    assert_eq!(
        &*text,
        "{\"schemas\":[\"books\",\"films\"],\"rights\":false}\n"
    );
    let other = StoredSchema {
        text: "- films\n".into(),
        ..earlier
    };
    write(&bound, &other).unwrap();
    match FolderSchemaStore::open(folder.path()) {
        Err(SchemaStoreError::Damaged { path, .. }) => assert_eq!(path, bound),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_keeps_changes_in_memory() {
    let folder = tempfile::TempDir::new().unwrap();
    let none = folder.path().join("none");
    let store = FolderSchemaStore::open_read_only(&none).unwrap();
    store.create("films", "x: 1\n".into()).await.unwrap();
    store
        .set_binding(ServiceKind::Objects, Some("films"))
        .await
        .unwrap();
    store.set_binding(ServiceKind::Search, None).await.unwrap();
    assert_eq!(
        store.binding(ServiceKind::Objects).await.unwrap().id(),
        Some("films")
    );
    assert_eq!(
        store.binding(ServiceKind::Search).await.unwrap(),
        Binding::Nothing
    );
    assert!(!none.exists() && store.missing().await.unwrap().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn documents_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::TempDir::new().unwrap();
    let place = folder.path().join("schemas");
    let store = open(&place);
    store.create("films", "x: 1\n".into()).await.unwrap();
    for (name, wanted) in [
        ("", 0o700),
        ("documents", 0o700),
        ("documents/films.yaml", 0o600),
        ("bound.yaml", 0o600),
    ] {
        let mode = fs::metadata(place.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, wanted, "{name}");
    }
}

#[tokio::test]
async fn how_far_a_migration_has_come_is_kept_in_a_file_and_in_copies() {
    let folder = tempfile::TempDir::new().unwrap();
    let place = folder.path().join("a");
    let store = open(&place);
    let record = MigrationRecord {
        attempt: "1".to_owned(),
        source: "rdf4j".to_owned(),
        phase: MigrationPhase::Emptying {
            schemas: vec!["films".to_owned()],
        },
    };
    assert!(store.swap_migration(None, Some(&record)).await.unwrap());
    store.copy_to(&folder.path().join("b")).unwrap();
    for place in [&place, &folder.path().join("b")] {
        let again = open(place);
        assert_eq!(again.migration().await.unwrap().as_ref(), Some(&record));
        assert!(again.list().await.unwrap().is_empty());
    }
    let path = migration_path(&place);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("films", "filmx")).unwrap();
    match FolderSchemaStore::open(&place) {
        Err(SchemaStoreError::Damaged { path: named, .. }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
    fs::write(&path, text).unwrap();
    let again = open(&place);
    assert!(again.swap_migration(Some(&record), None).await.unwrap());
    assert!(!path.exists());
    assert_eq!(open(&place).migration().await.unwrap(), None);
}

#[tokio::test]
async fn nothing_is_moved_to_a_folder_that_cannot_be_written_to() {
    let folder = tempfile::TempDir::new().unwrap();
    drop(open(folder.path()));
    let store = FolderSchemaStore::open_read_only(folder.path()).unwrap();
    assert!(store.is_read_only());
    let refused = store.swap_migration(None, None).await;
    assert!(
        matches!(refused, Err(SchemaStoreError::Access { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_is_left_of_a_folder_that_was_being_cleared_is_cleared_by_the_next_process() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = open(folder.path());
    store.create("books", "x: 1\n".into()).await.unwrap();
    store.create("films", "x: 1\n".into()).await.unwrap();
    let record = MigrationRecord {
        attempt: "1".to_owned(),
        source: "rdf4j".to_owned(),
        phase: MigrationPhase::Cleaning,
    };
    assert!(store.swap_migration(None, Some(&record)).await.unwrap());
    let left = document_path(folder.path(), "films");
    let text = fs::read(&left).unwrap();
    assert!(store.clear(&record).await.unwrap());
    // The process ended before it had removed all files.
    fs::write(&left, text).unwrap();
    let again = open(folder.path());
    assert_eq!(again.list().await.unwrap().len(), 1);
    assert!(again.clear(&record).await.unwrap());
    assert!(!left.exists());
    assert!(open(folder.path()).list().await.unwrap().is_empty());
}
