// Subgraphs of the scenarios, written with `@apollo/subgraph` and served over HTTP.
import { createServer } from 'node:http'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { graphql, isAbstractType, isObjectType, parse, valueFromASTUntyped } from 'graphql'
import { argument, argumentText, directives, fieldSet } from './world.mjs'

/** Builds the schema of a subgraph over the data of a world, which is the context of each request. */
export function subgraphSchema(sdl) {
  const document = parse(sdl)
  const types = typesOf(document)
  const resolvers = {}
  for (const [name, { keys }] of types) {
    if (keys.length > 0) resolvers[name] = { __resolveReference: (given, { world }) => entity(world, name, keys, given) }
  }
  const schema = buildSubgraphSchema([{ typeDefs: document, resolvers }])
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = value => value.type ?? value.__typename
    if (!isObjectType(type) || type.name.startsWith('_')) continue
    for (const field of Object.values(type.getFields())) {
      if (field.name.startsWith('_')) continue
      const requires = types.get(type.name)?.requires.get(field.name)
      field.resolve = (source, coerced, { world, variables }, info) => {
        const args = argumentText(world.coerces ? coerced : asGiven(field, info, variables))
        return resolve(world, type.name, field.name, { source, args, requires })
      }
    }
  }
  return schema
}

/** The arguments of a field as they are written or sent, which is what the values of the scenarios depend on, with
 * defaults. */
function asGiven(field, { fieldNodes: [node], variableValues }, variables) {
  const given = {}
  for (const { name, astNode } of field.args) {
    const written = node.arguments.find(it => it.name.value === name)?.value
    const value = written && valueFromASTUntyped(written, { ...variableValues, ...variables })
    if (value !== undefined) given[name] = value
    else if (astNode?.defaultValue) given[name] = valueFromASTUntyped(astNode.defaultValue)
  }
  return given
}

/** The keys of types and what fields require, by the names of types. */
function typesOf(document) {
  const types = new Map()
  for (const definition of document.definitions) {
    if (!/^ObjectType/.test(definition.kind)) continue
    const name = definition.name.value
    const known = types.get(name) ?? { keys: [], requires: new Map() }
    types.set(name, known)
    for (const key of directives(definition, 'key')) {
      if (argument(key, 'resolvable') !== false) known.keys.push(fieldSet(argument(key, 'fields')))
    }
    for (const field of definition.fields ?? []) {
      const [requires] = directives(field, 'requires')
      if (requires) known.requires.set(field.name.value, fieldSet(argument(requires, 'fields')))
    }
  }
  return types
}

function entity(world, type, keys, given) {
  const isGiven = (set, value) => set.every(selected => selected.name.value === '__typename'
    || (value?.[selected.name.value] !== undefined && isGiven(selected.selectionSet?.selections ?? [], value[selected.name.value])))
  const key = keys.find(set => isGiven(set, given))
  if (!key) throw new Error(`no key in ${JSON.stringify(given)}`)
  const found = world.find(world.model.possible(type), key, given)
  if (!found) throw new Error(`no object has ${JSON.stringify(given)}`)
  return { ...found, given, __typename: type }
}

function resolve(world, type, field, { source, args, requires }) {
  const object = source ?? { type, number: 0 }
  if (type === 'Mutation') world.mutations += 1
  if (!requires) return world.value(object, field, args)
  if (!object.given) throw new Error(`${type}.${field} is not given what it requires`)
  return world.computed(object, field, args, `{${world.inputs(object.type, requires, object.given).join()}}`)
}

/** Serves subgraphs at `/RUN/NAME`; `runs` has a world and the schemas for each run. */
export async function serve(runs) {
  const server = createServer(async (request, response) => {
    const [, run, name] = request.url.split('/')
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { query, variables, operationName } = JSON.parse(Buffer.concat(chunks).toString())
    const { world, schemas } = runs.get(run)
    const answer = await graphql({
      schema: schemas.get(name), source: query, variableValues: variables, operationName, contextValue: { world, variables } })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}
