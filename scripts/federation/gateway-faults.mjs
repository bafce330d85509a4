// What `@apollo/gateway` answers otherwise than the scenarios say, and what the servers of the scenarios do not have.

/** Scenarios that are left out. */
export const withoutData = [
  {
    reason: 'the servers know all entities; which ones a subgraph does not know is decided by the plans of the tests',
    applies: ({ options }) => (options.unknown ?? 0) > 0,
  },
]

/** Areas whose supergraph it refuses. */
export const refused = [
  { area: 'bank', message: 'context/v0.1', reason: 'it does not know @context' },
]

/** Scenarios that it answers otherwise, over its own supergraphs too. */
export const faults = [
  {
    reason: 'a mutation field is sent with the next one, before what is asked of its result has been fetched',
    scenarios: ['media/mutation-query-in-series'],
  },
  {
    reason: 'the name of a key or of a required field, which the client gives to another field, is sent in its place',
    scenarios: ['store/alias-of-requires-input', 'store/key-name-taken-by-another-field', 'travel/requires-with-key-alias'],
  },
  {
    reason: 'a required field with arguments is mixed up with the same field with others',
    scenarios: [
      'store/requires-and-client-asks-another', 'store/requires-other-arguments', 'store/requires-with-constant-argument',
    ],
  },
  {
    reason: 'a required field that the subgraph provides itself is never sent to it',
    scenarios: ['store/requires-of-an-object', 'store/requires-what-is-provided', 'travel/requires-provided-here'],
  },
  {
    reason: 'the name of a variable of the client is that of one of its own',
    scenarios: ['store/variable-named-representations'],
  },
  {
    reason: 'required objects of interfaces and unions are sent without their types',
    scenarios: ['works/requires-over-a-union', 'works/requires-over-a-union-in-a-list', 'works/requires-over-an-interface'],
  },
]
