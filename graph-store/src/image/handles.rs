//! The terms of a snapshot by number, as results refer to them.

use std::cmp::Ordering;

use oxrdf::NamedNodeRef;

use super::snapshot::Snapshot;
use crate::query::{Dictionary, TermView};

impl Snapshot {
    /// Returns whether a number is one of the image, whose numbers are in the order of values.
    #[inline]
    fn is_ordered(&self, number: u32) -> bool {
        number < self.image.terms.count
    }
}

impl Dictionary for Snapshot {
    #[inline]
    fn term(&self, number: u32) -> TermView<'_> {
        if self.is_ordered(number) {
            self.image.terms.get(&self.image.bytes, number)
        } else {
            self.delta.terms.get(number).as_ref().into()
        }
    }

    #[inline]
    fn is_iri(&self, number: u32) -> bool {
        if self.is_ordered(number) {
            number < self.image.terms.iris
        } else {
            self.delta.terms.get(number).is_named_node()
        }
    }

    fn find_iri(&self, iri: &str) -> Option<u32> {
        self.find(NamedNodeRef::new_unchecked(iri).into())
    }

    fn compare_iris(&self, a: u32, b: u32) -> Ordering {
        if self.is_ordered(a) && self.is_ordered(b) {
            a.cmp(&b)
        } else {
            self.compare_texts(a, b)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::executor::block_on;
    use oxrdf::vocab::rdf;
    use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

    use crate::image::{ImageBuilder, ImageStore};
    use crate::query::{
        Dataset, HydrationRequest, NodeCondition, ObjectSlice, Objects, Page, Position, Selection,
        Slot, Step, Take, TypeTest, Window,
    };
    use crate::store::{GraphStore, WindowBuilder};
    use call_context::{CallContext, Snapshots};

    fn v(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("http://v/{name}"))
    }

    fn image(things: &[&str]) -> ImageBuilder {
        let mut builder = ImageBuilder::new();
        for name in things {
            let thing = NamedNode::new_unchecked(format!("http://e/{name}"));
            let quad = |property: NamedNode, value: Term| {
                Quad::new(thing.clone(), property, value, GraphName::DefaultGraph)
            };
            let quads = [
                quad(rdf::TYPE.into_owned(), v("Thing").into()),
                quad(v("name"), Literal::from(*name).into()),
            ];
            for quad in quads {
                builder.add(quad.as_ref()).unwrap();
            }
        }
        builder
    }

    fn store(things: &[&str]) -> ImageStore {
        ImageStore::new(image(things).build().unwrap())
    }

    fn things(page: Page) -> Selection {
        let test = TypeTest::new(rdf::TYPE.into_owned(), vec![v("Thing")]);
        Selection {
            condition: NodeCondition::Instance(test),
            order: Vec::new(),
            page,
            dataset: Dataset::default(),
        }
    }

    fn all(store: &ImageStore, context: &CallContext) -> Objects {
        block_on(store.select(&things(Page::default()), context)).unwrap()
    }

    fn names(store: &ImageStore, nodes: ObjectSlice<'_>, context: &CallContext) -> Vec<String> {
        let slots = [Slot::new(Step::forward(v("name")))];
        let request = HydrationRequest {
            nodes,
            slots: &slots,
            dataset: &Dataset::default(),
        };
        let hydrated = block_on(store.hydrate(&request, context)).unwrap();
        let column = &hydrated.columns[0];
        let shown = (0..nodes.len()).map(|node| format!("{:?}", column.of(node)));
        shown.collect()
    }

    #[test]
    fn objects_of_other_data_are_found_by_their_iris() {
        let (before, after) = (store(&["b", "c"]), store(&["a", "b", "c", "d"]));
        let context = CallContext::new();
        let objects = all(&before, &context);
        assert!(objects.as_slice().numbers().is_some());
        let expected = names(&before, (&objects).into(), &context);
        assert_eq!(names(&after, (&objects).into(), &context), expected);
        let refs = objects.clone().into_refs();
        assert_eq!(names(&after, (&refs).into(), &context), expected);
        let unknown = all(&store(&["z"]), &context);
        assert_eq!(names(&after, (&unknown).into(), &context), ["[]"]);
    }

    #[test]
    fn calls_of_one_request_see_the_same_data() {
        let store = store(&["a", "b"]);
        let request = CallContext::new().with_snapshots(Arc::new(Snapshots::new()));
        let objects = all(&store, &request);
        store.replace_data(image(&["c"])).unwrap();
        assert_eq!(all(&store, &request), objects);
        assert_eq!(names(&store, (&objects).into(), &request).len(), 2);
        assert_ne!(names(&store, (&objects).into(), &request)[0], "[]");
        assert_eq!(all(&store, &CallContext::new()).len(), 1);
    }

    #[test]
    fn pages_of_kept_orders_are_those_of_changed_data() {
        let all_names: Vec<String> = (0..50).map(|number| format!("t{number:02}")).collect();
        let names: Vec<&str> = all_names.iter().map(String::as_str).collect();
        let (kept, none) = (store(&names), store(&names));
        none.set_order_memory(0);
        let context = CallContext::new();
        let page = |store: &ImageStore, offset| {
            let page = Page {
                offset: Some(offset),
                limit: Some(3),
            };
            block_on(store.select(&things(page), &context)).unwrap()
        };
        for _ in 0..2 {
            for offset in [0, 7, 48, 60] {
                assert_eq!(page(&kept, offset), page(&none, offset));
            }
        }
        let whole = things(Page::default());
        assert_eq!(block_on(kept.count(&whole, &context)).unwrap(), 50);
        kept.replace_data(image(&names[10..20])).unwrap();
        assert_eq!(page(&kept, 8).len(), 2);
        assert_eq!(block_on(kept.count(&whole, &context)).unwrap(), 10);
    }

    #[test]
    fn windows_of_kept_orders_are_as_defined() {
        let store = store(&["a", "b", "c", "d", "e"]);
        let context = CallContext::new();
        let objects = all(&store, &context);
        let place = |name: &str| {
            let id = NamedNode::new_unchecked(format!("http://e/{name}")).into();
            let keys = Vec::new();
            Some(Position { keys, id })
        };
        let places = [
            None,
            place("A"),
            place("b"),
            place("bb"),
            place("e"),
            place("f"),
        ];
        let takes = [Take::All, Take::First(0), Take::First(2), Take::Last(2)];
        for (after, before) in places
            .iter()
            .flat_map(|a| places.iter().map(move |b| (a, b)))
        {
            for take in takes {
                let window = Window {
                    after: after.clone(),
                    before: before.clone(),
                    take,
                };
                let mut builder = WindowBuilder::new(&[], &window);
                for id in objects.iter() {
                    let keys = Vec::new();
                    builder.offer(Position { keys, id });
                }
                let selection = things(Page::default());
                let found = block_on(store.select_window(&selection, &window, &context)).unwrap();
                assert_eq!(found, builder.finish(), "{window:?}");
            }
        }
    }
}
