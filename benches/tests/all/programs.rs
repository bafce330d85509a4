//! What the programs measure answers what it is compared with, and writes the same.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use benches::bound::{Bound, BoundError, UNBOUND};
use benches::embedded_http::Contest;
use benches::generator::Config;
use benches::log::{Level, Log};
use benches::page_after_write::{Before, Library};
use benches::workload::{Answer, Instance, TEMPLATES, Template, chosen, instances};
use benches::writes::{self, Batches};
use benches::{SCHEMA, embedded, values};
use graph_store::image::ImageStore;
use graphql_service::RequestContext;
use object_engine::ObjectService;
use tokio::runtime::Builder;

const CONFIG: Config = Config {
    universities: 1,
    seed: 42,
};

fn answer(service: &ObjectService, template: &Template, instance: &Instance) -> Answer {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let answer = service.execute(instance.request(template), RequestContext::default());
    let body = runtime.block_on(answer).body.to_bytes();
    Answer::of_graphql(template, &body).unwrap()
}

#[test]
fn templates_are_chosen_by_their_names_and_unknown_names_are_refused() {
    let names = |only: &[&str]| {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let found = chosen(TEMPLATES, &only).map_err(|error| error.to_string())?;
        Ok::<Vec<_>, String>(found.iter().map(|template| template.name).collect())
    };
    assert_eq!(names(&["QT5", "QT1"]), Ok(vec!["QT1", "QT5"]));
    assert_eq!(names(&[]).unwrap().len(), TEMPLATES.len());
    let error = "there is no template `QT99`".to_owned();
    assert_eq!(names(&["QT1", "QT99"]), Err(error));
}

#[test]
fn the_bound_answers_as_the_service() {
    let image = Arc::new(embedded::image(CONFIG).unwrap());
    let store = Arc::new(ImageStore::new(Arc::clone(&image)));
    let service = embedded::service(SCHEMA, store).unwrap();
    let bound = Bound::new(&image).unwrap();
    for template in TEMPLATES {
        for instance in instances(template, CONFIG, 3) {
            let walked = bound.answer(template.name, &instance);
            if UNBOUND.contains(&template.name) {
                assert!(matches!(walked, Err(BoundError::NoTemplate(_))));
                continue;
            }
            let walked = Answer::of_graphql(template, &walked.unwrap()).unwrap();
            let answer = answer(&service, template, &instance);
            assert!(walked == answer, "{}: {instance:?}", template.name);
        }
    }
}

#[test]
fn filters_have_the_answers_of_each_form_of_sparql_at_each_size() {
    for universities in [1, 2] {
        let config = Config {
            universities,
            ..CONFIG
        };
        let image = Arc::new(ImageStore::new(values::image(config).unwrap()));
        let service = embedded::service(&values::schema(), Arc::clone(&image) as _).unwrap();
        let store = values::load(config).unwrap();
        assert_eq!(store.len().unwrap() as u64, image.quads());
        let contest = Contest::start(&values::schema(), image, store).unwrap();
        for filter in values::FILTERS {
            let drawn = values::instances(filter, config, 3);
            contest.check(filter, &drawn).unwrap();
            let expected = match filter.name {
                "EQ-none" => 0,
                "IN" | "number-GT" | "number-range" | "dateTime-GT" | "RE-prefix" => 10,
                _ => 1,
            };
            for instance in &drawn {
                let answer = answer(&service, filter, instance);
                assert_eq!(answer.objects.len(), expected, "{}", filter.name);
            }
        }
    }
}

#[test]
fn pages_after_writes_are_checked() {
    let mut library = Library::new(60).unwrap();
    let middle = library.cursor(30).unwrap();
    assert!(middle.is_some() && library.cursor(0).unwrap().is_none());
    for before in Before::ALL.into_iter().cycle().take(9) {
        library.turn(before, None).unwrap();
        library.turn(before, middle.as_deref()).unwrap();
    }
    let few = Library::new(3).unwrap().turn(Before::OtherType, None);
    assert!(few.unwrap_err().to_string().contains("bookConnection"));
}

#[test]
fn mutations_and_updates_write_the_same_quads() {
    let folder = std::env::temp_dir().join(format!("benches-writes-{}", std::process::id()));
    for (folder, size) in [(None, 1), (None, 4), (Some(folder.as_path()), 4)] {
        let contest = writes::Contest::start(folder).unwrap();
        let batches = Batches { objects: 10, size };
        let row = contest.measure(batches, None).unwrap();
        assert_eq!(row.mutation.count, 10_usize.div_ceil(size));
        assert_eq!([row.update.count, row.warn.count], [row.mutation.count; 2]);
        assert_eq!(row.line().matches('|').count(), 9);
        // The same objects once more are refused.
        assert!(contest.measure(batches, None).is_err());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Lines that a test reads.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The only test with a log: there is one in a process.
#[test]
fn the_default_level_has_lines_that_warn_has_not() {
    let lines = Lines::default();
    let log = Log::start_to(lines.clone()).unwrap();
    tracing::info!("first at the default level");
    log.set(Level::Warn).unwrap();
    tracing::info!("not at warn");
    log.set(Level::Default).unwrap();
    tracing::info!("last at the default level");
    let text = loop {
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        if text.contains("last at the default level") {
            break text;
        }
        std::thread::yield_now();
    };
    assert!(text.contains("first at the default level") && !text.contains("not at warn"));
    assert!(Log::start_to(io::sink()).is_err());
}
