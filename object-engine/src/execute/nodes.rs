//! The objects of a level, each once, while values that lead to them are linked.
//!
//! Objects of a store that numbers its terms are told apart by number; others by their IRI.

use std::sync::Arc;

use foldhash::fast::RandomState;
use graph_store::query::{
    Dictionary, ObjectRef, ObjectSlice, Objects, TermSlice, TermView, is_same_dictionary,
};
use indexmap::IndexSet;

use super::fetch::NOT_AN_OBJECT;

/// Objects of a level under construction.
#[derive(Default)]
pub(super) struct Nodes {
    distinct: Distinct,
    /// How often objects were reached.
    reached: usize,
}

#[derive(Default)]
enum Distinct {
    #[default]
    None,
    Refs(IndexSet<ObjectRef, RandomState>),
    Numbered(Arc<dyn Dictionary>, Numbers),
}

impl Nodes {
    /// Returns whether each object was reached once.
    pub(super) fn are_reached_once(&self) -> bool {
        self.reached
            == match &self.distinct {
                Distinct::None => 0,
                Distinct::Refs(refs) => refs.len(),
                Distinct::Numbered(_, numbers) => numbers.distinct.len(),
            }
    }

    /// Returns the distinct objects, by position.
    pub(super) fn into_objects(self) -> Objects {
        match self.distinct {
            Distinct::None => Objects::default(),
            Distinct::Refs(refs) => refs.into_iter().collect(),
            Distinct::Numbered(dictionary, numbers) => {
                Objects::numbered(numbers.distinct, dictionary)
            }
        }
    }

    /// Adds objects; returns the position of each in the level.
    pub(super) fn reach(&mut self, objects: ObjectSlice<'_>) -> Vec<u32> {
        if let Some((numbers, dictionary)) = objects.numbers()
            && let Some(known) = self.numbered(dictionary)
        {
            let positions = numbers
                .iter()
                .map(|number| known.position(*number))
                .collect();
            self.reached += numbers.len();
            return positions;
        }
        let positions = (0..objects.len()).map(|at| self.position(objects.get(at)));
        positions.collect()
    }

    /// Makes room for the objects among values that are about to be added.
    pub(super) fn expect(&mut self, values: TermSlice<'_>) {
        if let Some((numbers, dictionary)) = values.numbers()
            && let Some(known) = self.numbered(dictionary)
        {
            known.distinct.reserve(numbers.len());
            if let Some(places) = &mut known.places {
                places.reserve(numbers.len());
            }
        }
    }

    /// Adds the objects among values; appends the position of each, or that it is none.
    pub(super) fn reach_values(&mut self, values: TermSlice<'_>, positions: &mut Vec<u32>) {
        if let Some((numbers, dictionary)) = values.numbers()
            && let Some(known) = self.numbered(dictionary)
        {
            let mut literals = 0;
            positions.extend(numbers.iter().map(|number| {
                if dictionary.is_iri(*number) {
                    return known.position(*number);
                }
                literals += 1;
                NOT_AN_OBJECT
            }));
            self.reached += numbers.len() - literals;
            return;
        }
        positions.extend(values.iter().map(|value| match TermView::into_iri(value) {
            Some(iri) => self.position(iri.into()),
            None => NOT_AN_OBJECT,
        }));
    }

    /// Adds an object; returns its position in the level.
    pub(super) fn position(&mut self, object: ObjectRef) -> u32 {
        self.reached += 1;
        if let Distinct::Numbered(dictionary, numbers) = &mut self.distinct
            && let Some(number) = dictionary.find_iri(object.iri())
        {
            return numbers.position(number);
        }
        let (position, _) = self.refs().insert_full(object);
        u32::try_from(position).expect("a level holds fewer than 2^32 objects")
    }

    /// Returns the numbers so far, where all objects have numbers of a dictionary.
    fn numbered(&mut self, dictionary: &Arc<dyn Dictionary>) -> Option<&mut Numbers> {
        if matches!(self.distinct, Distinct::None) {
            self.distinct = Distinct::Numbered(Arc::clone(dictionary), Numbers::default());
        }
        match &mut self.distinct {
            Distinct::Numbered(own, numbers) if is_same_dictionary(own, dictionary) => {
                Some(numbers)
            }
            _ => None,
        }
    }

    /// Goes on with references: the objects are those of several dictionaries, or of none.
    fn refs(&mut self) -> &mut IndexSet<ObjectRef, RandomState> {
        if !matches!(self.distinct, Distinct::Refs(_)) {
            let known = std::mem::take(self);
            self.reached = known.reached;
            let refs = known.into_objects().into_refs();
            self.distinct = Distinct::Refs(refs.into_iter().collect());
        }
        match &mut self.distinct {
            Distinct::Refs(refs) => refs,
            _ => unreachable!("they were just made references"),
        }
    }
}

/// Distinct numbers, by position.
#[derive(Default)]
struct Numbers {
    distinct: Vec<u32>,
    /// The positions of all numbers; not made while numbers come ascending.
    places: Option<foldhash::HashMap<u32, u32>>,
}

impl Numbers {
    /// Adds a number unless it is there; returns its position.
    fn position(&mut self, number: u32) -> u32 {
        let next = u32::try_from(self.distinct.len()).expect("fewer than 2^32 numbers");
        let Some(places) = &mut self.places else {
            match self.distinct.last() {
                Some(last) if *last == number => return next - 1,
                Some(last) if *last > number => self.note_places(),
                _ => {
                    self.distinct.push(number);
                    return next;
                }
            }
            return self.position(number);
        };
        let position = *places.entry(number).or_insert(next);
        if position == next {
            self.distinct.push(number);
        }
        position
    }

    fn note_places(&mut self) {
        let mut places = foldhash::HashMap::default();
        // Room for those that are expected.
        places.reserve(self.distinct.capacity());
        places.extend(self.distinct.iter().copied().zip(0..));
        self.places = Some(places);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use graph_store::query::{Dictionary, ObjectRef, Objects, TermView, Terms};
    use oxrdf::{Literal, NamedNode};

    use super::{NOT_AN_OBJECT, Nodes};

    /// IRIs at even numbers, literals at odd ones.
    #[derive(Debug)]
    struct Known(Vec<&'static str>);

    impl Dictionary for Known {
        fn term(&self, number: u32) -> TermView<'_> {
            let rest = self.0[number as usize];
            match number % 2 {
                0 => TermView::Iri {
                    prefix: "http://e/",
                    rest,
                },
                _ => TermView::Literal(oxrdf::LiteralRef::new_simple_literal(rest)),
            }
        }

        fn find_iri(&self, iri: &str) -> Option<u32> {
            let name = iri.strip_prefix("http://e/")?;
            let found = self.0.iter().step_by(2).position(|known| *known == name)?;
            u32::try_from(2 * found).ok()
        }
    }

    fn iri(name: &str) -> ObjectRef {
        NamedNode::new_unchecked(format!("http://e/{name}")).into()
    }

    fn shown(nodes: Nodes) -> Vec<String> {
        let objects = nodes.into_objects();
        objects
            .iter()
            .map(|object| object.iri().to_owned())
            .collect()
    }

    #[test]
    fn objects_come_once_in_the_order_in_which_they_were_reached() {
        let known: Arc<dyn Dictionary> = Arc::new(Known(vec!["a", "x", "b", "y", "c"]));
        let mut nodes = Nodes::default();
        let objects = Objects::numbered(vec![0, 4, 4], Arc::clone(&known));
        assert_eq!(nodes.reach(objects.as_slice()), [0, 1, 1]);
        let mut positions = Vec::new();
        let values = Terms::numbered(vec![2, 1, 0, 4, 2], Arc::clone(&known));
        nodes.reach_values(values.as_slice(), &mut positions);
        assert_eq!(positions, [2, NOT_AN_OBJECT, 0, 1, 2]);
        assert_eq!(nodes.position(iri("b")), 2);
        assert!(!nodes.are_reached_once());
        assert_eq!(shown(nodes), ["http://e/a", "http://e/c", "http://e/b"]);
    }

    #[test]
    fn objects_of_several_sources_are_one_by_their_iri() {
        let (one, other) = (Known(vec!["a", "x", "b"]), Known(vec!["b", "x", "c"]));
        let objects = |known: Known, numbers| Objects::numbered(numbers, Arc::new(known));
        let mut nodes = Nodes::default();
        assert_eq!(nodes.reach(objects(one, vec![0, 2]).as_slice()), [0, 1]);
        assert_eq!(nodes.reach(objects(other, vec![0, 2]).as_slice()), [1, 2]);
        let mut positions = Vec::new();
        let values: Terms = vec![
            Literal::from("a").into(),
            NamedNode::new_unchecked("http://e/c").into(),
        ]
        .into();
        nodes.reach_values(values.as_slice(), &mut positions);
        assert_eq!(positions, [NOT_AN_OBJECT, 2]);
        assert_eq!(shown(nodes), ["http://e/a", "http://e/b", "http://e/c"]);
    }
}
