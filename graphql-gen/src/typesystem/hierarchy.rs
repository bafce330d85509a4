//! Which objects are interfaces, and which concrete objects stand behind each.

use soml_core::schema::{ObjectId, ObjectKind, Schema};

/// What inheritance means for the type system.
pub(super) struct Hierarchy {
    /// Every object after its superclass.
    pub(super) superclass_first: Vec<ObjectId>,
    /// Superclasses of each object, root first.
    pub(super) ancestors: Vec<Vec<ObjectId>>,
    /// Concrete objects among each object and its descendants, in document order.
    pub(super) concrete: Vec<Vec<ObjectId>>,
    /// Concrete objects with subclasses, which have an interface beside their type.
    dual: Vec<bool>,
}

impl Hierarchy {
    pub(super) fn new(soml: &Schema) -> Self {
        let count = soml.objects.len();
        let ids = || (0u32..).map(ObjectId).take(count);
        let mut ancestors = Vec::with_capacity(count);
        let mut concrete = vec![Vec::new(); count];
        let mut dual = vec![false; count];
        for id in ids() {
            let object = &soml[id];
            let mut above: Vec<_> = soml.lineage(id).skip(1).collect();
            above.reverse();
            // A GraphQL type is an object type or an interface, so a concrete superclass needs both
            // (docs/schema.md, "The API").
            if let Some(parent) = object.inherits
                && soml[parent].kind == ObjectKind::Concrete
            {
                dual[index(parent)] = true;
            }
            if object.kind == ObjectKind::Concrete {
                // Instances of subclasses are instances of each superclass (docs/schema.md, "The
                // API").
                for &target in above.iter().chain(std::iter::once(&id)) {
                    concrete[index(target)].push(id);
                }
            }
            ancestors.push(above);
        }
        let mut superclass_first: Vec<_> = ids().collect();
        superclass_first.sort_by_key(|&id| ancestors[index(id)].len());
        Hierarchy {
            superclass_first,
            ancestors,
            concrete,
            dual,
        }
    }

    /// Returns whether `object` is concrete and has an interface of its own.
    pub(super) fn is_dual(&self, object: ObjectId) -> bool {
        self.dual[index(object)]
    }
}

/// Returns the position of an object in tables with one entry per object.
pub(super) fn index(object: ObjectId) -> usize {
    object.0 as usize
}
