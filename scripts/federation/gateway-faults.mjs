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

/** Scenarios that it answers otherwise, over any supergraph. */
export const faults = []
