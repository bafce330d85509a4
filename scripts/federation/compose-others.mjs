// What two other composers make of sets of subgraphs, in the words in which ours answers.
import { composeServices } from '@apollo/composition'
import { Supergraph } from '@apollo/federation-internals'
import { composeServices as composeWithGuild } from '@theguild/federation-composition'
import { GraphQLError, lexicographicSortSchema, parse, printSchema } from 'graphql'

/** What composers say of what they did not expect. */
const FAULT = /is not a function|Cannot read properties|Unexpected element|Assertion|this is either a bug|Cannot add non-object type/

/** The outcome of `@apollo/composition`. */
export function apollo(subgraphs) {
  return outcome(() => {
    const { errors, hints, supergraphSdl } = composeServices(services(subgraphs))
    return { errors, supergraphSdl, hints: hints?.map(hint => hint.definition.code) }
  })
}

/** The outcome of `@theguild/federation-composition`, which has no hints. */
export function guild(subgraphs) {
  return outcome(() => composeWithGuild(services(subgraphs)))
}

/** The outcome of our composer, from a line of the example `compose_sets`. */
export function ours(line) {
  return outcome(() => ({
    errors: line.errors?.map(([code, message]) => ({ message, extensions: { code } })),
    supergraphSdl: line.supergraph,
    hints: line.hints,
  }))
}

function services(subgraphs) {
  return subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) }))
}

function outcome(compose) {
  let result
  try {
    result = compose()
  } catch (error) {
    // A schema that does not even parse, or that the composer stumbles over.
    result = { errors: [error], isFault: !(error instanceof GraphQLError) }
  }
  if (result.errors?.length > 0) {
    const errors = result.errors.map(error => ({ code: error.extensions?.code ?? 'INVALID_GRAPHQL', message: error.message }))
    // Some faults of theirs are reported as if they were errors of the schema.
    const isFault = result.isFault || errors.some(error => FAULT.test(error.message))
    return { codes: unique(errors.map(error => error.code)), errors, isFault }
  }
  const { supergraphSdl, hints } = result
  return { codes: [], errors: [], supergraphSdl, hints: hints && unique(hints), ...api(supergraphSdl) }
}

/** The schema for clients, sorted, with descriptions, defaults and deprecations. */
function api(supergraphSdl) {
  try {
    const supergraph = Supergraph.build(supergraphSdl, { supportedFeatures: null })
    return { api: printSchema(lexicographicSortSchema(supergraph.apiSchema().toGraphQLJSSchema())) }
  } catch (error) {
    return { unreadable: error.message }
  }
}

function unique(list) {
  return [...new Set(list)].sort()
}
