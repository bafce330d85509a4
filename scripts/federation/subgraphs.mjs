// Sets of subgraphs: those of the repository's tests, and how a random one is written as SDL.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The directives of federation 2, and the minor version that brought each. */
export const SINCE = {
  key: 0, requires: 0, provides: 0, external: 0, extends: 0, shareable: 0, override: 0, tag: 0, inaccessible: 0,
  composeDirective: 1, interfaceObject: 3, authenticated: 5, requiresScopes: 5, policy: 6, context: 8, fromContext: 8,
  cost: 9, listSize: 9,
}

/** The link of a subgraph that imports all that its version has. */
export function linkTo(minor, renamed = {}) {
  const known = Object.keys(SINCE).filter(name => SINCE[name] <= minor && renamed[name] !== null)
  const imports = known.map(name =>
    renamed[name] ? `{ name: "@${name}", as: "@${renamed[name]}" }` : `"@${name}"`)
  return `extend schema @link(url: "https://specs.apollo.dev/federation/v2.${minor}", import: [${imports.join(', ')}])`
}

/** The subgraphs of the scenarios: a set for each area. */
export function scenarios(folder) {
  const areas = readdirSync(folder).filter(area => existsSync(join(folder, area, 'subgraphs'))).sort()
  return areas.map(area => {
    const files = readdirSync(join(folder, area, 'subgraphs')).sort()
    const subgraphs = files.map(file => {
      const name = basename(file, '.graphql')
      const sdl = readFileSync(join(folder, area, 'subgraphs', file), 'utf8')
      return { name, url: `http://${name}/graphql`, sdl }
    })
    return { id: `scenarios of ${area}`, subgraphs }
  })
}

/** The sets of the files of `tests/composition`: a set begins with `# `, a subgraph with `## name [version]`. */
export function written(folder) {
  const files = readdirSync(folder).filter(file => file.endsWith('.graphql')).sort()
  return files.flatMap(file => {
    const sets = setsOf(readFileSync(join(folder, file), 'utf8'))
    return sets.map(({ why, subgraphs }, at) => ({ id: `${file}, set ${at + 1} (${why})`, subgraphs }))
  })
}

/** The sets of a text. */
export function setsOf(text) {
  const sets = []
  for (const part of text.split(/^# /m).slice(1)) {
    const [why, ...lines] = part.split('\n')
    const subgraphs = lines.join('\n').split(/^## /m).slice(1).map(text => {
      const [head, ...sdl] = text.split('\n')
      const [name, version] = head.trim().split(/\s+/)
      const link = version ? linkTo(Number(version.split('.')[1])) + '\n' : ''
      return { name, url: `http://${name}`, sdl: link + sdl.join('\n') }
    })
    sets.push({ why, subgraphs })
  }
  return sets
}

/** Writes a subgraph of a generated set. */
export function print(subgraph) {
  const parts = []
  if (subgraph.minor !== null) {
    parts.push(linkTo(subgraph.minor, subgraph.renamed))
  }
  for (const line of subgraph.head) parts.push(line)
  for (const [name, type] of subgraph.types) parts.push(printType(name, type))
  return parts.join('\n').replace(/@([a-zA-Z]+)/g, (written, name, at, text) => {
    const isUse = text[at - 1] !== '"' && text.slice(at - 11, at) !== 'directive '
    const other = subgraph.renamed[name]
    return !isUse || other === undefined ? written : `@${other ?? `federation__${name}`}`
  })
}

function printType(name, type) {
  const description = type.description ? `"${type.description}"\n` : ''
  const directives = type.directives.map(directive => ` ${directive}`).join('')
  const keyword = `${type.isExtension ? 'extend ' : ''}${type.kind}`
  if (type.kind === 'scalar') return `${description}scalar ${name}${directives}`
  if (type.kind === 'union') return `${description}${keyword} ${name}${directives} = ${type.members.join(' | ')}`
  const interfaces = type.interfaces?.length ? ` implements ${type.interfaces.join(' & ')}` : ''
  const fields = [...type.fields].map(([field, it]) => printField(field, it))
  return `${type.isExtension ? '' : description}${keyword} ${name}${interfaces}${directives} {\n${fields.join('\n')}\n}`
}

function printField(name, field) {
  const description = field.description ? `  "${field.description}"\n` : ''
  const args = field.args?.length ? `(${field.args.join(', ')})` : ''
  const type = field.type ? `: ${field.type}` : ''
  const value = field.value ? ` = ${field.value}` : ''
  return `${description}  ${name}${args}${type}${value}${field.directives.map(directive => ` ${directive}`).join('')}`
}
