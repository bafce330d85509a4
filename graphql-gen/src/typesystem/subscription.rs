//! The building blocks of change feeds: one event type per concrete object.
//!
//! No root type refers to them; they are there for clients that know these types by name
//! (docs/schema.md, "The API").

use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::Value;
use apollo_compiler::{Name, name};
use soml_core::schema::{ObjectId, Schema};

use super::builtin::plain;
use super::nodes::{
    FieldNode, enum_type, field, input, input_type, input_with_default, named, object_type,
    required, text,
};
use super::origin::{Origin, Source};
use super::query::lower_first;
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// Adds `X_Subscription` for every concrete object and the types that they share.
pub(super) fn add(table: &mut TypeTable<'_>, soml: &Schema, targets: &Targets) {
    let operations = plain([name!("CREATE"), name!("UPDATE"), name!("DELETE")]);
    table.add(
        Origin::BUILT_IN,
        enum_type(name!("SubscriptionMutationTypeEnum"), None, operations),
    );
    let operations = plain([name!("READ"), name!("CREATE"), name!("DELETE")]);
    table.add(
        Origin::BUILT_IN,
        enum_type(name!("SubscriptionOp"), None, operations),
    );
    add_stream(table);

    let transaction = Transaction::new();
    for (id, _) in soml.objects() {
        if let Some(target) = &targets.object(id).concrete {
            add_event(table, id, target, &transaction);
        }
    }
}

/// The fields that say in which transaction an event happened.
struct Transaction {
    number: FieldNode,
    time: FieldNode,
}

impl Transaction {
    fn new() -> Self {
        Transaction {
            number: field(
                &name!("_transaction"),
                text("GraphDB transaction number that gave rise to the mutation"),
                Vec::new(),
                required(&name!("String")),
            ),
            time: field(
                &name!("_transactionTime"),
                text("GraphDB date/time stamp of the transaction"),
                Vec::new(),
                named(&name!("Date")),
            ),
        }
    }
}

fn add_event(table: &mut TypeTable<'_>, id: ObjectId, target: &Target, transaction: &Transaction) {
    let ty = &target.ty;
    let operation = format!("Whether the {ty} mutation was CREATE or UPDATE or DELETE");
    let subject = format!("The {ty} object which is CREATED or UPDATED or DELETED");
    let subject_field = Name::new_unchecked(&lower_first(ty));
    let event = [
        field(
            &name!("_mutationType"),
            text(&operation),
            Vec::new(),
            required(&name!("SubscriptionMutationTypeEnum")),
        ),
        transaction.number.clone(),
        transaction.time.clone(),
        field(&subject_field, text(&subject), Vec::new(), named(ty)),
    ];
    let name = Name::new_unchecked(&format!("{ty}_Subscription"));
    table.add(
        Origin::of(Source::Object(id)),
        object_type(name, None, IndexSet::default(), event),
    );
}

fn add_stream(table: &mut TypeTable<'_>) {
    let int = name!("Int");
    let limit = "Specifies the maximum number of transactions to read within GraphDB. These \
                 transactions will read and if required transformed into subscription \
                 events/objects. There will also need to be a GraphDB configurable size limit of \
                 {x} MB on the response that takes precedence over the number of objects specified \
                 in the limit argument.";
    let stream = [
        input(
            &name!("transaction"),
            text(
                "The GraphDB transaction to retrieve mutation changes from the number of \
                 transactions",
            ),
            named(&name!("String")),
        ),
        input(&name!("transactionLimit"), text(limit), named(&int)),
        input(
            &name!("offset"),
            text("The request pagination offset for the returned changes."),
            named(&int),
        ),
        input(
            &name!("limit"),
            text("The request pagination limit for the returned changes."),
            named(&int),
        ),
        input_with_default(
            &name!("excludeDeleted"),
            text("Forces the stream to exclude deleted objects"),
            named(&name!("Boolean")),
            Some(Value::Boolean(false)),
        ),
    ];
    table.add(
        Origin::BUILT_IN,
        input_type(name!("_SubscriptionStream"), None, stream),
    );
}
