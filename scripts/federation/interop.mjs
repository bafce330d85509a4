// Lets gateways answer the scenarios over each other's supergraphs, with subgraphs that are written in another language.
//
// `node interop.mjs ANSWER COMPOSE_SETS CASES`: the example programs of these names, and the folder of the scenarios. All
// data come from servers with `@apollo/subgraph`. Our gateway answers over the supergraph of `@apollo/composition` and over
// ours, `@apollo/gateway` over ours. The data have to be those of `answer.json`; what `@apollo/gateway` is known to do
// otherwise is in `gateway-faults.mjs`, and has to go on doing so. `SCENARIO` chooses those whose path contains it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { ApolloGateway } from '@apollo/gateway'
import { composeServices } from '@apollo/composition'
import { graphql, parse } from 'graphql'
import { faults, refused, withoutData } from './gateway-faults.mjs'
import { serve, subgraphSchema } from './subgraph-server.mjs'
import { scenarios } from './subgraphs.mjs'
import { Model, World } from './world.mjs'

const [answer, composeSets, cases] = process.argv.slice(2)
const chosen = process.env.SCENARIO ?? ''
const runs = new Map()
const server = await serve(runs)
const ours = ourGateway()
const counts = { scenarios: 0, skipped: 0, faults: 0, refused: 0, wrong: 0 }

for (const set of scenarios(cases)) {
  const area = set.id.split(' ').pop()
  const schemas = new Map(set.subgraphs.map(({ name, sdl }) => [name, subgraphSchema(sdl)]))
  const model = new Model(readFileSync(join(cases, area, 'supergraph.graphql'), 'utf8'), schemas)
  const supergraphs = { theirs: composedByThem(set), ours: composedByUs(set) }
  const gateway = await theirGateway(area, supergraphs.ours, schemas)
  for (const name of readdirSync(join(cases, area)).sort()) {
    const folder = join(cases, area, name)
    const path = `${area}/${name}`
    if (!existsSync(join(folder, 'query.graphql')) || !path.includes(chosen)) continue
    if (existsSync(join(folder, 'supergraph.graphql'))) continue
    await scenario({ path, folder, schemas, model, supergraphs, gateway })
  }
  await gateway?.stop()
}

async function scenario({ path, folder, schemas, model, supergraphs, gateway }) {
  const read = (file, otherwise) => existsSync(join(folder, file)) ? JSON.parse(readFileSync(join(folder, file), 'utf8')) : otherwise
  const query = readFileSync(join(folder, 'query.graphql'), 'utf8')
  const variables = read('variables.json', {})
  const options = read('options.json', {})
  const expected = read('answer.json')
  const skipped = withoutData.find(it => it.applies({ path, options }))
  if (skipped) {
    counts.skipped += 1
    return
  }
  counts.scenarios += 1
  const asked = { query, variables, labels: options.labels ?? [] }
  for (const who of ['theirs', 'ours']) {
    const got = await ourAnswer(supergraphs[who], asked, { world: new World(model, options), schemas })
    compare(`${path}: our gateway, ${who === 'ours' ? 'our' : 'their'} supergraph`, got, expected)
  }
  if (!gateway) {
    counts.refused += 1
    return
  }
  const fault = faults.find(it => it.scenarios.includes(path))
  // It writes arguments anew, so values have to depend on what they mean; ours is the reference then.
  const coerced = { ...options, coerces: true }
  const { data } = await ourAnswer(supergraphs.ours, asked, { world: new World(model, coerced), schemas })
  const got = await theirAnswer(gateway, { query, variables, world: new World(model, coerced) })
  if (!fault) compare(`${path}: their gateway, our supergraph`, got, data)
  else if (isDeepStrictEqual(got.data, data)) {
    counts.wrong += 1
    console.error(`${path}: their gateway answers, although it should not: ${fault.reason}`)
  } else counts.faults += 1
}

/** The answer of our gateway, with servers that have the data of a run. */
function ourAnswer(supergraphSdl, asked, run) {
  const id = `${runs.size}`
  runs.set(id, run)
  const supergraph = supergraphSdl.replace(/url: "http:\/\/(\w+)\/graphql"/g, `url: "${server.address}/${id}/$1"`)
  return ours.ask({ ...asked, supergraph })
}

function compare(what, got, expected) {
  if (isDeepStrictEqual(got.data ?? null, expected)) return
  counts.wrong += 1
  console.error(`${what}:\n  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(got)}`)
}

function composedByThem({ subgraphs }) {
  const { errors, supergraphSdl } = composeServices(subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })))
  if (errors) throw new Error(errors.join('\n'))
  return supergraphSdl
}

function composedByUs(set) {
  const { stdout } = spawnSync(composeSets, { input: JSON.stringify(set) + '\n', maxBuffer: 1 << 28 })
  const { supergraph, errors } = JSON.parse(stdout.toString())
  if (errors) throw new Error(JSON.stringify(errors))
  return supergraph
}

/** Our gateway, as a process that answers a line with a line. */
function ourGateway() {
  const child = spawn(answer, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async ask(request) {
      child.stdin.write(JSON.stringify(request) + '\n')
      const { value, done } = await lines.next()
      if (done) throw new Error('our gateway ended')
      return JSON.parse(value)
    },
    close: () => child.stdin.end(),
  }
}

/** Their gateway; its requests to subgraphs are carried out here. */
async function theirGateway(area, supergraphSdl, schemas) {
  const quiet = { debug() {}, info() {}, warn() {}, error: console.error }
  const buildService = ({ name }) => ({
    process: async ({ request, context }) => graphql({
      schema: schemas.get(name), source: request.query, variableValues: request.variables, contextValue: { world: context.world, variables: request.variables } }),
  })
  const gateway = new ApolloGateway({ supergraphSdl, buildService, logger: quiet })
  const known = refused.find(it => it.area === area)
  try {
    const { executor } = await gateway.load()
    if (known) throw new Error(`their gateway takes the supergraph of ${area}, although it should not: ${known.reason}`)
    return { executor, stop: () => gateway.stop() }
  } catch (error) {
    if (known && error.message.includes(known.message)) return null
    throw error
  }
}

async function theirAnswer({ executor }, { query, variables, world }) {
  const document = parse(query)
  const operation = document.definitions.find(it => it.kind === 'OperationDefinition')
  const request = { query, variables, operationName: operation.name?.value }
  try {
    const { data, errors } = await executor({
      request, document, operation, operationName: operation.name?.value ?? null, queryHash: query, source: query,
      context: { world }, metrics: {}, overallCachePolicy: { restrict() {} }, logger: console, schema: undefined, cache: undefined })
    // Its objects have no prototype.
    return JSON.parse(JSON.stringify({ data, errors }))
  } catch (error) {
    return { data: null, errors: [{ message: error.message }] }
  }
}

ours.close()
server.close()
console.log(
  `${counts.scenarios} scenarios, each answered by our gateway over both supergraphs and by theirs over ours: ${counts.wrong} wrong answers, `
  + `${counts.faults} known faults of their gateway and ${counts.refused} scenarios that it refuses; ${counts.skipped} scenarios need what the servers have not`)
process.exit(counts.wrong === 0 && counts.scenarios > 0 ? 0 : 1)
