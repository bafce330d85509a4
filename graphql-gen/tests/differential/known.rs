//! Differences that are known: they are generated and reported only where `DIFFERENTIAL_KNOWN` is
//! set, so that they do not hide others. Each entry goes away with its cause.

/// A known difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Literals of a list that differ only in a part that is not selected are taken for equal.
    LiteralsThatLookAlike,
    /// A field is warned of once per concrete type when the types have different fields.
    WarningPerType,
    /// An order goes through objects that the field does not show: not of the checked range, or of
    /// no known type.
    OrderThroughObjectsNotShown,
    /// An order by `_typename` along a path asks for stored types where the field takes its range.
    TypeNameOfConcreteRange,
    /// The smallest part of any literal under a single-valued field decides an order, not that of
    /// the literal that the field shows, whatever the languages asked for.
    OrderOfLiteralNotShown,
    /// An order takes no notice of the languages that the request accepts.
    OrderByAcceptedLanguages,
    /// A blank node under a scalar counts as a value in `{}`, yet no field shows it.
    BlankNodesAsValues,
    /// `ALL` on objects is false where a blank node or a literal stands among them.
    AllOverWhatIsNoObject,
    /// A literal among objects is null in the whole list and left out of its pages.
    PagesWithWhatIsNoObject,
    /// A list of objects of no known type is `[]` where the schema asks for null.
    NullForUnknownTypes,
    /// Of moments with and without a zone at one place of the time line any is chosen.
    ChoiceAmongEqualMoments,
    /// `ALL:de,en` on a single-valued field gives the smallest text, not one of the first language.
    ListedLanguagesOfOneValue,
    /// `LT`, `LTE`, `GT` and `GTE` on `boolean` find nothing.
    OrderOfBooleans,
    /// What does not fit its range is null, yet sorts by what it is stored as.
    OrderOfIllTyped,
}

/// Tells whether the difference is looked for.
pub(crate) fn is_wanted(_known: Known) -> bool {
    true
}
