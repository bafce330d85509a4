//! `GET /docs` and `GET /docs/{page}`: the documentation in the version of the program.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use graphql_http::HttpError;
use graphql_service::Weight;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::code;
use super::mount::{MountPoint, SlashAtEnd};
use super::page::{VERSION, escaped};
use super::service::Host;

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../docs/", $name, ".md")))),*]
    };
}

/// The pages as Markdown, by name.
const SOURCES: &[(&str, &str)] = pages![
    "access",
    "api-gateway",
    "changes",
    "checks",
    "cli",
    "composition",
    "configuration",
    "diagnostics",
    "edge",
    "embedding",
    "errors",
    "federation",
    "first-schema",
    "gateway",
    "http",
    "identity",
    "image-format",
    "loading",
    "metrics",
    "queries",
    "schema",
    "search",
    "shared-schemas",
    "sparql-servers",
    "stores",
    "traces",
    "writing",
];

/// The pages, by name.
static PAGES: LazyLock<HashMap<&str, Page>> = LazyLock::new(|| {
    let pages = SOURCES.iter();
    pages.map(|(name, text)| (*name, rendered(text))).collect()
});

/// A page that is rendered.
struct Page {
    title: String,
    /// HTML, without what is around it on every page.
    body: String,
}

/// How links of a page lead to others: relative, since a proxy may serve all of them below a path of its own.
struct Links {
    /// The folder of the service.
    root: &'static str,
    /// The folder of the documentation.
    docs: &'static str,
    /// The page of the service. Where it is mounted, that may be there without a slash at its end alone.
    page: String,
}

impl Links {
    /// Those of what is in the folder.
    fn inside(mount: &MountPoint) -> Self {
        Links::new("../", "", mount)
    }

    /// Those of what has the name of the folder, without a slash.
    fn beside(mount: &MountPoint) -> Self {
        Links::new("./", "docs/", mount)
    }

    fn new(root: &'static str, docs: &'static str, mount: &MountPoint) -> Self {
        let page = match mount.0.rsplit_once('/') {
            Some((_, last)) => escaped(&format!("{root}../{last}")),
            None => root.to_owned(),
        };
        Links { root, docs, page }
    }
}

/// Pages run no scripts and load nothing but their style.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Answers with the list of all pages.
pub(crate) async fn index<H: Host>(
    State(app): State<Arc<H>>,
    slash: Option<Extension<SlashAtEnd>>,
    mount: MountPoint,
) -> Result<Response, HttpError> {
    let links = match slash {
        Some(_) => Links::inside(&mount),
        None => Links::beside(&mount),
    };
    answer(app.as_ref(), move || Some(list(&links))).await
}

/// Answers with a page of the documentation.
pub(crate) async fn page<H: Host>(
    State(app): State<Arc<H>>,
    Path(name): Path<String>,
    mount: MountPoint,
) -> Result<Response, HttpError> {
    let found = move || {
        let Page { title, body } = PAGES.get(name.as_str())?;
        Some(document(title, body, &Links::inside(&mount)))
    };
    answer(app.as_ref(), found).await
}

/// Answers with HTML, where there is some and the service shows pages.
async fn answer<H: Host>(
    app: &H,
    html: impl FnOnce() -> Option<String> + Send + 'static,
) -> Result<Response, HttpError> {
    let not_found = || HttpError::new(code::PATH_NOT_FOUND, "the page does not exist");
    if !app.state().options.graphiql {
        return Err(not_found());
    }
    // All pages are rendered when the first one is asked for.
    let slots = &app.state().resources.slots;
    let found = slots
        .run(Weight::Medium, None, move |_slot| html())
        .await
        .map_err(HttpError::of_slot)?;
    let html = found.ok_or_else(not_found)?;
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(POLICY),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
    ];
    Ok((headers, Html(html)).into_response())
}

/// Renders a page: headings can be linked to, links lead to the pages that are here.
fn rendered(markdown: &str) -> Page {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES);
    let mut events: Vec<Event<'_>> = events
        .filter(|event| !matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .collect();
    let title = name_headings(&mut events);
    let mut body = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut body, linked(events).into_iter());
    Page { title, body }
}

/// Lists all pages by their titles.
fn list(links: &Links) -> String {
    let mut pages: Vec<_> = PAGES.iter().collect();
    pages.sort_by(|a, b| a.1.title.cmp(&b.1.title));
    let mut body = String::from("<h1>Documentation</h1>\n<ul>\n");
    for (name, page) in pages {
        let (title, docs) = (escaped(&page.title), links.docs);
        let _ = writeln!(body, "<li><a href=\"{docs}{name}\">{title}</a></li>");
    }
    body.push_str("</ul>\n");
    document("Documentation", &body, links)
}

/// Returns a document of HTML around what it shows.
fn document(title: &str, body: &str, links: &Links) -> String {
    let (title, version, root) = (escaped(title), &*VERSION, links.root);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{root}graphiql/{version}/docs.css\">\n\
         </head>\n<body>\n<nav aria-label=\"Documentation\">{}</nav>\n<main>\n{body}</main>\n\
         </body>\n</html>\n",
        navigation(links)
    )
}

/// Returns links to GraphiQL, to the list of pages, and to those that users ask for first.
fn navigation(links: &Links) -> String {
    let Links { root, docs, page } = links;
    let mut text = format!("<a href=\"{page}\">GraphiQL</a> <a href=\"{root}docs\">All pages</a>");
    for (name, title) in [
        ("first-schema", "First schema"),
        ("queries", "Queries"),
        ("schema", "Schemas"),
        ("search", "Search"),
        ("http", "HTTP"),
        ("errors", "Error codes"),
        ("configuration", "Configuration"),
    ] {
        let _ = write!(text, " <a href=\"{docs}{name}\">{title}</a>");
    }
    text
}

/// Gives each heading the identifier that links use; returns the first heading.
fn name_headings(events: &mut [Event<'_>]) -> String {
    let mut title = None;
    for start in 0..events.len() {
        if !matches!(events[start], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let inner = events[start..]
            .iter()
            .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let text: String = inner
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(&**text),
                _ => None,
            })
            .collect();
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[start] {
            *id = Some(anchor(&text).into());
        }
        title.get_or_insert(text);
    }
    title.unwrap_or_default()
}

/// Returns the identifier of a heading as the usual renderers of Markdown make it.
fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

/// Turns links to files into links to pages, and takes off those to files that are not here.
fn linked(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut kept = Vec::with_capacity(events.len());
    let mut dead = false;
    for mut event in events {
        match &mut event {
            Event::Start(Tag::Link { dest_url, .. }) => match target(dest_url) {
                Some(target) => *dest_url = target,
                None => {
                    dead = true;
                    continue;
                }
            },
            Event::End(TagEnd::Link) if std::mem::take(&mut dead) => continue,
            _ => {}
        }
        kept.push(event);
    }
    kept
}

/// Returns where a link leads: `cli.md#x` to `cli#x`.
fn target(written: &str) -> Option<CowStr<'static>> {
    if written.starts_with('#') || written.contains("://") {
        return Some(written.to_owned().into());
    }
    let (file, fragment) = match written.split_once('#') {
        Some((file, fragment)) => (file, format!("#{fragment}")),
        None => (written, String::new()),
    };
    let name = file.strip_suffix(".md")?;
    let known = SOURCES.iter().any(|(known, _)| *known == name);
    known.then(|| format!("{name}{fragment}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what stands between `before` and the next quote, wherever that is.
    fn quoted<'a>(html: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
        let rest = html.split(before).skip(1);
        rest.filter_map(|rest| rest.split('"').next())
    }

    #[test]
    fn every_file_of_the_documentation_is_a_page_and_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        let files = std::fs::read_dir(folder).expect("the folder is there");
        let names = files.filter_map(|file| {
            let name = file.expect("an entry").file_name().into_string();
            Some(name.expect("UTF-8").strip_suffix(".md")?.to_owned())
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        let served: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
        assert_eq!(served, names);
        let mount = MountPoint::default();
        for links in [Links::inside(&mount), Links::beside(&mount)] {
            let list = list(&links);
            let (_, list) = list.split_once("<ul>").expect("a list");
            let mut listed: Vec<&str> = quoted(list, "<a href=\"")
                .map(|link| link.strip_prefix(links.docs).expect("in the folder"))
                .collect();
            listed.sort_unstable();
            assert_eq!(listed, names);
        }
    }

    #[test]
    fn every_link_of_every_page_leads_to_a_heading_that_is_there() {
        let mut links = 0;
        for (name, page) in PAGES.iter() {
            for link in quoted(&page.body, "<a href=\"") {
                links += 1;
                if matches!(link, "../" | "../docs") || link.contains("://") {
                    continue;
                }
                let (page, fragment) = link.split_once('#').unwrap_or((link, ""));
                let page = if page.is_empty() { name } else { page };
                let found = PAGES.get(page).unwrap_or_else(|| panic!("{name}: {link}"));
                let mut anchors = quoted(&found.body, " id=\"");
                let there = fragment.is_empty() || anchors.any(|anchor| anchor == fragment);
                assert!(there, "{name}: {link}");
            }
        }
        assert!(links > 100, "{links}");
    }

    #[test]
    fn markup_of_a_page_is_rendered_and_html_is_not_taken_over() {
        let page = "# A `b` page\n\n<script>x</script>\n\n| a |\n|---|\n| [c](cli.md#schema) |\n\n\
                    [d](../README.md)\n";
        let Page { title, body } = rendered(page);
        let html = document(&title, &body, &Links::inside(&MountPoint::default()));
        assert!(html.contains("<title>A b page</title>"), "{html}");
        assert!(html.contains("<h1 id=\"a-b-page\">"), "{html}");
        assert!(
            html.contains("<td><a href=\"cli#schema\">c</a></td>"),
            "{html}"
        );
        assert!(html.contains("<p>d</p>"), "{html}");
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("<a href=\"../\">GraphiQL"), "{html}");
        let mount = MountPoint("/a/b".to_owned());
        for (links, expected) in [
            (Links::inside(&mount), "../../b"),
            (Links::beside(&mount), "./../b"),
        ] {
            assert_eq!(links.page, expected);
        }
    }
}
