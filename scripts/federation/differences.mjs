// Where our composer may differ from `@apollo/composition`, and why.
//
// Each difference has an example, which is composed each time: one that differs no more is reported. `applies` gets the
// outcomes of a set; it should match no more than what the reason speaks of. Where the two other composers agree with each
// other, a difference is only allowed with a word on that in `againstBoth`.

const is = (outcome, ...codes) => outcome.codes.join() === [...codes].sort().join()
const has = (outcome, code) => outcome.codes.includes(code)
const said = (outcome, code, pattern) => outcome.errors.every(error => error.code !== code || pattern.test(error.message))
const anySdl = (set, pattern) => set.subgraphs.some(({ sdl }) => pattern.test(sdl))
/** Whether two outcomes have the same codes beside some. */
const areOthers = (one, other, ...codes) => {
  const [left, right] = [one, other].map(outcome => outcome.codes.filter(code => !codes.includes(code)).join())
  return left === right
}
/** Whether two outcomes have the same hints beside some. */
const areOtherHints = (one, other, ...codes) => {
  const [left, right] = [one, other].map(({ hints = [] }) => hints.filter(code => !codes.includes(code)).join())
  return !refuses(one) && !refuses(other) && one.api === other.api && left === right
}
const refuses = outcome => outcome.codes.length > 0

export const differences = [
  {
    name: 'schemas that another composer stumbles over',
    reason: 'It ends with an internal fault (a TypeError, an "Invalid URL", an assertion) where we report what is wrong, or find nothing wrong.',
    againstBoth: 'Both share the code that fails, or are given documents that do not parse.',
    applies: ({ apollo }) => apollo.isFault && is(apollo, 'INVALID_GRAPHQL'),
    example: `## a 2.0
type Query { a: T }
type T @key(fields: "id") { id: ID b: Int }
## b
type T @key(fields: "id") { id: ID b: Int @external c: Int @requires(fields: "b { x }") }`,
  },
  {
    name: 'a subgraph that cannot be parsed beside other errors',
    reason: 'The other composers take documents, so their callers stop at the first one that cannot be parsed.',
    againstBoth: 'It is so for both.',
    applies: ({ apollo, ours }) =>
      is(apollo, 'INVALID_GRAPHQL') && /^Syntax Error/.test(apollo.errors[0].message) && has(ours, 'INVALID_GRAPHQL'),
    example: `## a 2.0
type Query { a: T }
type T @key(fields: "none") { id: ID }
## b
type T {`,
  },
  {
    name: 'an unknown version of link',
    reason: 'It says that link is linked twice, since it has linked its own version before; we name the version.',
    applies: ({ apollo, ours }) => is(ours, 'UNKNOWN_LINK_VERSION') && is(apollo, 'INVALID_LINK_DIRECTIVE_USAGE'),
    example: `## a
extend schema @link(url: "https://specs.apollo.dev/link/v1.9") @link(url: "https://specs.apollo.dev/federation/v2.3")
type Query { a: ID }`,
  },
  {
    name: 'an unknown version of federation beside invalid GraphQL',
    reason: 'Which names there are depends on the version, so we read no further; it checks names first.',
    applies: ({ apollo, ours }) =>
      has(ours, 'UNKNOWN_FEDERATION_LINK_VERSION') && has(apollo, 'INVALID_GRAPHQL')
      && areOthers(apollo, ours, 'INVALID_GRAPHQL', 'UNKNOWN_FEDERATION_LINK_VERSION'),
    example: `## a
extend schema @link(url: "https://specs.apollo.dev/federation/v2.99", import: ["@key"])
type Query { a: Unknown }`,
  },
  {
    name: 'connectors',
    reason: 'They are refused by name: their directives mean requests that no subgraph answers.',
    applies: ({ subgraphs, apollo, ours }) =>
      is(ours, 'UNSUPPORTED_FEATURE') && !refuses(apollo) && anySdl({ subgraphs }, /specs\.apollo\.dev\/connect\//),
    example: `## a
extend schema @link(url: "https://specs.apollo.dev/federation/v2.10") @link(url: "https://specs.apollo.dev/connect/v0.1", import: ["@source"]) @source(name: "x", http: { baseURL: "http://x" })
type Query { a: ID }`,
  },
  {
    name: '@oneOf that a subgraph does not define',
    reason: 'It is part of GraphQL, and libraries print it without a definition; it does not know it.',
    applies: ({ subgraphs, apollo, ours }) =>
      !refuses(ours) && is(apollo, 'INVALID_GRAPHQL') && said(apollo, 'INVALID_GRAPHQL', /"@oneOf"/)
      && anySdl({ subgraphs }, /@oneOf/),
    example: `## a 2.9
type Query { a(of: One): ID }
input One @oneOf { a: Int b: Int }`,
  },
  {
    name: 'implementations of an interface whose key is invalid somewhere',
    reason: 'It compares no more keys of an interface once the key of one implementation is invalid; we compare the others.',
    applies: ({ apollo, ours }) =>
      has(apollo, 'KEY_INVALID_FIELDS')
      && ours.codes.filter(code => code !== 'INTERFACE_KEY_NOT_ON_IMPLEMENTATION').join() === apollo.codes.join(),
    example: `## a 2.9
type Query { a: T }
interface I @key(fields: "id") { id: ID }
type T implements I @key(fields: "none") { id: ID }`,
  },
  {
    name: '@provides on a leaf beside other errors',
    reason: 'It checks nothing more of a subgraph once a @provides is on a leaf.',
    againstBoth: 'It is so for some errors with both.',
    applies: ({ apollo, ours }) =>
      has(apollo, 'PROVIDES_ON_NON_OBJECT_FIELD') && apollo.codes.every(code => has(ours, code)),
    example: `## a 2.9
type Query { a: T }
type T @key(fields: "id") { id: ID @requires(fields: "id") b: Int @provides(fields: "c") }`,
  },
  {
    name: '@provides on an external leaf',
    reason: 'That the field is external, and that it has nothing to provide, are both true; each of the others says one, and checks no more.',
    againstBoth: 'They do not agree with each other.',
    applies: ({ apollo, ours }) =>
      has(apollo, 'EXTERNAL_COLLISION_WITH_ANOTHER_DIRECTIVE') && has(ours, 'PROVIDES_ON_NON_OBJECT_FIELD')
      && apollo.codes.every(code => has(ours, code)),
    example: `## a 2.9
type Query { a: T }
type T @key(fields: "id") { id: ID b: Int @external @provides(fields: "c") }`,
  },
  {
    name: 'fields of types whose kinds differ',
    reason: 'What is said of fields beside TYPE_KIND_MISMATCH depends on the kind that one takes the type to be of.',
    applies: ({ apollo, ours }) => has(apollo, 'TYPE_KIND_MISMATCH') && has(ours, 'TYPE_KIND_MISMATCH'),
    example: `## a 2.9
type Query { a: T }
type T @key(fields: "id") { id: ID b: Int }
## b 2.9
type T @key(fields: "id") @interfaceObject { id: ID b: Int }
type I @key(fields: "id") { id: ID }`,
  },
  {
    name: '@requires of a field that moves under a label',
    reason: 'Whether the label is active or not, one subgraph resolves the field, and every query can be planned.',
    againstBoth: 'Both look for what is required without regard to labels, which refuses migrations that work.',
    applies: ({ subgraphs, apollo, ours }) =>
      !refuses(ours) && is(apollo, 'SATISFIABILITY_ERROR') && anySdl({ subgraphs }, /@\w*override\(from: "\w+", label:/)
      && said(apollo, 'SATISFIABILITY_ERROR', /cannot satisfy @require conditions/),
    example: `## a 2.7
type Query { a: T }
type T @key(fields: "id") { id: ID b: Int @external c: Int @requires(fields: "b") }
## b 2.7
type T @key(fields: "id") { id: ID b: Int }
## c 2.7
type T @key(fields: "id") { id: ID b: Int @override(from: "b", label: "x") }`,
  },
  {
    name: '@requires of a field that is had before its subgraph is entered',
    reason: 'The field comes with the object, so that the request which needs it can be made, and every query be planned.',
    againstBoth: 'Both look for a way from the subgraph that requires the field, where none is needed.',
    applies: ({ subgraphs, apollo, ours }) =>
      !refuses(ours) && is(apollo, 'SATISFIABILITY_ERROR') && anySdl({ subgraphs }, /resolvable: false/)
      && said(apollo, 'SATISFIABILITY_ERROR', /cannot satisfy @require conditions/),
    example: `## a 2.9
type Query { a: T }
type T @key(fields: "id", resolvable: false) { id: ID b: Int }
## b 2.9
type T @key(fields: "id") { id: ID b: Int @external c: Int @requires(fields: "b") }`,
  },
  {
    name: '@requires where the subgraph has no resolvable key',
    reason: 'The field could only be asked for as that of an entity, and the subgraph says that it resolves none.',
    againstBoth: 'What they accept leads to requests that such a subgraph answers with an error or null.',
    applies: ({ subgraphs, apollo, ours }) =>
      !refuses(apollo) && is(ours, 'SATISFIABILITY_ERROR') && anySdl({ subgraphs }, /resolvable: false[^}]*@\w*requires/)
      && said(ours, 'SATISFIABILITY_ERROR', /has no resolvable key there/),
    example: `## a 2.5
type Query { a: T }
type T @key(fields: "id", resolvable: false) { id: ID b: Int @external c: Int @requires(fields: "b") }
## b 2.5
type T @key(fields: "id") { id: ID b: Int }`,
  },
  {
    name: 'a key on a definition without fields whose fields an extension has',
    reason: 'Subgraph libraries print an extended type so, which resolves the entity by that key; it takes the key to be of fields that are external.',
    againstBoth: 'Both refuse services that answer every query; the published schemas of such libraries have to compose.',
    applies: ({ subgraphs, apollo, ours }) =>
      !refuses(ours) && is(apollo, 'SATISFIABILITY_ERROR')
      && anySdl({ subgraphs }, /\btype (\w+) @key\(fields: "\w+"\)\s+(?:[^{]*\s)?extend type \1 \{[^}]*@external/),
    example: `## a
type Query { me: User }
type User @key(fields: "id") { id: ID! name: String }
## b
type Query { user: User }
type User @key(fields: "id")
extend type User { id: ID! @external posts: Int }`,
  },
  {
    name: 'a key that selects an unknown field of an interface',
    reason: 'That keys do not select of interfaces, and that the field is unknown, are both true.',
    againstBoth: 'It is so for both.',
    applies: ({ apollo, ours }) =>
      has(apollo, 'KEY_FIELDS_SELECT_INVALID_TYPE') && has(ours, 'KEY_INVALID_FIELDS')
      && areOthers(apollo, ours, 'KEY_FIELDS_SELECT_INVALID_TYPE', 'KEY_INVALID_FIELDS'),
    example: `## a 2.9
type Query { a: T }
interface I { id: ID }
type T implements I @key(fields: "of { none }") { id: ID of: I }`,
  },
  {
    name: 'what else is wrong beside an interface key whose fields are unknown',
    reason: 'It stops at the key; the version of federation and unused external fields are wrong all the same.',
    againstBoth: 'The other composer stops at the version.',
    applies: ({ apollo, ours, subgraphs }) =>
      is(apollo, 'KEY_INVALID_FIELDS') && has(ours, 'KEY_INVALID_FIELDS') && anySdl({ subgraphs }, /interface \w+[^{]* @key/)
      && areOthers(apollo, ours, 'KEY_UNSUPPORTED_ON_INTERFACE', 'EXTERNAL_UNUSED'),
    example: `## a 2.0
type Query { i: I }
interface I @key(fields: "sku") { id: ID }
type T implements I @key(fields: "id") { id: ID }`,
  },
  {
    name: 'object types that only some subgraphs return where a field is shared',
    reason: 'Each of them must be answerable here. It lets each type be avoided by asking another subgraph, and one query may have types that would have to be avoided in different ones.',
    againstBoth: 'It is so for both.',
    applies: ({ apollo, ours }) =>
      is(ours, 'SATISFIABILITY_ERROR') && !refuses(apollo) && apollo.hints.includes('INCONSISTENT_RUNTIME_TYPES_FOR_SHAREABLE_RETURN'),
    example: `## a 2.9
type Query { v: [V] }
type V @key(fields: "id") { id: ID n: [N] @shareable }
union N = V | P
type P @shareable { x: Int }
## b 2.9
type V @key(fields: "id") { id: ID n: [N] @shareable }
union N = V
type P @shareable { x: Int y: Int }
type Query { p: P }`,
  },
  {
    name: 'hints about executable directives that are left out',
    reason: 'A directive that one subgraph lacks, and that has no location in common in the others, is left out for both reasons.',
    againstBoth: 'The other composer has no hints.',
    applies: ({ apollo, ours }) =>
      areOtherHints(apollo, ours, 'NO_EXECUTABLE_DIRECTIVE_INTERSECTION', 'INCONSISTENT_EXECUTABLE_DIRECTIVE_PRESENCE'),
    example: `## a 2.9
directive @run on FIELD
type Query { a: ID }
## b 2.9
directive @run on QUERY
type Query { b: ID }
## c 2.9
type Query { c: ID }`,
  },
]
