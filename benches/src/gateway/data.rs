//! The data of the gateway benchmark: users, products, and reviews of products by users.

use clap::ValueEnum;

/// Which data the subgraphs have. Both have the same users, products and texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataSet {
    /// Every author is the first user, and the reviews of any user are the first two. Most of an answer repeats
    /// a few objects.
    Original,
    /// Authors take turns, and the reviews of a user are those that the user wrote.
    Spread,
}

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// The key.
    pub id: String,
    /// Full name.
    pub name: &'static str,
    /// Name at the log-in.
    pub username: &'static str,
    /// Date as a number.
    pub birthday: i32,
}

/// A product.
#[derive(Clone, Debug)]
pub struct Product {
    /// The key.
    pub upc: String,
    /// What it is.
    pub name: &'static str,
    /// Price.
    pub price: i32,
    /// Weight.
    pub weight: i32,
    /// Whether it can be had.
    pub in_stock: bool,
}

/// A review of a product.
#[derive(Clone, Debug)]
pub struct Review {
    /// The key.
    pub id: String,
    /// Text.
    pub body: String,
    /// Index of the product.
    pub product: usize,
    /// Index of the user who wrote it.
    pub author: usize,
}

/// All objects.
#[derive(Clone, Debug)]
pub struct Data {
    /// Users.
    pub users: Vec<User>,
    /// Products, the top ones first.
    pub products: Vec<Product>,
    /// Reviews.
    pub reviews: Vec<Review>,
    /// Indexes of the reviews of each user.
    pub reviews_of_users: Vec<Vec<usize>>,
}

const USERS: [(&str, &str); 6] = [
    ("Aurora Example", "auror"),
    ("Basil Example", "basil"),
    ("Clove Example", "clove"),
    ("Dill Example", "dill"),
    ("Fennel Example", "fennel"),
    ("Ginger Example", "ginger"),
];

/// Name, price and weight.
const PRODUCTS: [(&str, i32, i32); 9] = [
    ("Cabinet", 899, 100),
    ("Couch", 1299, 1000),
    ("Glass", 15, 20),
    ("Chair", 499, 100),
    ("TV", 1299, 1000),
    ("Lamp", 6999, 300),
    ("Piano", 3999, 2000),
    ("House", 100_000, 6000),
    ("Sofa", 9999, 800),
];

/// Positions of the products that are in stock.
const IN_STOCK: [usize; 5] = [0, 4, 5, 6, 8];

/// Position of the product of each review, and length of its text.
const REVIEWS: [(usize, usize); 11] = [
    (0, 445),
    (0, 289),
    (0, 275),
    (0, 143),
    (1, 445),
    (1, 289),
    (1, 275),
    (1, 143),
    (2, 143),
    (3, 143),
    (3, 844),
];

const WORDS: &str =
    "the quick brown fox jumps over the lazy dog and comes back to have another look ";

impl Data {
    /// Creates the objects.
    #[must_use]
    pub fn new(set: DataSet) -> Self {
        let users = USERS.iter().enumerate();
        let users = users.map(|(at, (name, username))| User {
            id: key(at),
            name,
            username,
            birthday: 1_234_567_890,
        });
        let users: Vec<User> = users.collect();
        let products = PRODUCTS.iter().enumerate();
        let products = products.map(|(at, (name, price, weight))| Product {
            upc: key(at),
            name,
            price: *price,
            weight: *weight,
            in_stock: IN_STOCK.contains(&at),
        });
        let reviews = REVIEWS.iter().enumerate();
        let reviews = reviews.map(|(at, (product, length))| Review {
            id: key(at),
            body: text(at, *length),
            product: *product,
            author: match set {
                DataSet::Original => 0,
                DataSet::Spread => at % users.len(),
            },
        });
        let reviews: Vec<Review> = reviews.collect();
        let of_user = |user: usize| match set {
            DataSet::Original => vec![0, 1],
            DataSet::Spread => {
                let own = 0..reviews.len();
                own.filter(|review| reviews[*review].author == user)
                    .collect()
            }
        };
        Data {
            reviews_of_users: (0..users.len()).map(of_user).collect(),
            users,
            products: products.collect(),
            reviews,
        }
    }

    /// Returns the indexes of the reviews of a product.
    #[must_use]
    pub fn reviews_of_product(&self, product: usize) -> Vec<usize> {
        let reviews = self.reviews.iter().enumerate();
        let reviews = reviews.filter(|(_, review)| review.product == product);
        reviews.map(|(at, _)| at).collect()
    }
}

/// Returns what it costs to ship a product: nothing where it is expensive, else half of its weight.
#[must_use]
pub fn shipping_estimate(price: i64, weight: i64) -> i64 {
    if price > 1000 { 0 } else { weight / 2 }
}

/// Keys begin with 1.
fn key(at: usize) -> String {
    (at + 1).to_string()
}

/// Makes a text of a length, another one for each review.
fn text(at: usize, length: usize) -> String {
    let words = WORDS.chars().cycle().skip(at * 7);
    words.take(length).collect()
}
