//! Clauses of the API as clauses of the query language.

use graphql_service::error::GraphqlError;

use super::arguments::{Place, choice, flag};
use super::guard::{Guard, filtered, wrapped};
use super::input::Input;
use super::operand::{End, Limit, Operand, bound, operand};
use super::target::{Found, Kind, Member, Target, follow, member};
use super::trail::Trail;
use crate::code;
use crate::dsl::{
    Bool, ClauseLimits, DisMax, Exists, Ids, Match, Nested, Operator, Prefix, Query, Range,
    ScoreMode, Term, Terms, Value, ZeroTerms,
};
use crate::mapping::{FACTS, Leaf, ObjectFields, ScalarIndex};
use crate::value::document_id;

/// Reads the clauses about one object: that of the index, or one that is embedded.
#[derive(Clone, Copy)]
pub(super) struct Clauses<'i> {
    object: &'i ObjectFields,
    place: Place,
    /// Where the clause that is read stands in the argument.
    trail: Trail<'i>,
    limits: &'i ClauseLimits<'i>,
    guard: Guard<'i>,
    /// Something of what the clause is about is hidden, so no score may depend on what all objects say.
    hides_some: bool,
}

/// A clause that goes by property, with its property found.
struct ByProperty<'i, 'v> {
    found: Found<'i>,
    key: &'v str,
    options: &'v Input,
}

type Result<T> = std::result::Result<T, GraphqlError>;

impl<'i> Clauses<'i> {
    /// Reads the clauses of an argument; they count.
    pub(super) fn new(
        object: &'i ObjectFields,
        place: Place,
        guard: Guard<'i>,
        limits: &'i ClauseLimits<'i>,
    ) -> Result<Self> {
        Ok(Clauses {
            object,
            place,
            trail: Trail::new(guard.argument),
            limits,
            guard,
            // Scores depend on how rare a word is, hidden texts included (docs/search.md, "With
            // security on").
            hides_some: guard.shown(object)?.condition().is_some(),
        })
    }

    /// Reads a clause. An error says where it stands.
    pub(super) fn query(self, input: &Input) -> Result<Query> {
        let only = self.place.only("a clause", input);
        let (name, content) = only.map_err(|error| self.trail.mark(error))?;
        let inside = Clauses {
            trail: self.trail.member(name),
            ..self
        };
        let read = inside.named(name, content);
        read.map_err(|error| inside.trail.mark(error))
    }

    fn named(self, name: &str, content: &Input) -> Result<Query> {
        match name {
            "match_all" => Ok(Query::MatchAll {
                boost: self.place.boost(content)?,
            }),
            "match_none" => self.place.boost(content).map(|_| Query::MatchNone),
            "bool" => self.combination(content),
            "exists" => self.exists(content),
            "ids" => self.ids(content),
            "constant_score" => Ok(Query::ConstantScore {
                filter: Box::new(self.inner(content, "filter")?),
                boost: self.place.boost(content)?,
            }),
            "dis_max" => Ok(Query::DisMax(DisMax {
                queries: self.list(content, "queries")?,
                tie_breaker: self.place.factor(content, "tie_breaker")?,
                boost: self.place.boost(content)?,
            })),
            "nested" => self.nested(content),
            _ => self.by_property(name, content),
        }
    }

    fn inner(self, content: &Input, key: &str) -> Result<Query> {
        let none = Input::Object(Vec::new());
        let inside = Clauses {
            trail: self.trail.member(key),
            ..self
        };
        inside.query(content.get(key).unwrap_or(&none))
    }

    fn list(self, content: &Input, key: &str) -> Result<Vec<Query>> {
        let items = content.get(key).map(Input::items).unwrap_or_default();
        let list = self.trail.member(key);
        let items = items.iter().enumerate().map(|(at, item)| {
            let inside = Clauses {
                trail: list.item(at),
                ..self
            };
            inside.query(item)
        });
        items.collect()
    }

    fn combination(self, content: &Input) -> Result<Query> {
        Ok(Query::Bool(Bool {
            must: self.list(content, "must")?,
            filter: self.list(content, "filter")?,
            should: self.list(content, "should")?,
            must_not: self.list(content, "must_not")?,
            minimum_should_match: self.place.parsed(content, "minimum_should_match")?,
            boost: self.place.boost(content)?,
        }))
    }

    /// Reads a clause on the ids of documents, which there is for the object of the index alone.
    fn ids(self, content: &Input) -> Result<Query> {
        let query = self.counted(Query::Ids(Ids {
            values: ids(content.get("values")),
            boost: self.place.boost(content)?,
        }))?;
        Ok(match self.guard.condition(self.object, "id")? {
            None => query,
            Some(condition) => filtered(query, condition.query(FACTS)),
        })
    }

    /// Reads several conditions on one embedded object.
    fn nested(self, content: &Input) -> Result<Query> {
        let (key, options) = self.place.only("`nested`", content)?;
        let Some(Member::Object(embedded)) = member(self.object, key) else {
            return Err(self.unknown(key));
        };
        let readable = self.guard.condition(self.object, key)?;
        let shown = self.guard.condition_of_embedded(&embedded.fields, key)?;
        let readable = readable.map(|of| of.query(&self.object.path_of(FACTS)));
        let shown = shown.map(|of| of.query(&embedded.fields.path_of(FACTS)));
        let within = |query: Query, filter: Option<Query>| match filter {
            Some(filter) => filtered(query, filter),
            None => query,
        };
        let inside = Clauses {
            object: &embedded.fields,
            trail: self.trail.member(key),
            hides_some: self.hides_some || shown.is_some() || readable.is_some(),
            ..self
        };
        // Values of an object that is not `nested` are values of the document, so nothing ties them
        // to one object.
        if !embedded.nested {
            let query = within(inside.nested(options)?, shown);
            return Ok(within(query, readable));
        }
        const MODES: &[(&str, ScoreMode)] = &[
            ("AVG", ScoreMode::Avg),
            ("MAX", ScoreMode::Max),
            ("MIN", ScoreMode::Min),
            ("SUM", ScoreMode::Sum),
            ("NONE", ScoreMode::None),
        ];
        let query = Query::Nested(Nested {
            path: embedded.fields.path.clone(),
            query: Box::new(within(inside.inner(options, "query")?, shown)),
            score_mode: choice(options, "score_mode", MODES),
        });
        Ok(within(query, readable))
    }

    fn exists(self, content: &Input) -> Result<Query> {
        let way = content
            .get("field")
            .and_then(Input::text)
            .unwrap_or_default();
        let found = follow(self.object, way).ok_or_else(|| self.unknown(way))?;
        let boost = self.place.boost(content)?;
        // Text in languages has whole values in one field, except those that are too long for it.
        let mut fields = found.target.paths();
        if let Target::Values(
            field,
            Leaf::Scalar {
                index: ScalarIndex::Exact,
                ..
            },
        ) = found.target
        {
            fields = vec![field.whole_path()];
        }
        let each = fields
            .into_iter()
            .map(|field| self.counted(Query::Exists(Exists { field, boost })));
        let query = best(each.collect::<Result<_>>()?);
        let conditions = self.guard.conditions(&found)?;
        Ok(wrapped(&found, &conditions, query))
    }

    /// Reads a clause that goes by property.
    fn by_property(self, name: &str, content: &Input) -> Result<Query> {
        let clause = self.find(name, content)?;
        let conditions = self.guard.conditions(&clause.found)?;
        let this = Clauses {
            hides_some: self.hides_some || conditions.iter().any(Option::is_some),
            ..self
        };
        let query = match name {
            "match" => this.matching(&clause)?,
            "term" => this.term(&clause)?,
            "terms" => this.terms(&clause)?,
            "range" => this.range(&clause)?,
            "prefix" => this.prefix(&clause)?,
            _ => return Err(self.unknown(name)),
        };
        Ok(wrapped(&clause.found, &conditions, query))
    }

    /// Finds the property of a clause, through embedded objects.
    fn find<'v>(self, name: &str, content: &'v Input) -> Result<ByProperty<'i, 'v>> {
        let (key, options) = self.place.only(&format!("`{name}`"), content)?;
        match member(self.object, key) {
            Some(Member::Target(target)) => Ok(ByProperty {
                found: Found::new(self.object, key, target),
                key,
                options,
            }),
            Some(Member::Object(embedded)) => {
                let inside = Clauses {
                    object: &embedded.fields,
                    ..self
                };
                let mut clause = inside.find(name, options)?;
                clause.found = clause.found.under(self.object, key, embedded);
                Ok(clause)
            }
            None => Err(self.unknown(key)),
        }
    }

    fn unknown(self, key: &str) -> GraphqlError {
        let message = format!("`{key}` is not searchable here");
        self.place.error(code::CLAUSE_INVALID, message)
    }

    fn matching(self, clause: &ByProperty<'_, '_>) -> Result<Query> {
        let (place, options) = (self.place, clause.options);
        let boost = place.boost(options)?;
        let target = clause.found.target;
        let none = Input::Null;
        let query = options.get("query").unwrap_or(&none);
        let value = match operand(target, query) {
            Ok(Operand::Value(value)) => value,
            Ok(Operand::Nothing) => return Ok(Query::MatchNone),
            // <https://docs.opensearch.org/latest/query-dsl/full-text/match/>
            Err(_) if flag(options, "lenient") == Some(true) => return Ok(Query::MatchNone),
            Err(error) => return Err(place.operand(clause.key, query, &error)),
        };
        const OPERATORS: &[(&str, Operator)] = &[("AND", Operator::And), ("OR", Operator::Or)];
        const ZERO: &[(&str, ZeroTerms)] = &[("ALL", ZeroTerms::All), ("NONE", ZeroTerms::None)];
        let one = Match {
            field: String::new(),
            query: value,
            operator: choice(options, "operator", OPERATORS),
            minimum_should_match: place.parsed(options, "minimum_should_match")?,
            fuzziness: place.parsed(options, "fuzziness")?,
            prefix_length: place.parsed(options, "prefix_length")?,
            max_expansions: place.parsed(options, "max_expansions")?,
            fuzzy_transpositions: flag(options, "fuzzy_transpositions"),
            lenient: flag(options, "lenient"),
            zero_terms_query: choice(options, "zero_terms_query", ZERO),
            boost,
        };
        if one.max_expansions == Some(0) {
            let message = "`max_expansions` is 0, but must be greater";
            return Err(place.error(code::OPTION_INVALID, message));
        }
        self.in_each(clause, boost, |field| {
            Query::Match(Match {
                field,
                ..one.clone()
            })
        })
    }

    fn term(self, clause: &ByProperty<'_, '_>) -> Result<Query> {
        let boost = self.place.boost(clause.options)?;
        let none = Input::Null;
        let value = clause.options.get("value").unwrap_or(&none);
        let Operand::Value(value) = self.operand(clause, value)? else {
            return Ok(Query::MatchNone);
        };
        let case_insensitive = flag(clause.options, "case_insensitive") == Some(true);
        self.in_each(clause, boost, |field| {
            let value = value.clone();
            Query::Term(Term {
                field,
                value,
                case_insensitive,
                boost,
            })
        })
    }

    fn terms(self, clause: &ByProperty<'_, '_>) -> Result<Query> {
        let boost = self.place.boost(clause.options)?;
        let given = clause
            .options
            .get("values")
            .map(Input::items)
            .unwrap_or_default();
        let mut values = Vec::with_capacity(given.len());
        for value in given {
            if let Operand::Value(value) = self.operand(clause, value)? {
                values.push(value);
            }
        }
        // Values that the property cannot have are left out; nothing equals none of them.
        if values.is_empty() {
            return Ok(Query::MatchNone);
        }
        self.in_each(clause, boost, |field| {
            Query::Terms(Terms {
                field,
                values: values.clone(),
                boost,
            })
        })
    }

    fn range(self, clause: &ByProperty<'_, '_>) -> Result<Query> {
        let boost = self.place.boost(clause.options)?;
        let ends = [
            self.bound(clause, End::Lower, ["gt", "gte"])?,
            self.bound(clause, End::Upper, ["lt", "lte"])?,
        ];
        // OpenSearch would take this for `exists`; whoever forgets a bound learns nothing from
        // that.
        if ends.iter().all(Option::is_none) {
            let message = format!("`range` of `{}` has no bound", clause.key);
            return Err(self.place.error(code::CLAUSE_INVALID, message));
        }
        if ends.contains(&Some(Limit::Nothing)) {
            return Ok(Query::MatchNone);
        }
        let [lower, upper] = ends.map(|end| match end {
            Some(Limit::At(bound)) => Some(bound),
            _ => None,
        });
        let field = clause.found.target.whole_path();
        self.counted(match (&lower, &upper) {
            (None, None) => Query::Exists(Exists { field, boost }),
            _ => Query::Range(Range {
                field,
                lower,
                upper,
                boost,
            }),
        })
    }

    /// Reads an end of a range, which is with or without the bound itself.
    fn bound(
        self,
        clause: &ByProperty<'_, '_>,
        end: End,
        [exclusive, inclusive]: [&str; 2],
    ) -> Result<Option<Limit>> {
        let given = |key| clause.options.get(key);
        let (input, is_inclusive) = match (given(exclusive), given(inclusive)) {
            (None, None) => return Ok(None),
            (Some(input), None) => (input, false),
            (None, Some(input)) => (input, true),
            (Some(_), Some(_)) => {
                let message = format!(
                    "`range` has `{exclusive}` and `{inclusive}`, which exclude each other"
                );
                return Err(self.place.error(code::CLAUSE_INVALID, message));
            }
        };
        bound(clause.found.target, end, is_inclusive, input)
            .map(Some)
            .map_err(|error| self.place.operand(clause.key, input, &error))
    }

    fn prefix(self, clause: &ByProperty<'_, '_>) -> Result<Query> {
        let boost = self.place.boost(clause.options)?;
        let value = clause
            .options
            .get("value")
            .and_then(Input::text)
            .unwrap_or_default();
        let case_insensitive = flag(clause.options, "case_insensitive") == Some(true);
        self.in_each(clause, boost, |field| {
            let value = value.to_owned();
            Query::Prefix(Prefix {
                field,
                value,
                case_insensitive,
                boost,
            })
        })
    }

    /// Counts a clause for each of some fields.
    fn count(self, query: &Query, fields: usize) -> Result<()> {
        let counted = self.limits.count(query, fields);
        counted.map_err(|error| error.at(self.place.location))
    }

    /// Counts a clause.
    fn counted(self, query: Query) -> Result<Query> {
        self.count(&query, 1)?;
        Ok(query)
    }

    fn operand(self, clause: &ByProperty<'_, '_>, input: &Input) -> Result<Operand> {
        operand(clause.found.target, input)
            .map_err(|error| self.place.operand(clause.key, input, &error))
    }

    /// Makes a clause for each field of a property: for text in languages there are several.
    fn in_each(
        self,
        clause: &ByProperty<'_, '_>,
        boost: Option<f64>,
        query: impl Fn(String) -> Query,
    ) -> Result<Query> {
        let target = clause.found.target;
        let mut paths = target.paths();
        if let (Kind::Language, Some(lang)) = (target.kind(), clause.options.get("lang")) {
            paths = self.in_language(target, lang.text().unwrap_or_default())?;
        }
        let number = paths.len();
        let mut fields = paths.into_iter();
        let first = fields.next().map(&query);
        if let Some(first) = &first {
            // Before the operands are there as often as there are fields.
            self.count(first, number)?;
        }
        let all = best(first.into_iter().chain(fields.map(query)).collect());
        // Numbers score the same, whatever field serves them.
        let is_number = matches!(target.index(), ScalarIndex::Exact | ScalarIndex::Time);
        let all = if self.hides_some {
            with_all_similar(all, self.limits.most_expansions())
        } else {
            all
        };
        Ok(if is_number || self.hides_some {
            Query::ConstantScore {
                filter: Box::new(without_boost(all)),
                boost,
            }
        } else {
            all
        })
    }

    /// Returns the fields of a language and of those that begin with its tag (docs/search.md,
    /// "Languages"): basic filtering of RFC 4647,
    /// <https://www.rfc-editor.org/rfc/rfc4647#section-3.3.1>.
    fn in_language(self, target: Target<'_>, lang: &str) -> Result<Vec<String>> {
        let Target::Values(field, Leaf::Language { languages, .. }) = target else {
            return Ok(target.paths());
        };
        let wanted = lang.to_ascii_lowercase();
        let covers = |tag: &str| {
            let rest = tag.strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let known = languages.iter().filter(|language| covers(&language.tag));
        let paths: Vec<_> = known
            .map(|language| field.language_path(language))
            .collect();
        if paths.is_empty() || wanted.is_empty() {
            let tags: Vec<_> = languages
                .iter()
                .map(|language| language.tag.as_str())
                .collect();
            let message = if tags.is_empty() {
                format!(
                    "`{lang}` is not indexed; the schema names no language under `analysis.lang`"
                )
            } else {
                format!(
                    "`{lang}` is not indexed; the languages are {}",
                    tags.join(", ")
                )
            };
            return Err(self.place.error(code::LANGUAGE_NOT_INDEXED, message));
        }
        Ok(paths)
    }
}

/// Returns the clause that scores as the best of some.
fn best(mut queries: Vec<Query>) -> Query {
    match queries.len() {
        1 => queries.remove(0),
        _ => Query::DisMax(DisMax {
            queries,
            tie_breaker: None,
            boost: None,
        }),
    }
}

/// Takes the boost from a clause whose boost is elsewhere.
fn without_boost(mut query: Query) -> Query {
    match &mut query {
        Query::Match(Match { boost, .. })
        | Query::Term(Term { boost, .. })
        | Query::Terms(Terms { boost, .. })
        | Query::Prefix(Prefix { boost, .. }) => *boost = None,
        Query::DisMax(best) => {
            let queries = std::mem::take(&mut best.queries).into_iter();
            best.queries = queries.map(without_boost).collect();
        }
        _ => {}
    }
    query
}

/// Has a clause look for all similar terms that it may, so that no term of a hidden text takes the
/// place of another one (docs/search.md, "With security on").
fn with_all_similar(mut query: Query, most: u32) -> Query {
    match &mut query {
        Query::Match(clause) if clause.fuzziness.is_some() => clause.max_expansions = Some(most),
        Query::DisMax(best) => {
            let queries = std::mem::take(&mut best.queries).into_iter();
            best.queries = queries.map(|query| with_all_similar(query, most)).collect();
        }
        _ => {}
    }
    query
}

fn ids(list: Option<&Input>) -> Vec<String> {
    let items = list.map(Input::items).unwrap_or_default();
    items
        .iter()
        .filter_map(Input::text)
        .map(document_id)
        .collect()
}

/// Reads the value that stands for a missing one.
pub(super) fn missing(
    target: Target<'_>,
    place: Place,
    key: &str,
    input: &Input,
) -> Result<Option<Value>> {
    match operand(target, input) {
        Ok(Operand::Value(value)) => Ok(Some(value)),
        Ok(Operand::Nothing) => {
            let message = format!("`missing` of `{key}` is out of the range of the property");
            Err(place.error(code::OPERAND_INVALID, message))
        }
        Err(error) => Err(place.operand(key, input, &error)),
    }
}
