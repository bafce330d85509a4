//! GraphQL and every form of SPARQL hold the same data, for several instances of each template.

use std::sync::{Arc, LazyLock};

use benches::generator::Config;
use benches::workload::{Answer, TEMPLATES, Template, collect, instances, read_json, write_json};
use benches::{SCHEMA, embedded};
use graph_store::image::ImageStore;
use graphql_service::RequestContext;
use object_engine::ObjectService;
use oxigraph::store::Store;

const CONFIG: Config = Config {
    universities: 1,
    seed: 42,
};
const INSTANCES: usize = 8;

static STORE: LazyLock<Store> = LazyLock::new(|| embedded::load(CONFIG).unwrap());

fn service() -> ObjectService {
    let store = ImageStore::new(embedded::image(CONFIG).unwrap());
    embedded::service(SCHEMA, Arc::new(store)).unwrap()
}

/// Returns how many instances have an answer that is not empty.
async fn compare(service: &ObjectService, template: &Template) -> usize {
    let mut answered = 0;
    for instance in instances(template, CONFIG, INSTANCES) {
        let request = instance.request(template);
        let response = service.execute(request, RequestContext::default()).await;
        let graphql = Answer::of_graphql(template, &response.body.to_bytes()).unwrap();
        assert!(!template.forms.is_empty());
        for form in template.forms {
            let rows = collect(&STORE, form, &instance).unwrap();
            let sparql = Answer::of_rows(template, &instance, &rows);
            let mut written = Vec::new();
            write_json(&STORE, form, &instance, &mut written).unwrap();
            let read = read_json(&written).unwrap();
            assert_eq!(sparql, Answer::of_rows(template, &instance, &read));
            let variables = &instance.variables;
            assert!(
                graphql == sparql,
                "{} {} {variables:?}\nGraphQL: {graphql:#?}\nSPARQL: {sparql:#?}",
                template.name,
                form.name,
            );
        }
        answered += usize::from(!graphql.is_empty());
    }
    answered
}

#[tokio::test]
async fn graphql_and_sparql_give_the_same_data() {
    let service = service();
    for template in TEMPLATES {
        let answered = compare(&service, template).await;
        assert!(answered * 2 >= INSTANCES, "{}: {answered}", template.name);
    }
}

#[test]
fn instances_are_the_same_each_time_and_differ_from_each_other() {
    for template in TEMPLATES {
        let variables = |count| -> Vec<_> {
            let instances = instances(template, CONFIG, count);
            instances.into_iter().map(|i| i.variables).collect()
        };
        let mut many = variables(20);
        assert_eq!(many[..3], variables(3));
        many.dedup();
        assert!(many.len() > 1, "{}", template.name);
    }
}
