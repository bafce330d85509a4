//! Which graphs are read.

use graph_store::query::{Dataset, Selection};

use crate::stores::{Subject, e, selection, things};

over_every_store! {
    without_a_list_all_graphs_are_read,
    listed_graphs_alone_are_read,
    no_listed_graph_means_no_data,
}

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

fn without_a_list_all_graphs_are_read(subject: &Subject) {
    let mut names = subject.select(&selection(things()));
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"]);
}

fn listed_graphs_alone_are_read(subject: &Subject) {
    assert_eq!(from(subject, &["g1"]), ["b"]);
    assert_eq!(from(subject, &["g1", "g2"]), ["b", "c"]);
    assert_eq!(from(subject, &["unknown"]), [""; 0]);
}

fn no_listed_graph_means_no_data(subject: &Subject) {
    assert_eq!(from(subject, &[]), [""; 0]);
}
