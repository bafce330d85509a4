//! Properties of a program, and the other names that it knows.

use std::fmt;

use crate::setting::Setting;

/// Sets a value; the error says what would be accepted.
type Set<S> = Box<dyn Fn(&mut S, &str) -> Result<(), &'static str> + Send + Sync>;

/// Returns a value as it would be configured.
type Get<S> = Box<dyn Fn(&S) -> String + Send + Sync>;

/// A property, which is one value of the settings.
pub struct Property<S> {
    /// Name, as documented.
    pub key: &'static str,
    /// What the documentation calls its type.
    pub kind: &'static str,
    /// What it does, for the documentation.
    pub doc: &'static str,
    /// The value must not be shown; `<KEY>_FILE` in the environment names a file that holds it.
    pub secret: bool,
    set: Set<S>,
    get: Get<S>,
}

impl<S> Property<S> {
    /// Describes a property that is a field of the settings.
    ///
    /// `L` says whose way to write values it is ([`Setting`]).
    pub fn of_field<L, T: Setting<L> + 'static>(
        key: &'static str,
        doc: &'static str,
        field: fn(&S) -> &T,
        field_mut: fn(&mut S) -> &mut T,
    ) -> Self
    where
        S: 'static,
    {
        let set = move |settings: &mut S, text: &str| {
            *field_mut(settings) = T::parse(text)?;
            Ok(())
        };
        Property::new(key, T::TYPE, doc, set, move |settings| {
            field(settings).show()
        })
    }

    /// Describes a property that is read and written by functions.
    pub fn new(
        key: &'static str,
        kind: &'static str,
        doc: &'static str,
        set: impl Fn(&mut S, &str) -> Result<(), &'static str> + Send + Sync + 'static,
        get: impl Fn(&S) -> String + Send + Sync + 'static,
    ) -> Self {
        Property {
            key,
            kind,
            doc,
            secret: false,
            set: Box::new(set),
            get: Box::new(get),
        }
    }

    /// Returns whether the value must not be shown.
    #[must_use]
    pub fn with_secret(mut self, secret: bool) -> Self {
        self.secret = secret;
        self
    }

    /// Returns the value as it would be configured.
    pub fn get(&self, settings: &S) -> String {
        (self.get)(settings)
    }

    /// Returns the value, masked when it is secret.
    pub fn shown(&self, settings: &S) -> String {
        if self.secret {
            "***".to_owned()
        } else {
            self.get(settings)
        }
    }

    /// Returns a value as it may be shown.
    pub(crate) fn shown_if_not_secret<'v>(&self, value: &'v str) -> &'v str {
        if self.secret { "***" } else { value }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// What was expected.
    pub fn set(&self, settings: &mut S, text: &str) -> Result<(), &'static str> {
        (self.set)(settings, text)
    }
}

impl<S> fmt::Debug for Property<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Properties that each of many things has, which are numbered: `graphql.service.0.name`.
pub struct Numbered<S: 'static> {
    /// The part before the number, with a dot at the end.
    pub family: &'static str,
    /// The properties of each.
    pub parts: &'static [Part<S>],
}

/// A property that each of many things has.
pub struct Part<S> {
    /// The part after the number; empty, or with a leading dot.
    pub end: &'static str,
    /// Another such end, which is not documented.
    pub other_end: Option<&'static str>,
    /// What the documentation calls the type.
    pub kind: &'static str,
    /// What it does, for the documentation.
    pub doc: &'static str,
    /// Sets the value of the thing of a number; the error says what was expected.
    pub set: fn(&mut S, u32, &str) -> Result<(), &'static str>,
}

/// Another name of a property.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The property that it sets.
    pub key: &'static str,
    /// Counts only where no source sets the property by its own name.
    pub falls_back: bool,
    /// Returns the value as the property itself takes it; the error completes "expected …".
    pub convert: fn(&str) -> Result<String, &'static str>,
    /// What differs from the property, for the documentation.
    pub note: &'static str,
}

/// Properties whose names end in the name of something that the program does not choose: `logging.level.com.example`.
pub struct Named<S> {
    /// The part before the name, with a dot at the end.
    pub family: &'static str,
    /// What the documentation calls the type.
    pub kind: &'static str,
    /// What they do, for the documentation.
    pub doc: &'static str,
    /// Sets the value of a name; returns a warning where nothing has it. The error says what was expected.
    pub set: fn(&mut S, &str, &str) -> Result<Option<String>, &'static str>,
}

/// What the values of a property are, where they are checked and nothing is made of them.
#[derive(Clone, Copy, Debug)]
pub struct ValueKind {
    /// What the documentation calls the type.
    pub name: &'static str,
    check: fn(&str) -> Result<(), &'static str>,
}

impl ValueKind {
    /// Any text.
    pub const ANY: ValueKind = ValueKind::new("any", |_| Ok(()));

    /// Describes values that `check` accepts; its error completes "expected …".
    #[must_use]
    pub const fn new(name: &'static str, check: fn(&str) -> Result<(), &'static str>) -> Self {
        ValueKind { name, check }
    }

    /// Describes the values of a type that a property can have.
    #[must_use]
    pub const fn of<L, T: Setting<L>>() -> Self {
        ValueKind::new(T::TYPE, |text| T::parse(text).map(drop))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What was expected.
    pub fn check(&self, text: &str) -> Result<(), &'static str> {
        (self.check)(text)
    }
}

/// A property that is known and has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Planned<S: 'static> {
    /// The name; names below it too where it ends in `.*`.
    pub name: &'static str,
    /// What its values are. They are checked although they have no effect.
    pub kind: ValueKind,
    /// The value must not be shown; `<KEY>_FILE` in the environment names a file that holds it.
    pub secret: bool,
    /// What a value asks for.
    pub asks: Asks<S>,
    /// Returns whether the program does what a value says anyway, so that no one needs a warning.
    pub is_done_anyway: fn(&S, &str) -> bool,
    /// Why it has no effect, for the documentation.
    pub doc: &'static str,
}

/// What a value of a property without effect asks for.
#[derive(Debug)]
pub enum Asks<S> {
    /// Something that can be left undone with a warning.
    Service,
    /// Protection, which must never be missing unnoticed: unless the value says no, or the rest of the settings says so for
    /// all of it.
    Protection {
        /// Whether nothing of this kind is requested, whatever the value is.
        is_disabled: fn(&S) -> bool,
    },
}

impl<S> Clone for Asks<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Asks<S> {}

impl<S> Planned<S> {
    /// Describes a property that can be left without effect with a warning.
    #[must_use]
    pub const fn new(name: &'static str, kind: ValueKind, doc: &'static str) -> Self {
        Planned {
            name,
            kind,
            secret: false,
            asks: Asks::Service,
            is_done_anyway: |_, _| false,
            doc,
        }
    }

    /// Sets what values ask for.
    #[must_use]
    pub const fn asking(mut self, asks: Asks<S>) -> Self {
        self.asks = asks;
        self
    }

    /// Sets which values ask for what the program does anyway.
    #[must_use]
    pub const fn done_anyway(mut self, is_done_anyway: fn(&S, &str) -> bool) -> Self {
        self.is_done_anyway = is_done_anyway;
        self
    }

    /// Marks the value as secret: it must not be shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Returns whether names below it are meant too.
    #[must_use]
    pub fn is_family(&self) -> bool {
        self.name.ends_with('*')
    }
}

/// Returns whether a value says no.
pub(crate) fn is_off(value: &str) -> bool {
    let off = ["", "false", "no", "off", "0", "none", "null"];
    off.iter()
        .any(|word| word.eq_ignore_ascii_case(value.trim()))
}
