//! Reads an operation and counts what it asks for.

use soml_core::schema::{LiteralRange, Path, Property, Range};

use super::Coverage;
use super::cells::{FilterDepth, Operand};
use crate::differential::operation::{Arg, Field, Operation, Selection};
use crate::differential::reference::{FieldMeaning, Model, RootKind, Ty};

/// One operation, being read.
struct Reader<'a> {
    model: &'a Model<'a>,
    operation: &'a Operation,
    coverage: &'a mut Coverage,
}

impl Coverage {
    /// Counts what an operation asks for.
    pub(crate) fn read(&mut self, model: &Model<'_>, operation: &Operation) {
        let mut reader = Reader {
            model,
            operation,
            coverage: self,
        };
        for selection in &operation.selections {
            if let Selection::Field(field) = selection {
                reader.root(field);
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// An argument value in place of the variable that holds it.
    fn value(&self, value: &'a Arg) -> &'a Arg {
        let Arg::Variable(name) = value else {
            return value;
        };
        let variable = self.operation.variables.iter().find(|v| v.name == *name);
        let value = variable.and_then(|v| v.given.as_ref().or(v.default.as_ref()));
        value.unwrap_or(&Arg::Null)
    }

    fn keys(&self, value: &'a Arg) -> &'a [(String, Arg)] {
        match self.value(value) {
            Arg::Object(keys) => keys,
            _ => &[],
        }
    }

    fn items(&self, value: &'a Arg) -> &'a [Arg] {
        match self.value(value) {
            Arg::List(items) => items,
            single => std::slice::from_ref(single),
        }
    }

    fn root(&mut self, field: &'a Field) {
        let (ty, kind) = self.model.root(&field.name).expect("a root field");
        let group = match kind {
            RootKind::Objects => "a root field",
            RootKind::Count => "a count of a type",
            RootKind::Connection => "a connection",
            RootKind::Aggregate => "an aggregate",
        };
        self.arguments(group, field, Some(ty), FilterDepth::Root);
        match kind {
            RootKind::Connection => {
                for part in &field.selections {
                    self.selections(ty, part.children(), 1);
                }
            }
            RootKind::Aggregate => {}
            RootKind::Objects | RootKind::Count => self.selections(ty, &field.selections, 1),
        }
    }

    /// Counts the arguments of a field, and what is in those of objects of a type.
    fn arguments(&mut self, group: &str, field: &'a Field, ty: Option<Ty>, place: FilterDepth) {
        for (name, value) in &field.arguments {
            self.coverage
                .feature(format!("argument of {group}: {name}"));
            if matches!(value, Arg::Variable(_)) {
                self.coverage
                    .feature(format!("argument as variable: {name}"));
            }
            match (name.as_str(), ty) {
                ("lang", _) => self.lang(value),
                ("where", Some(ty)) => self.objects(ty, value, true, place),
                ("orderBy", Some(ty)) => self.order(ty, value, 0),
                _ => {}
            }
        }
    }

    fn lang(&mut self, value: &'a Arg) {
        let Arg::Text(spec) = self.value(value) else {
            return;
        };
        let head = ["ALL:", "ALL,"]
            .into_iter()
            .find(|head| spec.starts_with(head));
        let items = head.map_or(spec.as_str(), |head| &spec[head.len()..]);
        if let Some(head) = head {
            self.coverage.feature(format!("lang spec: {head}"));
        } else if items.contains(',') {
            self.coverage.feature("lang spec: preference");
        }
        for item in items.split(',') {
            let kind = match item {
                "ALL" | "ANY" | "NONE" | "BROWSER" => item,
                _ if item.starts_with('-') => "exclusion",
                _ if item.ends_with('~') => "dialects",
                _ => "tag",
            };
            self.coverage.feature(format!("lang spec: {kind}"));
        }
    }

    fn selections(&mut self, ty: Ty, selections: &'a [Selection], level: usize) {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    self.directives(&field.directives);
                    self.field(ty, field, level);
                }
                Selection::Inline {
                    on,
                    directives,
                    selections,
                } => {
                    self.directives(directives);
                    let narrow = on.as_deref().and_then(|name| self.model.type_named(name));
                    let kind = match narrow {
                        None => "without type",
                        Some(Ty::Any) => "on Object",
                        Some(Ty::Nameable) => "on Nameable",
                        Some(Ty::Interface(_)) => "on interface",
                        Some(Ty::Concrete(_)) => "on object",
                    };
                    self.coverage.feature(format!("fragment: inline {kind}"));
                    self.selections(narrow.unwrap_or(ty), selections, level);
                }
                Selection::Spread(name) => {
                    self.coverage.feature("fragment: named");
                    let fragments = &self.operation.fragments;
                    let fragment = fragments.iter().find(|f| f.name == *name);
                    let fragment = fragment.expect("a fragment that is defined");
                    let narrow = self.model.type_named(&fragment.on);
                    self.selections(narrow.unwrap_or(ty), &fragment.selections, level);
                }
            }
        }
    }

    fn directives(&mut self, directives: &[(&'static str, Arg)]) {
        for (name, _) in directives {
            self.coverage.feature(format!("directive: {name}"));
        }
    }

    fn field(&mut self, ty: Ty, field: &'a Field, level: usize) {
        match self.model.field(ty, &field.name) {
            Some(FieldMeaning::Name) => self.arguments("name", field, None, FilterDepth::Nested),
            Some(FieldMeaning::Type) => {
                self.arguments("type", field, None, FilterDepth::Nested);
                self.filter_of(field, |this, value| {
                    this.values(Operand::Type, value, true, FilterDepth::Nested);
                });
            }
            Some(FieldMeaning::Property(id)) => {
                let property = &self.model.schema[id];
                self.kinds("field of a property", property);
                self.property(property, field, level);
            }
            Some(FieldMeaning::Count(id)) => {
                let property = &self.model.schema[id];
                self.of_property("a count of a list", property, field);
            }
            Some(FieldMeaning::Id) | None => {}
        }
    }

    fn property(&mut self, property: &'a Property, field: &'a Field, level: usize) {
        let multiple = property.max.is_multiple();
        let group = match (property.range, multiple) {
            (Range::Object(_), true) => format!("a list of objects at level {level}"),
            (Range::Object(_), false) => "a single object".to_owned(),
            (Range::Literal(_), true) => "a list of literals".to_owned(),
            (Range::Literal(_), false) => "a single literal".to_owned(),
            (_, true) => "a list of scalars".to_owned(),
            (_, false) => "a single scalar".to_owned(),
        };
        self.of_property(&group, property, field);
        if let Range::Object(object) = property.range {
            let range = self.model.range(object);
            self.selections(range, &field.selections, level + 1);
        }
    }

    /// Counts the arguments of a field that shows values of a property.
    fn of_property(&mut self, group: &str, property: &'a Property, field: &'a Field) {
        match property.range {
            Range::Object(object) => {
                let range = self.model.range(object);
                self.arguments(group, field, Some(range), FilterDepth::Nested);
            }
            Range::Literal(_) => {
                self.arguments(group, field, None, FilterDepth::Nested);
                self.filter_of(field, |this, value| {
                    this.literals(value, true, FilterDepth::Nested)
                });
                for (name, value) in &field.arguments {
                    match name.as_str() {
                        "value" => {
                            self.values(Operand::LiteralText, value, false, FilterDepth::Nested);
                        }
                        "orderBy" => self.literal_order(value),
                        _ => {}
                    }
                }
            }
            Range::Scalar(_) | Range::Enum(_) => {
                self.arguments(group, field, None, FilterDepth::Nested);
                let operand = operand_of(property.range);
                self.filter_of(field, |this, value| {
                    this.values(operand, value, true, FilterDepth::Nested);
                });
            }
        }
    }

    fn filter_of(&mut self, field: &'a Field, read: impl Fn(&mut Self, &'a Arg)) {
        for (name, value) in &field.arguments {
            if name == "where" {
                read(self, value);
            }
        }
    }

    fn kinds(&mut self, group: &str, property: &Property) {
        let kinds = [
            ("inverse", matches!(property.path, Path::Inverse { .. })),
            ("symmetric", property.symmetric),
            ("typeCast", property.type_cast),
            ("rangeCheck", property.range_check),
        ];
        for (kind, _) in kinds.into_iter().filter(|(_, holds)| *holds) {
            self.coverage.feature(format!("{group}: {kind}"));
        }
    }

    fn objects(&mut self, ty: Ty, filter: &'a Arg, multiple: bool, place: FilterDepth) {
        let keys = self.keys(filter);
        if keys.is_empty() {
            self.coverage.cell("{}", Operand::Object, multiple, place);
        }
        for (key, value) in keys {
            let known = match key.as_str() {
                "AND" | "OR" => {
                    for item in self.items(value) {
                        self.objects(ty, item, multiple, place);
                    }
                    key
                }
                "NOT" | "ALL" | "ALL_EXISTS" => {
                    self.objects(ty, value, multiple, place);
                    key
                }
                "ID" => key,
                _ => match key.strip_prefix("_if") {
                    Some(narrow) => {
                        let narrow = self.model.type_named(narrow).expect("a type");
                        self.objects(narrow, value, multiple, place);
                        "_if"
                    }
                    None => self.object_key(ty, key, value, place),
                },
            };
            self.coverage.cell(known, Operand::Object, multiple, place);
        }
    }

    fn object_key(
        &mut self,
        ty: Ty,
        key: &'a str,
        value: &'a Arg,
        place: FilterDepth,
    ) -> &'static str {
        match self.model.field(ty, key).expect("a known key") {
            FieldMeaning::Id => {
                self.values(Operand::Id, value, false, place);
                "id"
            }
            FieldMeaning::Type => {
                self.values(Operand::Type, value, true, place);
                "type"
            }
            FieldMeaning::Name => {
                self.values(Operand::Name, value, false, place);
                "name"
            }
            FieldMeaning::Property(id) => {
                let property = &self.model.schema[id];
                self.kinds("condition on a property", property);
                let multiple = property.max.is_multiple();
                match property.range {
                    Range::Object(object) => {
                        let range = self.model.range(object);
                        if let Some(next) = place.next() {
                            self.objects(range, value, multiple, next);
                        }
                    }
                    Range::Literal(_) => self.literals(value, multiple, place),
                    range => self.values(operand_of(range), value, multiple, place),
                }
                "property"
            }
            FieldMeaning::Count(_) => panic!("counts are no keys of filters"),
        }
    }

    fn values(&mut self, operand: Operand, filter: &'a Arg, multiple: bool, place: FilterDepth) {
        let keys = self.keys(filter);
        if keys.is_empty() {
            self.coverage.cell("{}", operand, multiple, place);
        }
        for (key, value) in keys {
            self.coverage.cell(key, operand, multiple, place);
            match key.as_str() {
                "AND" | "OR" => {
                    for item in self.items(value) {
                        self.values(operand, item, multiple, place);
                    }
                }
                "ALL" | "ALL_EXISTS" => self.values(operand, value, multiple, place),
                _ => {}
            }
        }
    }

    fn literals(&mut self, filter: &'a Arg, multiple: bool, place: FilterDepth) {
        let keys = self.keys(filter);
        if keys.is_empty() {
            self.coverage.cell("{}", Operand::Literal, multiple, place);
        }
        for (key, value) in keys {
            self.coverage.cell(key, Operand::Literal, multiple, place);
            match key.as_str() {
                "AND" | "OR" => {
                    for item in self.items(value) {
                        self.literals(item, multiple, place);
                    }
                }
                "NOT" | "ALL" | "ALL_EXISTS" => self.literals(value, multiple, place),
                "value" => self.values(Operand::LiteralText, value, false, place),
                "type" => self.values(Operand::LiteralType, value, false, place),
                "lang" => self.lang(value),
                _ => {}
            }
        }
    }

    fn order(&mut self, ty: Ty, order: &'a Arg, links: usize) {
        for (key, value) in self.keys(order) {
            if key == "_typename" {
                self.order_key("_typename", value);
                continue;
            }
            match self.model.field(ty, key) {
                Some(FieldMeaning::Id) => self.order_key("id", value),
                Some(FieldMeaning::Name) => self.order_key("name", value),
                Some(FieldMeaning::Property(id)) => {
                    let property = &self.model.schema[id];
                    self.kinds("order by a property", property);
                    self.order_property(property, value, links);
                }
                _ => {}
            }
        }
    }

    fn order_property(&mut self, property: &Property, value: &'a Arg, links: usize) {
        match property.range {
            Range::Object(object) => {
                let name = ["through an object", "through two objects"];
                if let Some(name) = name.get(links) {
                    self.coverage.feature(format!("orderBy key: {name}"));
                }
                self.order(self.model.range(object), value, links + 1);
            }
            Range::Literal(LiteralRange::LangString) => {
                for (key, _) in self.keys(value) {
                    self.coverage
                        .feature(format!("orderBy key: langString {key}"));
                }
            }
            Range::Literal(_) => self.literal_order(value),
            Range::Scalar(_) => self.order_key("scalar", value),
            Range::Enum(_) => self.order_key("enum", value),
        }
    }

    fn literal_order(&mut self, value: &'a Arg) {
        for (key, _) in self.keys(value) {
            self.coverage.feature(format!("orderBy key: literal {key}"));
        }
    }

    fn order_key(&mut self, key: &str, direction: &'a Arg) {
        self.coverage.feature(format!("orderBy key: {key}"));
        if let Arg::Enum(direction) = self.value(direction) {
            self.coverage.feature(format!("orderBy key: {direction}"));
        }
    }
}

/// What conditions on the scalar values of a range compare.
fn operand_of(range: Range) -> Operand {
    match range {
        Range::Scalar(scalar) => Operand::Scalar(scalar),
        Range::Enum(_) => Operand::Enum,
        Range::Literal(_) => Operand::Literal,
        Range::Object(_) => Operand::Object,
    }
}
