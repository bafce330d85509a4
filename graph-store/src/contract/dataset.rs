//! Which graphs are read.

use super::data::e;
use super::subject::{Subject, selection, things};
use crate::query::{Dataset, Selection};

fn from(subject: &Subject, graphs: &[&str]) -> Vec<String> {
    let graphs = graphs.iter().map(|name| e(name)).collect();
    let mut names = subject.select(&Selection {
        dataset: Dataset {
            graphs: Some(graphs),
            ..Dataset::default()
        },
        ..selection(things())
    });
    names.sort_unstable();
    names
}

pub(super) fn without_a_list_all_graphs_are_read(subject: &Subject) {
    let mut names = subject.select(&selection(things()));
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"]);
}

pub(super) fn listed_graphs_alone_are_read(subject: &Subject) {
    assert_eq!(from(subject, &["g1"]), ["b"]);
    assert_eq!(from(subject, &["g1", "g2"]), ["b", "c"]);
    assert_eq!(from(subject, &["unknown"]), [""; 0]);
}

pub(super) fn no_listed_graph_means_no_data(subject: &Subject) {
    assert_eq!(from(subject, &[]), [""; 0]);
}
