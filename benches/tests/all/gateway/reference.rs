//! The same data behind an executor of others, in one schema: what answers are compared with.

use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use benches::gateway::{Data, shipping_estimate};

/// The schema of clients.
const API: &str = "
type Query { me: User user(id: ID!): User users: [User] topProducts(first: Int = 5): [Product] }
type User { id: ID! name: String username: String birthday: Int reviews: [Review] }
type Product {
  upc: String! name: String price: Int weight: Int inStock: Boolean shippingEstimate: Int reviews: [Review]
}
type Review { id: ID! body: String product: Product author: User }
";

/// Returns the schema of clients.
pub(super) fn api() -> Valid<Schema> {
    Schema::parse_and_validate(API, "api.graphql").unwrap()
}

/// Answers an operation over a schema.
pub(super) fn answer(
    schema: &Valid<Schema>,
    data: &Data,
    query: &str,
    variables: &JsonMap,
) -> String {
    let document = ExecutableDocument::parse_and_validate(schema, query, "query.graphql").unwrap();
    let execution = Execution::new(schema, &document).raw_variable_values(variables);
    let root = Row {
        data,
        kind: Kind::Query,
    };
    let response = execution.execute_sync(&root).unwrap();
    assert!(response.errors.is_empty(), "{:?}", response.errors);
    serde_json::to_string(&response).unwrap()
}

#[derive(Clone, Copy)]
enum Kind {
    Query,
    User(usize),
    Product(usize),
    Review(usize),
}

#[derive(Clone, Copy)]
struct Row<'d> {
    data: &'d Data,
    kind: Kind,
}

impl<'d> Row<'d> {
    fn object(self, kind: Kind) -> ResolvedValue<'d> {
        let data = self.data;
        ResolvedValue::Object(Box::new(Row { data, kind }))
    }

    fn objects(
        self,
        kind: fn(usize) -> Kind,
        indexes: impl IntoIterator<Item = usize>,
    ) -> ResolvedValue<'d> {
        let indexes: Vec<usize> = indexes.into_iter().collect();
        let objects = indexes.into_iter().map(move |at| Ok(self.object(kind(at))));
        ResolvedValue::List(Box::new(objects))
    }

    /// Finds an object by its key.
    fn entity(self, ty: &str, key: &JsonValue) -> Option<ResolvedValue<'d>> {
        // An `ID` may be sent as a number.
        let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        let data = self.data;
        let kind = match ty {
            "User" => Kind::User(data.users.iter().position(|user| user.id == key)?),
            "Product" => Kind::Product(data.products.iter().position(|it| it.upc == key)?),
            "Review" => Kind::Review(data.reviews.iter().position(|it| it.id == key)?),
            _ => return None,
        };
        Some(self.object(kind))
    }

    fn entities(self, representations: &JsonValue) -> ResolvedValue<'d> {
        let representations = representations.as_array().unwrap().iter();
        let found = representations.map(|representation| {
            let ty = representation["__typename"].as_str().unwrap();
            let key = match ty {
                "Product" => &representation["upc"],
                _ => &representation["id"],
            };
            let found = self.entity(ty, key);
            Ok(found.unwrap_or_else(|| ResolvedValue::leaf(JsonValue::Null)))
        });
        let found: Vec<_> = found.collect();
        ResolvedValue::List(Box::new(found.into_iter()))
    }

    fn of_query(self, info: &ResolveInfo<'_>) -> Option<ResolvedValue<'d>> {
        let arguments = info.arguments();
        let data = self.data;
        Some(match info.field_name() {
            "me" => self.object(Kind::User(0)),
            "user" => {
                let found = self.entity("User", &arguments["id"]);
                found.unwrap_or_else(|| ResolvedValue::leaf(JsonValue::Null))
            }
            "users" => self.objects(Kind::User, 0..data.users.len()),
            "topProducts" => {
                let first = usize::try_from(arguments["first"].as_u64().unwrap()).unwrap();
                self.objects(Kind::Product, 0..first.min(data.products.len()))
            }
            "_entities" => self.entities(&arguments["representations"]),
            _ => return None,
        })
    }

    fn of_user(self, user: usize, field: &str) -> Option<ResolvedValue<'d>> {
        let it = &self.data.users[user];
        Some(match field {
            "id" => ResolvedValue::leaf(it.id.as_str()),
            "name" => ResolvedValue::leaf(it.name),
            "username" => ResolvedValue::leaf(it.username),
            "birthday" => ResolvedValue::leaf(it.birthday),
            "reviews" => {
                let reviews = self.data.reviews_of_users[user].iter().copied();
                self.objects(Kind::Review, reviews)
            }
            _ => return None,
        })
    }

    fn of_product(self, product: usize, field: &str) -> Option<ResolvedValue<'d>> {
        let it = &self.data.products[product];
        let estimate = shipping_estimate(it.price.into(), it.weight.into());
        Some(match field {
            "upc" => ResolvedValue::leaf(it.upc.as_str()),
            "name" => ResolvedValue::leaf(it.name),
            "price" => ResolvedValue::leaf(it.price),
            "weight" => ResolvedValue::leaf(it.weight),
            "inStock" => ResolvedValue::leaf(it.in_stock),
            "shippingEstimate" => ResolvedValue::leaf(estimate),
            "reviews" => {
                let reviews = (0..self.data.reviews.len()).collect::<Vec<_>>();
                let of_it = |at: &usize| self.data.reviews[*at].product == product;
                self.objects(Kind::Review, reviews.into_iter().filter(of_it))
            }
            _ => return None,
        })
    }

    fn of_review(self, review: usize, field: &str) -> Option<ResolvedValue<'d>> {
        let it = &self.data.reviews[review];
        Some(match field {
            "id" => ResolvedValue::leaf(it.id.as_str()),
            "body" => ResolvedValue::leaf(it.body.as_str()),
            "product" => self.object(Kind::Product(it.product)),
            "author" => self.object(Kind::User(it.author)),
            _ => return None,
        })
    }
}

impl ObjectValue for Row<'_> {
    fn type_name(&self) -> &str {
        match self.kind {
            Kind::Query => "Query",
            Kind::User(_) => "User",
            Kind::Product(_) => "Product",
            Kind::Review(_) => "Review",
        }
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let field = info.field_name();
        let value = match self.kind {
            Kind::Query => self.of_query(info),
            Kind::User(user) => self.of_user(user, field),
            Kind::Product(product) => self.of_product(product, field),
            Kind::Review(review) => self.of_review(review, field),
        };
        value.ok_or_else(|| self.unknown_field_error(info))
    }
}
