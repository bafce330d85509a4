//! Changes of objects.

use soml_core::schema::{Object, ObjectKind};

use super::causes::{Causes, Draft, Key, Spans};
use super::change::Consequence;
use super::code::ChangeCode as Code;
use super::detail::{Difference, ids, list, quoted, search};
use super::settings::{self, Namespaces};
use super::side::{Side, Sides};

/// Adds the changes of all objects.
pub(super) fn add<'a>(sides: &Sides<'a>, namespaces: &Namespaces<'a>, causes: &mut Causes<'a>) {
    for (side, other, code, tail) in [
        (&sides.old, &sides.new, Code::ObjectRemoved, " was removed"),
        (&sides.new, &sides.old, Code::ObjectAdded, " was added"),
    ] {
        for object in &side.soml.objects {
            let name = object.name.graphql.as_str();
            if other.object(name).is_none() {
                causes.add(
                    Key::new(code, name),
                    draft(sides, code, "", name, tail.to_owned()),
                );
            }
        }
    }
    for name in sides.common_objects() {
        let compared = Compared {
            sides,
            namespaces,
            name,
        };
        if let Some((old, new)) = sides.object(name) {
            compared.add(old, new, causes);
        }
    }
}

fn draft(sides: &Sides<'_>, code: Code, what: &str, name: &str, tail: String) -> Draft {
    Draft {
        code,
        coordinate: name.to_owned(),
        head: format!("{what}object `{name}`"),
        tail,
        spans: Spans {
            old: sides.old.object(name).map(|o| o.span),
            new: sides.new.object(name).map(|o| o.span),
        },
    }
}

/// An object that both schemas have.
struct Compared<'s, 'a> {
    sides: &'s Sides<'a>,
    namespaces: &'s Namespaces<'a>,
    name: &'a str,
}

impl<'a> Compared<'_, 'a> {
    fn add(&self, old: &'a Object, new: &'a Object, causes: &mut Causes<'a>) {
        let kind = |o: &Object| match o.kind {
            ObjectKind::Concrete => "concrete".to_owned(),
            ObjectKind::Abstract => "abstract".to_owned(),
        };
        let parent = |side: &Side<'_>| quoted(side.parent(self.name));
        let own = [
            Difference::new(Code::ObjectKindChanged, "", kind(old), kind(new)),
            Difference::new(
                Code::ObjectSuperclassChanged,
                "the superclass of ",
                parent(&self.sides.old),
                parent(&self.sides.new),
            ),
            Difference::new(
                Code::ObjectExtendChanged,
                "`extend` of ",
                quoted(Some(old.extend)),
                quoted(Some(new.extend)),
            ),
            self.class(old, new, causes),
        ];
        for difference in own.into_iter().flatten() {
            self.report(&difference, causes);
        }
        self.name_field(causes);
        for difference in inheritable(old, new).into_iter().flatten() {
            self.inherited_or_own(&difference, causes);
        }
        let texts = |o: &'a Object| [&o.label, &o.descr, &o.name_label, &o.name_descr];
        if texts(old) != texts(new) {
            let code = Code::ObjectDescriptionChanged;
            let tail = " has a different description".to_owned();
            causes.add(self.key(code), draft(self.sides, code, "", self.name, tail));
        }
    }

    fn key(&self, code: Code) -> Key<'a> {
        Key::new(code, self.name)
    }

    fn report(&self, difference: &Difference, causes: &mut Causes<'a>) {
        let code = difference.code;
        let draft = draft(
            self.sides,
            code,
            difference.what,
            self.name,
            difference.tail(),
        );
        causes.add(self.key(code), draft);
    }

    /// Compares the classes of instances; a change that a prefix explains goes under the prefix.
    fn class(
        &self,
        old: &'a Object,
        new: &'a Object,
        causes: &mut Causes<'a>,
    ) -> Option<Difference> {
        // Becoming abstract or concrete gives or takes the default class.
        if old.kind != new.kind && (old.types.is_empty() || new.types.is_empty()) {
            return None;
        }
        let code = Code::ObjectClassChanged;
        let sorted = |o: &'a Object| {
            let mut types: Vec<_> = o.types.iter().map(String::as_str).collect();
            types.sort_unstable();
            types
        };
        let (was, is) = (sorted(old), sorted(new));
        let difference = Difference::new(code, "the class of ", list(&was), list(&is))?;
        let types = |o: &'a Object| o.types.iter().map(String::as_str);
        let explained = self.namespaces.attach(causes, types(old), types(new), || {
            self.consequence(&difference)
        });
        (!explained).then_some(difference)
    }

    fn consequence(&self, difference: &Difference) -> Consequence {
        let Difference { code, what, .. } = difference;
        let message = format!("{what}object `{}`{}", self.name, difference.tail());
        Consequence::new(*code, self.name.to_owned(), message)
    }

    /// Compares what the field `name` reads.
    fn name_field(&self, causes: &mut Causes<'a>) {
        let property = |side: &Side<'a>, object: &str| {
            let object = side.object(object)?;
            object
                .name_property
                .map(|id| side.soml[id].name.graphql.as_str())
        };
        let both = |object: &str| {
            (
                property(&self.sides.old, object),
                property(&self.sides.new, object),
            )
        };
        let (old, new) = both(self.name);
        let code = match (old, new) {
            (None, Some(_)) => Code::ObjectNameAdded,
            (Some(_), None) => Code::ObjectNameRemoved,
            _ => Code::ObjectNameChanged,
        };
        let Some(difference) = Difference::new(code, "the name of ", quoted(old), quoted(new))
        else {
            return;
        };
        if let Some(parent) = self.sides.common_parent(self.name)
            && both(parent) == (old, new)
        {
            return causes.join(self.key(code), Key::new(code, parent));
        }
        let superclass = self.key(Code::ObjectSuperclassChanged);
        let inherited = |side: &Side<'a>, value| {
            side.parent(self.name)
                .is_some_and(|parent| property(side, parent) == value)
        };
        let by_superclass = causes.has(superclass)
            && (old.is_none() || inherited(&self.sides.old, old))
            && (new.is_none() || inherited(&self.sides.new, new));
        if by_superclass {
            causes.join(self.key(code), superclass);
            causes.attach(superclass, self.consequence(&difference));
        } else {
            self.report(&difference, causes);
        }
    }

    /// Reports a change, or puts it under the same change of the superclass or of the settings.
    fn inherited_or_own(&self, difference: &Difference, causes: &mut Causes<'a>) {
        let code = difference.code;
        let mut above = Vec::new();
        if let Some(parent) = self.sides.common_parent(self.name)
            && causes.tail(Key::new(code, parent)) == Some(&difference.tail())
        {
            above.push(Key::new(code, parent));
        }
        if code == Code::ObjectSearchChanged {
            above.push(Key::new(Code::SettingChanged, settings::SEARCH));
        }
        for cause in above {
            if causes.attach(cause, self.consequence(difference)) {
                causes.join(self.key(code), cause);
                return;
            }
        }
        self.report(difference, causes);
    }
}

/// Compares what subclasses inherit and no client sees.
fn inheritable(old: &Object, new: &Object) -> [Option<Difference>; 4] {
    [
        Difference::new(
            Code::ObjectTypePropertyChanged,
            "the type property of ",
            quoted(Some(&old.type_prop)),
            quoted(Some(&new.type_prop)),
        ),
        Difference::new(
            Code::ObjectIdChanged,
            "the constraint on the IRIs of ",
            ids(old),
            ids(new),
        ),
        Difference::new(
            Code::ObjectServiceChanged,
            "the SPARQL service of ",
            quoted(old.sparql_federated_service.as_ref()),
            quoted(new.sparql_federated_service.as_ref()),
        ),
        Difference::new(
            Code::ObjectSearchChanged,
            "the search settings of ",
            search(old.search.as_ref()),
            search(new.search.as_ref()),
        ),
    ]
}
