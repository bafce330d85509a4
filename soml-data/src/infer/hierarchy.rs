//! Superclasses: from `rdfs:subClassOf`, and from classes whose instances are instances of another.

use std::collections::{BTreeMap, BTreeSet};

use super::InferOptions;
use super::ontology::{is_ontology_class, leave_out};

/// A class is taken for a subclass of another if at least this share of its instances, in percent,
/// are instances of the other too.
const OVERLAP_PERCENT: u64 = 95;

/// Maximum number of superclasses above each other; a schema may have 100.
const MAX_DEPTH: usize = 50;

/// Classes of everything, of which no other class is usefully a subclass.
const UNIVERSAL: &[&str] = &[
    "http://www.w3.org/2002/07/owl#Thing",
    "http://www.w3.org/2002/07/owl#NamedIndividual",
    "http://www.w3.org/2000/01/rdf-schema#Resource",
];

/// What is known of the classes before their properties are read.
#[derive(Default)]
pub(super) struct Classes {
    /// Number of instances of each class that becomes an object.
    pub(super) counts: BTreeMap<String, u64>,
    /// Number of instances that two of these classes share, by both.
    pub(super) shared: BTreeMap<(String, String), u64>,
    /// The classes that `rdfs:subClassOf` names for a class, of whatever class.
    pub(super) stated: BTreeMap<String, BTreeSet<String>>,
    /// Number of classes of ontology vocabularies that were left out.
    pub(super) ontology_classes: usize,
}

impl Classes {
    /// Chooses the classes that become objects among those of the data, and counts their instances.
    pub(super) fn keep(&mut self, mut found: Vec<(String, u64)>, options: &InferOptions) {
        found.retain(|(_, count)| *count >= options.min_instances);
        if !options.ontology_classes {
            self.ontology_classes = leave_out(&mut found);
        }
        found.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        found.truncate(options.max_classes);
        self.counts.extend(found);
    }

    /// Adds a statement of `rdfs:subClassOf`. What ontologies are written in says nothing of the data,
    /// unless its classes are among those that become objects.
    pub(super) fn state(&mut self, class: String, above: String) {
        if is_ontology_class(&above) && !self.counts.contains_key(&above) {
            return;
        }
        self.stated.entry(class).or_default().insert(above);
    }
}

/// The superclass of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Superclass {
    /// IRI of the superclass.
    pub(super) class: String,
    /// Number of instances that both have, and of all; `None` if `rdfs:subClassOf` says so.
    pub(super) shared: Option<(u64, u64)>,
}

/// The superclass of each class, at most one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hierarchy {
    parents: BTreeMap<String, Superclass>,
    /// Superclasses without instances of their own.
    pub(super) r#abstract: BTreeSet<String>,
}

impl Hierarchy {
    /// Chooses superclasses. Classes without instances become superclasses if several classes have
    /// nothing nearer in common, and as long as there are no more than `max_classes` objects.
    pub(super) fn new(classes: &Classes, max_classes: usize) -> Self {
        let builder = Builder::new(classes);
        let mut hierarchy = Hierarchy {
            parents: BTreeMap::new(),
            r#abstract: builder.empty.clone(),
        };
        for class in classes.counts.keys().chain(&builder.empty) {
            let candidates = builder.candidates(class);
            let parent = candidates
                .into_iter()
                .find(|candidate| !hierarchy.is_a(&candidate.class, class));
            hierarchy
                .parents
                .extend(parent.map(|parent| (class.clone(), parent)));
        }
        hierarchy.prune(max_classes.saturating_sub(classes.counts.len()));
        hierarchy.limit_depth();
        hierarchy
    }

    /// Returns the superclass of a class.
    pub(super) fn parent(&self, class: &str) -> Option<&Superclass> {
        self.parents.get(class)
    }

    /// Returns a class and its superclasses, the nearest first.
    pub(super) fn lineage<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::successors(Some(class), |class| {
            self.parent(class).map(|parent| parent.class.as_str())
        })
    }

    fn is_a(&self, class: &str, ancestor: &str) -> bool {
        self.lineage(class).any(|of| of == ancestor)
    }

    /// Returns the classes without instances, each with the number of classes right below it.
    fn joined(&self) -> BTreeMap<&str, usize> {
        let empty = self.r#abstract.iter().map(|class| (class.as_str(), 0));
        let mut joined: BTreeMap<&str, usize> = empty.collect();
        for parent in self.parents.values() {
            if let Some(children) = joined.get_mut(parent.class.as_str()) {
                *children += 1;
            }
        }
        joined
    }

    /// Removes classes without instances that join fewer than two others, then those that join the
    /// fewest, down to the limit.
    fn prune(&mut self, limit: usize) {
        loop {
            let joined = self.joined();
            let useless = joined.iter().filter(|(_, children)| **children < 2);
            let mut removed: Vec<String> = useless.map(|(class, _)| (*class).to_owned()).collect();
            if removed.is_empty() && joined.len() > limit {
                let least = joined.iter().min_by_key(|(_, children)| **children);
                removed.extend(least.map(|(class, _)| (*class).to_owned()));
            }
            if removed.is_empty() {
                return;
            }
            for class in removed {
                self.remove(&class);
            }
        }
    }

    /// Removes a class without instances; what is below it comes below its own superclass.
    fn remove(&mut self, class: &str) {
        self.r#abstract.remove(class);
        let above = self.parents.remove(class);
        let mut orphans = Vec::new();
        for (child, parent) in &mut self.parents {
            if parent.class == class {
                match &above {
                    Some(above) => parent.class.clone_from(&above.class),
                    None => orphans.push(child.clone()),
                }
            }
        }
        for orphan in orphans {
            self.parents.remove(&orphan);
        }
    }

    fn limit_depth(&mut self) {
        let classes: Vec<String> = self.parents.keys().cloned().collect();
        for class in classes {
            if self.lineage(&class).nth(MAX_DEPTH).is_some() {
                self.parents.remove(&class);
            }
        }
    }
}

struct Builder<'a> {
    classes: &'a Classes,
    /// All superclasses of each class that `rdfs:subClassOf` leads to, without equivalent ones.
    stated: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The classes that a class overlaps with as a subclass does.
    covering: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Classes without instances above those with instances.
    empty: BTreeSet<String>,
}

impl<'a> Builder<'a> {
    fn new(classes: &'a Classes) -> Self {
        let mut stated: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut waiting: Vec<&str> = classes.counts.keys().map(String::as_str).collect();
        while let Some(class) = waiting.pop() {
            if !stated.contains_key(class) {
                let above = above(&classes.stated, class);
                waiting.extend(&above);
                stated.insert(class, above);
            }
        }
        let is_above = |class: &str, of: &str| stated.get(of).is_some_and(|s| s.contains(class));
        let strictly: BTreeMap<&str, BTreeSet<&str>> = stated
            .iter()
            .map(|(class, above)| {
                let above = above.iter().filter(|other| !is_above(class, other));
                (*class, above.copied().collect())
            })
            .collect();
        let mut covering: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for ((class, other), shared) in &classes.shared {
            let (count, wider) = (classes.counts[class], classes.counts[other]);
            let covers = count < wider && shared * 100 >= count * OVERLAP_PERCENT;
            if covers && !is_universal(other) && !is_above(class, other) {
                covering.entry(class).or_default().insert(other);
            }
        }
        let named = strictly.keys().map(|class| (*class).to_owned());
        let empty = named.filter(|class| !classes.counts.contains_key(class));
        Builder {
            classes,
            empty: empty.collect(),
            stated: strictly,
            covering,
        }
    }

    /// Returns what a class may inherit from, the best first: nothing that is above another
    /// candidate, one with instances, one that is stated, the smallest.
    fn candidates(&self, class: &str) -> Vec<Superclass> {
        let stated = self.stated.get(class).into_iter().flatten();
        let covering = self.covering.get(class).into_iter().flatten();
        let all: BTreeSet<&str> = stated.chain(covering).copied().collect();
        let is_stated = |other: &str| self.stated.get(class).is_some_and(|s| s.contains(other));
        let rank = |other: &&str| {
            let farther = all.iter().any(|nearer| self.is_below(nearer, other));
            let count = self.classes.counts.get(*other).copied();
            (farther, count.is_none(), !is_stated(other), count)
        };
        let mut ranked: Vec<_> = all.iter().map(|other| (rank(other), *other)).collect();
        ranked.sort_unstable();
        let superclass = |(_, other): (_, &str)| Superclass {
            class: other.to_owned(),
            shared: (!is_stated(other)).then(|| {
                let both = (class.to_owned(), other.to_owned());
                (self.classes.shared[&both], self.classes.counts[class])
            }),
        };
        ranked.into_iter().map(superclass).collect()
    }

    fn is_below(&self, class: &str, other: &str) -> bool {
        [&self.stated, &self.covering]
            .iter()
            .any(|sets| sets.get(class).is_some_and(|set| set.contains(other)))
    }
}

/// Returns all classes that `rdfs:subClassOf` leads to.
fn above<'a>(stated: &'a BTreeMap<String, BTreeSet<String>>, class: &str) -> BTreeSet<&'a str> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut waiting: Vec<&str> = vec![class];
    while let Some(class) = waiting.pop() {
        for next in stated.get(class).into_iter().flatten() {
            if !is_universal(next) && found.insert(next) {
                waiting.push(next);
            }
        }
    }
    found.remove(class);
    found
}

fn is_universal(class: &str) -> bool {
    UNIVERSAL.contains(&class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(counts: &[(&str, u64)], shared: &[(&str, &str, u64)]) -> Classes {
        let mut classes = Classes::default();
        for (class, count) in counts {
            classes.counts.insert((*class).to_owned(), *count);
        }
        for (a, b, count) in shared {
            for (a, b) in [(a, b), (b, a)] {
                let both = ((*a).to_owned(), (*b).to_owned());
                classes.shared.insert(both, *count);
            }
        }
        classes
    }

    fn state(classes: &mut Classes, pairs: &[(&str, &str)]) {
        for (class, above) in pairs {
            let stated = classes.stated.entry((*class).to_owned()).or_default();
            stated.insert((*above).to_owned());
        }
    }

    fn parents(hierarchy: &Hierarchy) -> Vec<(&str, &str)> {
        let parents = hierarchy.parents.iter();
        parents
            .map(|(c, p)| (c.as_str(), p.class.as_str()))
            .collect()
    }

    #[test]
    fn a_class_inherits_from_the_smallest_class_that_has_nearly_all_its_instances() {
        let counts = [("Any", 500), ("Man", 60), ("Human", 100), ("Odd", 100)];
        let shared = [
            ("Man", "Human", 57),
            ("Man", "Any", 60),
            ("Human", "Any", 100),
            ("Odd", "Any", 94),
        ];
        let hierarchy = Hierarchy::new(&classes(&counts, &shared), 10);
        assert_eq!(parents(&hierarchy), [("Human", "Any"), ("Man", "Human")]);
        let man = hierarchy.parent("Man").expect("it inherits");
        assert_eq!(man.shared, Some((57, 60)));
    }

    #[test]
    fn classes_with_the_same_instances_do_not_inherit_from_each_other() {
        let same = classes(&[("A", 3), ("B", 3)], &[("A", "B", 3)]);
        assert_eq!(Hierarchy::new(&same, 10), Hierarchy::default());
        let mut stated = same;
        state(&mut stated, &[("A", "B")]);
        assert_eq!(parents(&Hierarchy::new(&stated, 10)), [("A", "B")]);
    }

    #[test]
    fn what_is_stated_wins_over_what_overlaps() {
        let mut classes = classes(&[("A", 5), ("B", 10)], &[("A", "B", 5)]);
        state(&mut classes, &[("B", "A")]);
        assert_eq!(parents(&Hierarchy::new(&classes, 10)), [("B", "A")]);
    }

    #[test]
    fn a_class_with_instances_wins_over_one_without() {
        let shared = [("Human", "Character", 3), ("Droid", "Character", 2)];
        let mut classes = classes(&[("Human", 3), ("Droid", 2), ("Character", 9)], &shared);
        state(
            &mut classes,
            &[("Human", "Sentient"), ("Droid", "Sentient")],
        );
        let hierarchy = Hierarchy::new(&classes, 10);
        let expected = [("Droid", "Character"), ("Human", "Character")];
        assert_eq!(parents(&hierarchy), expected);
        assert!(hierarchy.r#abstract.is_empty());
    }

    #[test]
    fn circles_of_equivalent_classes_are_left_out() {
        let mut classes = classes(&[("A", 1), ("B", 2), ("C", 3)], &[]);
        state(
            &mut classes,
            &[("A", "B"), ("B", "A"), ("A", "A"), ("B", "C")],
        );
        let hierarchy = Hierarchy::new(&classes, 10);
        assert_eq!(parents(&hierarchy), [("A", "C"), ("B", "C")]);
    }

    #[test]
    fn empty_classes_stay_where_they_join_several() {
        let mut classes = classes(&[("Man", 2), ("Dog", 2), ("Ship", 1)], &[]);
        let thing = "http://www.w3.org/2002/07/owl#Thing";
        state(
            &mut classes,
            &[
                ("Man", "Human"),
                ("Human", "Animal"),
                ("Dog", "Animal"),
                ("Animal", "Being"),
                ("Being", thing),
                ("Ship", thing),
            ],
        );
        let hierarchy = Hierarchy::new(&classes, 10);
        assert_eq!(parents(&hierarchy), [("Dog", "Animal"), ("Man", "Animal")]);
        assert_eq!(hierarchy.r#abstract, BTreeSet::from(["Animal".to_owned()]));
        assert_eq!(Hierarchy::new(&classes, 3), Hierarchy::default());
    }

    #[test]
    fn chains_are_not_deeper_than_a_schema_may_have() {
        let name = |n: usize| format!("C{n:03}");
        let mut classes = Classes::default();
        for n in 0..120 {
            classes.counts.insert(name(n), 1);
            classes
                .stated
                .insert(name(n), BTreeSet::from([name(n + 1)]));
        }
        let hierarchy = Hierarchy::new(&classes, 1_000);
        let depth = |n| hierarchy.lineage(&name(n)).count();
        assert_eq!((0..120).map(depth).max(), Some(MAX_DEPTH));
    }
}
