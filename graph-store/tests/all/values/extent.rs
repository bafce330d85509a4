//! Which values the stores hold and compare by the rules. What a server lacks is in `docs/stores.md`, under
//! "Differences between stores".

/// A family of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Stores in the process, which compare all values.
    Embedded,
    /// Endpoints of Oxigraph.
    Oxigraph,
    /// RDF4J Servers.
    Rdf4j,
    /// Fuseki servers.
    Fuseki,
}

impl Extent {
    /// Returns whether numbers of any length are compared, and floating-point numbers with others, exactly.
    pub(super) fn is_exact(self) -> bool {
        self == Extent::Embedded
    }

    /// Returns whether white space around a value is no part of it.
    pub(super) fn collapses_space(self) -> bool {
        self == Extent::Embedded
    }

    /// Returns whether literals are held that no syntax can write.
    pub(super) fn holds_any_literal(self) -> bool {
        self == Extent::Embedded
    }

    /// Returns whether strings are ordered by code point instead of by UTF-16 code unit.
    pub(super) fn orders_by_code_point(self) -> bool {
        matches!(self, Extent::Embedded | Extent::Oxigraph)
    }

    /// Returns whether the year 0 and `+INF` are known, which came with XML Schema 1.1.
    pub(super) fn knows_schema_1_1(self) -> bool {
        self != Extent::Rdf4j
    }

    /// Returns whether seconds have more than nine decimal places.
    pub(super) fn knows_picoseconds(self) -> bool {
        self != Extent::Fuseki
    }

    /// Returns whether integers beyond the range of their datatype are numbers.
    pub(super) fn ignores_ranges(self) -> bool {
        self != Extent::Fuseki
    }
}
