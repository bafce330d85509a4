// Random sets of subgraphs. A set begins as subgraphs that fit together, with whatever their versions of federation
// have; two of three are then spoiled in one to three places, which breaks most of them, but not all.
import { Random } from './random.mjs'
import { SINCE, print } from './subgraphs.mjs'
import { spoil } from './spoil.mjs'

const VERSIONS = [0, 1, 3, 5, 6, 7, 8, 9, 9, 9, 10, 12, 14]
const LEAVES = ['Int', 'String', 'ID', 'Boolean', 'Float', '[Int]', 'Int!', '[String!]!', 'E', 'S']

/** Returns the set of a seed. */
export function randomSet(seed) {
  const random = new Random(seed)
  const set = new Generated(random)
  set.build()
  if (random.percent(65)) {
    for (let count = 1 + random.below(3); count > 0; count -= 1) spoil(random, set.subgraphs)
  }
  const subgraphs = set.subgraphs.map(subgraph => (
    { name: subgraph.name, url: `http://${subgraph.name}`, sdl: print(subgraph) }))
  return { id: `random ${seed}`, subgraphs }
}

class Generated {
  constructor(random) {
    this.random = random
    const names = ['a', 'b', 'c', 'd'].slice(0, random.pick([1, 2, 2, 3, 3, 4]))
    const isOld = random.percent(20)
    this.subgraphs = names.map(name => ({
      name,
      minor: isOld && random.percent(60) ? null : random.pick(VERSIONS),
      renamed: this.renamed(),
      head: [],
      types: new Map(),
    }))
    // What subgraphs agree on.
    this.entities = new Map()
    this.hasInterface = random.percent(40)
    this.hasInterfaceKey = this.hasInterface && random.percent(40)
    this.implementers = []
    this.values = ['A', 'B', 'C'].slice(0, 2 + random.below(2))
    this.inputFields = { a: 'Int', b: 'String', c: random.pick(['Int!', '[Int!]', 'E']) }
  }

  renamed() {
    const { random } = this
    if (!random.percent(12)) return {}
    const name = random.pick(['key', 'requires', 'external', 'shareable', 'provides', 'tag', 'inaccessible'])
    // Without an import it has the name of the specification before it.
    return { [name]: random.percent(50) ? null : `my${name}` }
  }

  build() {
    const { random, subgraphs } = this
    for (const name of ['T', 'U', 'V'].slice(0, 1 + random.below(3))) this.entity(name)
    for (const name of this.entities.keys()) {
      for (const subgraph of this.entities.get(name).homes) this.requirements(subgraph, name)
    }
    for (const subgraph of subgraphs) this.roots(subgraph)
    this.interfaceObjects()
    this.overrides()
    this.contexts()
    this.ownDirectives()
    for (const subgraph of subgraphs) {
      for (const [name, type] of subgraph.types) this.decorate(subgraph, name, type)
    }
  }

  has(subgraph, directive) {
    return subgraph.minor !== null && SINCE[directive] <= subgraph.minor
  }

  /** An entity: its keys and fields, and which subgraphs have them. */
  entity(name) {
    const { random, subgraphs } = this
    const keys = random.pick([['id'], ['id'], ['id', 'sku'], ['id sku'], ['id', 'at { x }']])
    const homes = random.sample(subgraphs, 1 + random.below(subgraphs.length))
    if (this.hasInterfaceKey && !homes.includes(subgraphs[0])) homes.unshift(subgraphs[0])
    this.entities.set(name, { keys, homes })
    const implementing = this.hasInterface && (this.hasInterfaceKey || random.percent(60))
    if (implementing) this.implementers.push(name)
    for (const subgraph of homes) {
      const own = keys.filter((key, at) => at === 0 || random.percent(75))
      const type = object()
      subgraph.types.set(name, type)
      type.isExtension = random.percent(subgraph.minor === null ? 30 : 8)
      for (const key of own) {
        const end = random.percent(4) && subgraph.minor !== null ? ', resolvable: false' : ''
        type.directives.push(`@key(fields: "${key}"${end})`)
        this.keyFields(subgraph, type, key)
      }
      if (implementing && (this.hasInterfaceKey || random.percent(70))) this.implement(subgraph, type)
    }
    for (let at = 0; at < 2 + random.below(4); at += 1) {
      const owners = random.sample(homes, random.percent(85) ? 1 : 2)
      const written = this.type(owners)
      const args = this.args(owners, written)
      for (const subgraph of owners) {
        const field = { type: written, args: [...args], directives: [] }
        if (owners.length > 1) this.share(subgraph, field)
        subgraph.types.get(name).fields.set(`f${at}`, field)
      }
    }
  }

  share(subgraph, field) {
    if (subgraph.minor !== null) field.directives.push('@shareable')
  }

  keyFields(subgraph, type, key) {
    for (const name of key.split(/[^a-z]+/)) {
      const fields = { id: 'ID!', sku: 'String', at: 'P!' }
      if (fields[name]) type.fields.set(name, { type: fields[name], directives: [] })
      if (name === 'at') this.need(subgraph, 'P')
    }
  }

  implement(subgraph, type) {
    if (type.interfaces.includes('I')) return
    type.interfaces.push('I')
    if (!type.fields.has('id')) type.fields.set('id', { type: 'ID!', directives: [] })
    this.need(subgraph, 'I')
  }

  /** A type of fields that some subgraphs have. */
  type(subgraphs) {
    const { random } = this
    const known = [...this.entities.keys()]
    const chance = random.below(100)
    const name = chance < 68 ? random.pick(LEAVES)
      : chance < 76 ? random.pick(['P', '[P!]'])
      : chance < 90 ? random.pick(['T', '[T]', 'T!']).replace('T', random.pick(known))
      : chance < 95 && this.hasInterface ? random.pick(['I', '[I]'])
      : random.pick(['N', '[N!]'])
    for (const subgraph of subgraphs) this.need(subgraph, name.replace(/[[\]!]/g, ''))
    return name
  }

  args(subgraphs, type) {
    const { random } = this
    if (type.startsWith('[') && random.percent(25)) return ['first: Int']
    if (!random.percent(15)) return []
    const args = random.sample(['p: Int = 1', 'q: String', 'r: Int!', 'e: E = A', 'i: In', 'l: [Int!] = [1, 2]'], 1 + random.below(2))
    for (const subgraph of subgraphs) {
      if (args.some(it => it.includes('E'))) this.need(subgraph, 'E')
      if (args.some(it => it.includes('In'))) this.need(subgraph, 'In')
    }
    return args
  }

  /** Defines a type in a subgraph that mentions it. */
  need(subgraph, name) {
    const { random } = this
    if (subgraph.types.has(name)) return
    const shareable = subgraph.minor === null ? [] : ['@shareable']
    if (name === 'P') {
      const type = object(shareable)
      for (const [field, type_] of [['x', 'Int'], ['y', 'String']]) type.fields.set(field, { type: type_, directives: [] })
      subgraph.types.set(name, type)
    } else if (name === 'S') {
      subgraph.types.set(name, { kind: 'scalar', directives: [] })
    } else if (name === 'E') {
      const fields = new Map(this.values.map(value => [value, { directives: [] }]))
      if (random.percent(6)) fields.set('D', { directives: [] })
      subgraph.types.set(name, { kind: 'enum', directives: [], fields })
    } else if (name === 'In') {
      const fields = Object.entries(this.inputFields).filter(([field]) => field === 'c' || random.percent(93))
      const input = { kind: 'input', directives: [], fields: new Map() }
      subgraph.types.set(name, input)
      for (const [field, type] of fields) {
        input.fields.set(field, { type, directives: [], value: field === 'b' && random.percent(90) ? '"x"' : '' })
        this.need(subgraph, type.replace(/[[\]!]/g, ''))
      }
    } else if (name === 'I') {
      this.interface(subgraph)
    } else if (name === 'N') {
      const members = [...this.entities.keys()].filter(it => subgraph.types.has(it))
      if (members.length === 0 || random.percent(20)) members.push('P')
      subgraph.types.set(name, { kind: 'union', directives: [], members })
      members.forEach(member => this.need(subgraph, member))
    } else if (this.entities.has(name)) {
      const key = this.entities.get(name).keys[0]
      const end = subgraph.minor !== null && random.percent(70) ? ', resolvable: false' : ''
      const type = object([`@key(fields: "${key}"${end})`])
      subgraph.types.set(name, type)
      this.keyFields(subgraph, type, key)
    }
  }

  interface(subgraph) {
    const { random } = this
    const isKeyed = this.hasInterfaceKey && subgraph === this.subgraphs[0] && this.has(subgraph, 'interfaceObject')
    const type = { kind: 'interface', interfaces: [], directives: isKeyed ? ['@key(fields: "id")'] : [], fields: new Map() }
    type.fields.set('id', { type: 'ID!', directives: [] })
    subgraph.types.set('I', type)
    const implementers = this.implementers.map(name => subgraph.types.get(name)).filter(Boolean)
    implementers.forEach(it => this.implement(subgraph, it))
    if (implementers.length === 0 && !isKeyed) {
      const only = object()
      only.interfaces.push('I')
      only.fields.set('id', { type: 'ID!', directives: [] })
      subgraph.types.set(`Only${subgraph.name}`, only)
    }
    if (random.percent(15)) {
      type.fields.set('common', { type: 'Int', directives: [] })
      for (const it of subgraph.types.values()) {
        if (it.interfaces?.includes('I')) it.fields.set('common', { type: 'Int', directives: subgraph.minor === null ? [] : ['@shareable'] })
      }
    }
  }

  /** Fields that subgraphs compute from fields of others, and fields that they provide. */
  requirements(subgraph, name) {
    const { random } = this
    const { homes } = this.entities.get(name)
    const type = subgraph.types.get(name)
    for (const other of homes.filter(it => it !== subgraph)) {
      for (const [field, { type: written, args }] of other.types.get(name).fields) {
        if (!/^f\d/.test(field) || type.fields.has(field) || !random.percent(18)) continue
        const inner = written.replace(/[[\]!]/g, '')
        if (args?.some(it => /!|In|E/.test(it))) continue
        this.need(subgraph, inner)
        const below = this.selection(subgraph, inner)
        if (below === null) continue
        type.fields.set(field, { type: written, args: [...args ?? []], directives: ['@external'] })
        const selected = `${field}${below}`
        if (random.percent(75)) {
          const needs = `@requires(fields: "${selected}")`
          type.fields.set(`r${subgraph.name}_${field}`, { type: 'Int', directives: [needs] })
        } else if (!args?.length) {
          this.query(subgraph).set(`p${name}_${field}_${subgraph.name}`, { type: name, directives: [`@provides(fields: "${selected}")`] })
        }
      }
    }
  }

  /** What is selected of an external field of a type; null if that is nothing that every subgraph knows. */
  selection(subgraph, inner) {
    if (inner === 'P') return ' { x }'
    if (inner === 'I') return ' { id }'
    if (inner === 'N') return this.random.percent(50) ? ' { __typename }' : null
    if (!this.entities.has(inner)) return ''
    return this.entities.get(inner).keys[0].startsWith('id') ? ' { id }' : null
  }

  query(subgraph) {
    if (!subgraph.types.has('Query')) subgraph.types.set('Query', object())
    return subgraph.types.get('Query').fields
  }

  roots(subgraph) {
    const { random } = this
    for (const name of this.entities.keys()) {
      if (!subgraph.types.has(name) || !random.percent(70)) continue
      const type = random.pick(['T', '[T]', 'T!', '[T!]!']).replace('T', name)
      this.query(subgraph).set(`q${name}_${subgraph.name}`, { type, args: this.args([subgraph], type), directives: [] })
    }
    if (subgraph === this.subgraphs[0] || random.percent(15)) {
      this.query(subgraph).set(`ping_${subgraph.name}`, { type: random.pick(LEAVES.slice(0, 6)), directives: [] })
    }
    if (random.percent(15)) {
      const field = { type: 'Int', args: ['p: Int = 1'], directives: [] }
      this.share(subgraph, field)
      this.query(subgraph).set('shared', field)
    }
    if (this.hasInterface && subgraph.types.has('I') && random.percent(50)) {
      this.query(subgraph).set(`i_${subgraph.name}`, { type: random.pick(['I', '[I]']), directives: [] })
    }
    if (random.percent(12)) {
      this.need(subgraph, 'E')
      this.need(subgraph, 'In')
      const fields = new Map([[`do_${subgraph.name}`, { type: random.pick(['E', 'Int']), args: ['i: In', 'e: E'], directives: [] }]])
      subgraph.types.set('Mutation', { ...object(), fields })
    }
    if (random.percent(8)) {
      const fields = new Map([[`on_${subgraph.name}`, { type: 'Int', directives: [] }]])
      subgraph.types.set('Subscription', { ...object(), fields })
    }
  }

  interfaceObjects() {
    if (!this.hasInterfaceKey || this.subgraphs[0].types.get('I')?.directives.length !== 1) return
    for (const subgraph of this.subgraphs.slice(1)) {
      const isFree = !subgraph.types.has('I') && !this.implementers.some(name => subgraph.types.has(name))
      if (!isFree || !this.has(subgraph, 'interfaceObject') || !this.random.percent(80)) continue
      const type = object(['@interfaceObject', '@key(fields: "id")'])
      type.fields.set('id', { type: 'ID!', directives: [] })
      type.fields.set(`lent_${subgraph.name}`, { type: this.random.pick(LEAVES.slice(0, 8)), directives: [] })
      subgraph.types.set('I', type)
      if (this.random.percent(50)) this.query(subgraph).set(`io_${subgraph.name}`, { type: 'I', directives: [] })
    }
  }

  overrides() {
    const { random } = this
    for (const [name, { homes }] of this.entities) {
      for (const subgraph of homes) {
        const other = random.pick(homes)
        if (other === subgraph || subgraph.minor === null || !random.percent(15)) continue
        const own = other.types.get(name).fields
        const moved = [...own.keys()].filter(field => /^f\d/.test(field) && own.get(field).directives.length === 0
          && LEAVES.includes(own.get(field).type) && !subgraph.types.get(name).fields.has(field))
        if (moved.length === 0) continue
        const field = random.pick(moved)
        const label = subgraph.minor >= 7 && random.percent(40) ? `, label: "${random.pick(['x', 'percent(5)'])}"` : ''
        const { type, args } = own.get(field)
        if (args?.length) continue
        this.need(subgraph, type)
        subgraph.types.get(name).fields.set(field, { type, directives: [`@override(from: "${other.name}"${label})`] })
      }
    }
  }

  /** A field whose argument takes its value from an object above. */
  contexts() {
    const { random } = this
    const [above, below] = [...this.entities.keys()]
    if (!below || !random.percent(15)) return
    const subgraph = this.entities.get(above).homes.find(it => it.types.has(below) && this.has(it, 'context'))
    if (!subgraph) return
    const type = subgraph.types.get(above)
    type.directives.push('@context(name: "c")')
    type.fields.set('ctx', { type: 'String', directives: [] })
    type.fields.set(`below_${subgraph.name}`, { type: below, directives: [] })
    const argument = 'c: String @fromContext(field: "$c { ctx }")'
    const args = random.percent(70) ? [argument] : [argument, 'n: Int = 3']
    subgraph.types.get(below).fields.set(`fromContext_${subgraph.name}`, { type: 'Int', args, directives: [] })
  }

  /** Directives of the subgraphs' own: executable ones, and ones that are composed. */
  ownDirectives() {
    const { random } = this
    if (random.percent(12)) {
      for (const subgraph of random.sample(this.subgraphs, 3)) {
        const places = random.percent(70) ? 'FIELD | QUERY' : random.pick(['FIELD', 'QUERY | MUTATION', 'FIELD | OBJECT'])
        subgraph.head.push(`directive @run(${random.percent(80) ? 'n: Int' : 'n: Int!'}) on ${places}`)
      }
    }
    if (!random.percent(12)) return
    for (const subgraph of random.sample(this.subgraphs, 2).filter(it => this.has(it, 'composeDirective'))) {
      const compose = random.percent(80) ? ' @composeDirective(name: "@mine")' : ''
      const url = `https://example.com/mine/v1.${random.below(2)}`
      subgraph.head.push(`extend schema @link(url: "${url}", import: ["@mine"])${compose}`)
      subgraph.head.push('directive @mine(n: Int) repeatable on FIELD_DEFINITION | OBJECT')
      const fields = [...subgraph.types.values()].flatMap(it => it.kind === 'type' ? [...it.fields.values()] : [])
      if (fields.length > 0) random.pick(fields).directives.push(`@mine(n: ${random.below(3)})`)
    }
  }

  /** Descriptions, and directives that say more of types and fields. */
  decorate(subgraph, name, type) {
    const { random } = this
    if (random.percent(10)) type.description = random.pick(['one', 'another'])
    if (random.percent(3) && (subgraph.minor !== null)) type.directives.push(random.pick(['@tag(name: "p")', '@tag(name: "q")']))
    for (const [field, it] of type.fields ?? []) {
      if (random.percent(6)) it.description = random.pick(['one', 'another'])
      if (it.directives.includes('@external')) continue
      if (random.percent(3)) it.directives.push(random.pick(['@deprecated', '@deprecated(reason: "old")']))
      if (subgraph.minor === null) continue
      if (random.percent(3)) it.directives.push(`@tag(name: "${random.pick(['p', 'q'])}")`)
      if (random.percent(2)) it.directives.push('@inaccessible')
      if (type.kind !== 'type' || name === 'Subscription') continue
      if (this.has(subgraph, 'policy') && random.percent(3)) {
        it.directives.push(random.pick(['@authenticated', '@requiresScopes(scopes: [["s"], ["t", "u"]])', '@policy(policies: [["p"]])']))
      }
      if (this.has(subgraph, 'cost') && random.percent(4)) it.directives.push(`@cost(weight: ${random.below(9)})`)
      if (this.has(subgraph, 'listSize') && it.type?.startsWith('[') && random.percent(15)) {
        it.directives.push(it.args?.includes('first: Int') ? '@listSize(slicingArguments: ["first"])' : '@listSize(assumedSize: 5)')
      }
    }
  }
}

function object(directives = []) {
  return { kind: 'type', interfaces: [], directives: [...directives], fields: new Map() }
}
