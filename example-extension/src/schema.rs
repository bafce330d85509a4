//! The GraphQL schema.

use async_graphql::{
    ComplexObject, EmptyMutation, EmptySubscription, ID, InputValueError, InputValueResult, Object,
    Scalar, ScalarType, Schema, SimpleObject, Value,
};

use crate::planet;

/// The schema of the service.
pub type ExtensionSchema = Schema<Query, EmptyMutation, EmptySubscription>;

/// Returns the schema, with what a gateway needs: `_service` and `_entities`.
#[must_use]
pub fn schema() -> ExtensionSchema {
    Schema::build(Query, EmptyMutation, EmptySubscription)
        .enable_federation()
        .finish()
}

/// Integer, unlimited digits
///
/// The scalar of the object service; whoever uses it declares it. Its values are written as texts, since numbers of JSON
/// lose digits in many programs.
#[derive(Clone, Debug)]
pub struct Integer(String);

#[Scalar]
impl ScalarType for Integer {
    fn parse(value: Value) -> InputValueResult<Self> {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            other => return Err(InputValueError::expected_type(other)),
        };
        let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
        if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) {
            Ok(Integer(text))
        } else {
            Err(InputValueError::custom("it is no integer"))
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

// A planet of the object service. Not a documentation comment, which would be printed as a description: the grammar of
// GraphQL has none before `extend`.
#[derive(SimpleObject, Clone, Debug)]
#[graphql(complex, extends)]
#[expect(
    missing_docs,
    reason = "what is documented is described, and extensions cannot be"
)]
pub struct Planet {
    /// IRI
    #[graphql(external)]
    id: ID,
    /// Diameter in Km
    #[graphql(external)]
    diameter: Option<Integer>,
}

#[ComplexObject]
impl Planet {
    /// Mass in kg
    async fn mass(&self) -> Option<f64> {
        planet::mass(&self.id)
    }

    /// Acceleration at the surface in m/s^2, calculated from the mass and the diameter
    #[graphql(requires = "diameter")]
    async fn calculated_gravity(&self) -> Option<f64> {
        let diameter = self.diameter.as_ref()?.0.parse().ok()?;
        planet::gravity(planet::mass(&self.id)?, diameter)
    }
}

/// Ships under one command. The object service knows which ones.
#[derive(SimpleObject, Clone, Debug)]
pub struct Fleet {
    /// IRI
    pub id: ID,
    /// Who commands it
    pub commander: String,
    /// The side that it is on
    pub allegiance: String,
}

/// The prefix of the IRIs of fleets.
const FLEET: &str = "https://swapi.co/resource/fleet/";

/// Returns all fleets.
fn all_fleets() -> Vec<Fleet> {
    let known = [
        ("1", "Darth Vader", "Galactic Empire"),
        ("2", "Gial Ackbar", "Rebel Alliance"),
        ("3", "Padme Amidala", "Royal House of Naboo"),
    ];
    let known = known.into_iter();
    let fleets = known.map(|(number, commander, allegiance)| Fleet {
        id: ID(format!("{FLEET}{number}")),
        commander: commander.to_owned(),
        allegiance: allegiance.to_owned(),
    });
    fleets.collect()
}

/// The queries of the service, and the entities that a gateway asks for.
#[derive(Debug)]
pub struct Query;

#[Object]
impl Query {
    /// All fleets
    async fn fleets(&self) -> Vec<Fleet> {
        all_fleets()
    }

    /// The fleet that a representation stands for; null if there is none.
    #[graphql(entity)]
    async fn fleet_by_id(&self, id: ID) -> Option<Fleet> {
        all_fleets().into_iter().find(|fleet| fleet.id == id)
    }

    /// The planet that a representation stands for.
    #[graphql(entity)]
    async fn planet_by_id(&self, id: ID) -> Planet {
        Planet { id, diameter: None }
    }

    /// The same where what a field requires has been sent along.
    #[graphql(entity)]
    async fn planet_with_diameter(
        &self,
        #[graphql(key)] id: ID,
        diameter: Option<Integer>,
    ) -> Planet {
        Planet { id, diameter }
    }
}
