//! What one subgraph knows: objects with their values written out, so that an answer copies bytes.

use std::collections::HashMap;

use serde::Serialize;

use super::data::Data;

/// The four subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Users.
    Accounts,
    /// Which products are in stock, and what it costs to ship them.
    Inventory,
    /// Products.
    Products,
    /// Reviews of products by users.
    Reviews,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 4] = [
        Part::Accounts,
        Part::Inventory,
        Part::Products,
        Part::Reviews,
    ];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Accounts => "accounts",
            Part::Inventory => "inventory",
            Part::Products => "products",
            Part::Reviews => "reviews",
        }
    }

    /// Returns the schema that a gateway reads.
    #[must_use]
    pub fn sdl(self) -> &'static str {
        match self {
            Part::Accounts => include_str!("../../gateway/subgraphs/accounts.graphql"),
            Part::Inventory => include_str!("../../gateway/subgraphs/inventory.graphql"),
            Part::Products => include_str!("../../gateway/subgraphs/products.graphql"),
            Part::Reviews => include_str!("../../gateway/subgraphs/reviews.graphql"),
        }
    }

    /// Returns the types that are entered by a key, and the key.
    #[must_use]
    pub(super) fn keys(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Part::Accounts => &[("User", "id")],
            Part::Inventory | Part::Products => &[("Product", "upc")],
            Part::Reviews => &[("Review", "id"), ("User", "id"), ("Product", "upc")],
        }
    }
}

/// Position of an object.
pub(super) type ObjectId = usize;

/// Value of a field.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// JSON.
    Leaf(Box<str>),
    /// An object.
    One(ObjectId),
    /// A list of objects.
    Many(Box<[ObjectId]>),
}

impl Value {
    fn leaf(value: impl Serialize) -> Self {
        let text = serde_json::to_string(&value).expect("a scalar is JSON");
        Value::Leaf(text.into())
    }

    /// Returns the JSON of a field that the schema has as a scalar.
    pub(super) fn as_leaf(&self) -> &str {
        match self {
            Value::Leaf(text) => text,
            other => unreachable!("a scalar is a leaf, not {other:?}"),
        }
    }

    /// Returns the object of a field that the schema has as an object.
    pub(super) fn as_one(&self) -> ObjectId {
        match self {
            Value::One(id) => *id,
            other => unreachable!("a field of an object type is an object, not {other:?}"),
        }
    }

    /// Returns the objects of a field that the schema has as a list of objects.
    pub(super) fn as_many(&self) -> &[ObjectId] {
        match self {
            Value::Many(ids) => ids,
            other => unreachable!("a field of a list type is a list, not {other:?}"),
        }
    }
}

/// An object: values in the order of the fields of its type.
pub(super) struct Object {
    pub(super) values: Vec<Value>,
}

/// The objects of a subgraph.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    /// Fields of each type, in the order of values.
    fields: HashMap<&'static str, Vec<&'static str>>,
    /// Objects of each type by their keys.
    keyed: HashMap<&'static str, HashMap<String, ObjectId>>,
    /// The root.
    pub(super) query: ObjectId,
}

impl Objects {
    /// Creates the objects of a subgraph.
    pub(super) fn of(part: Part, data: &Data) -> Self {
        let mut objects = Objects::default();
        let mut roots = match part {
            Part::Accounts => objects.accounts(data),
            Part::Inventory => objects.inventory(data),
            Part::Products => objects.products(data),
            Part::Reviews => objects.reviews(data),
        };
        let service = objects.add("_Service", None, [("sdl", Value::leaf(part.sdl()))]);
        roots.push(("_service", Value::One(service)));
        objects.query = objects.add("Query", None, roots);
        objects
    }

    /// Returns an object.
    pub(super) fn get(&self, id: ObjectId) -> &Object {
        &self.all[id]
    }

    /// Returns the position of the values of a field.
    pub(super) fn slot(&self, ty: &str, field: &str) -> Option<usize> {
        let fields = self.fields.get(ty)?;
        fields.iter().position(|known| *known == field)
    }

    /// Returns the object with a key.
    pub(super) fn by_key(&self, ty: &str, key: &str) -> Option<ObjectId> {
        self.keyed.get(ty)?.get(key).copied()
    }

    fn add(
        &mut self,
        ty: &'static str,
        key: Option<&str>,
        fields: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> ObjectId {
        let (names, values) = fields.into_iter().unzip();
        self.fields.entry(ty).or_insert(names);
        self.all.push(Object { values });
        let id = self.all.len() - 1;
        if let Some(key) = key {
            let keyed = self.keyed.entry(ty).or_default();
            keyed.insert(key.to_owned(), id);
        }
        id
    }

    fn accounts(&mut self, data: &Data) -> Vec<(&'static str, Value)> {
        for user in &data.users {
            let fields = [
                ("id", Value::leaf(&user.id)),
                ("name", Value::leaf(user.name)),
                ("username", Value::leaf(user.username)),
                ("birthday", Value::leaf(user.birthday)),
            ];
            self.add("User", Some(&user.id), fields);
        }
        let users = (0..data.users.len()).collect();
        vec![("users", Value::Many(users)), ("me", Value::One(0))]
    }

    fn inventory(&mut self, data: &Data) -> Vec<(&'static str, Value)> {
        for product in &data.products {
            // What shipping costs follows from what the gateway sends.
            let fields = [
                ("upc", Value::leaf(&product.upc)),
                ("inStock", Value::leaf(product.in_stock)),
            ];
            self.add("Product", Some(&product.upc), fields);
        }
        Vec::new()
    }

    fn products(&mut self, data: &Data) -> Vec<(&'static str, Value)> {
        for product in &data.products {
            let fields = [
                ("upc", Value::leaf(&product.upc)),
                ("name", Value::leaf(product.name)),
                ("price", Value::leaf(product.price)),
                ("weight", Value::leaf(product.weight)),
            ];
            self.add("Product", Some(&product.upc), fields);
        }
        let products = (0..data.products.len()).collect();
        vec![("topProducts", Value::Many(products))]
    }

    /// Adds reviews, users and products, in this order: what comes later has its place before.
    fn reviews(&mut self, data: &Data) -> Vec<(&'static str, Value)> {
        let users = data.reviews.len();
        let products = users + data.users.len();
        for review in &data.reviews {
            let fields = [
                ("id", Value::leaf(&review.id)),
                ("body", Value::leaf(&review.body)),
                ("author", Value::One(users + review.author)),
                ("product", Value::One(products + review.product)),
            ];
            self.add("Review", Some(&review.id), fields);
        }
        for (user, reviews) in data.users.iter().zip(&data.reviews_of_users) {
            let fields = [
                ("id", Value::leaf(&user.id)),
                ("username", Value::leaf(user.username)),
                ("reviews", Value::Many(reviews.clone().into())),
            ];
            self.add("User", Some(&user.id), fields);
        }
        for (at, product) in data.products.iter().enumerate() {
            let fields = [
                ("upc", Value::leaf(&product.upc)),
                ("reviews", Value::Many(data.reviews_of_product(at).into())),
            ];
            self.add("Product", Some(&product.upc), fields);
        }
        Vec::new()
    }
}
