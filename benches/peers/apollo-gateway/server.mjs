// `@apollo/gateway` behind Apollo Server, as its documentation sets it up.
//
//   node server.mjs SUPERGRAPH_FILE PORT
//
// Prints its address when it is ready.

import { readFile } from 'node:fs/promises'

// As in operation, and without looking up or telling anything on the network.
process.env.NODE_ENV = 'production'
process.env.APOLLO_TELEMETRY_DISABLED = '1'
process.env.METADATA_SERVER_DETECTION = 'none'

const [file, port] = process.argv.slice(2)
if (port === undefined) {
  console.error('usage: node server.mjs SUPERGRAPH_FILE PORT')
  process.exit(2)
}
const { ApolloGateway } = await import('@apollo/gateway')
const { ApolloServer } = await import('@apollo/server')
const { startStandaloneServer } = await import('@apollo/server/standalone')

const gateway = new ApolloGateway({ supergraphSdl: await readFile(file, 'utf8') })
const server = new ApolloServer({ gateway })
const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: Number(port) } })
console.log(url.replace(/\/$/, ''))
