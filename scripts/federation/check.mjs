// Reads subgraph schemas and lets other implementations of federation build and compose them.
//
// `node check.mjs FOLDER OWNERS`: FOLDER holds `<name>.v1.graphql` and `<name>.v2.graphql`; a file of
// OWNERS with the same name is a second subgraph, which owns the types that the first one extends.
// `<name>.search.graphql` is the subgraph of searches over the objects of both.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { composeServices, compositionHasErrors } from '@theguild/federation-composition'
import { parse } from 'graphql'

const [folder, owners] = process.argv.slice(2)
const files = readdirSync(folder).filter(file => /\.v[12]\.graphql$/.test(file)).sort()
if (files.length === 0) {
  console.error(`no schemas in ${folder}`)
  process.exit(1)
}

let failures = 0
let searched = 0
function check(what, action) {
  try {
    action()
  } catch (error) {
    failures += 1
    console.error(`${what}: ${error.message}`)
  }
}

const isEntity = definition =>
  /^ObjectType(Definition|Extension)$/.test(definition.kind) &&
  definition.directives.some(directive => directive.name.value === 'key')

const read = path => parse(readFileSync(path, 'utf8'))

for (const file of files) {
  const subgraphs = [{ name: 'soml', typeDefs: read(join(folder, file)), url: 'http://localhost/soml' }]
  const owner = join(owners, file)
  if (existsSync(owner)) {
    subgraphs.push({ name: 'owner', typeDefs: read(owner), url: 'http://localhost/owner' })
  }
  const search = join(folder, file.replace(/\.v[12]\.graphql$/, '.search.graphql'))
  if (existsSync(search)) {
    searched += 1
    subgraphs.push({ name: 'search', typeDefs: read(search), url: 'http://localhost/search' })
  }
  for (const { name, typeDefs } of subgraphs) {
    check(`${file}: buildSubgraphSchema of ${name}`, () => {
      const query = buildSubgraphSchema(typeDefs).getQueryType().getFields()
      const expected = typeDefs.definitions.some(isEntity) ? ['_service', '_entities'] : ['_service']
      const missing = expected.filter(field => !query[field])
      if (missing.length > 0) {
        throw new Error(`Query has no ${missing.join(' and no ')}`)
      }
    })
  }
  check(`${file}: composeServices`, () => {
    const result = composeServices(subgraphs)
    if (compositionHasErrors(result)) {
      throw new Error(result.errors.map(error => error.message).join('\n  '))
    }
  })
}

console.log(`${files.length} subgraph schemas, ${searched} of them with searches, ${failures} failures`)
process.exit(failures === 0 && searched > 0 ? 0 : 1)
