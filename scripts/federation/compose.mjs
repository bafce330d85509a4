// Composes the supergraphs of the federation scenarios from their subgraphs.
//
// Not part of any test: what it writes is committed. Run it in a folder with `@apollo/composition` and `graphql`
// installed: `node compose.mjs .../federation/tests/cases [AREA...]`. Each AREA/subgraphs/NAME.graphql becomes the
// subgraph NAME, and the result is AREA/supergraph.graphql.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'

const [cases, ...areas] = process.argv.slice(2)
const wanted = areas.length > 0 ? areas : readdirSync(cases)
let failures = 0
for (const area of wanted) {
  const folder = join(cases, area, 'subgraphs')
  if (!existsSync(folder)) continue
  const files = readdirSync(folder).filter(file => file.endsWith('.graphql')).sort()
  const services = files.map(file => {
    const name = basename(file, '.graphql')
    const typeDefs = parse(readFileSync(join(folder, file), 'utf8'))
    return { name, typeDefs, url: `http://${name}/graphql` }
  })
  const result = composeServices(services)
  if (result.errors) {
    failures += 1
    for (const error of result.errors) console.error(`${area}: ${error.message}`)
    continue
  }
  writeFileSync(join(cases, area, 'supergraph.graphql'), result.supergraphSdl + '\n')
  for (const hint of result.hints) console.log(`${area}: ${hint.definition.code}: ${hint.message.split('\n')[0]}`)
}
process.exit(failures === 0 ? 0 : 1)
