// Changes one thing of a generated set of subgraphs, at random.

const DIRECTIVES = [
  '@shareable', '@external', '@inaccessible', '@tag(name: "p")', '@authenticated', '@requires(fields: "id")',
  '@provides(fields: "id")', '@override(from: "a")', '@override(from: "b", label: "x")', '@cost(weight: 2)',
  '@listSize(assumedSize: 3)', '@deprecated', '@requiresScopes(scopes: [["s"]])',
]
const TYPE_DIRECTIVES = [
  '@shareable', '@inaccessible', '@extends', '@key(fields: "id")', '@key(fields: "sku")', '@key(fields: "f0")',
  '@key(fields: "none")', '@key(fields: "at { x }")', '@interfaceObject', '@authenticated', '@tag(name: "q")', '@external',
  '@context(name: "c")',
]
const TYPES = ['Int', 'String', 'ID', '[Int]', 'Int!', 'E', 'P', 'T', 'I', 'N', 'In']

/** Each change gets a place: a subgraph, a type of it, and a field of the type where it has fields. */
const CHANGES = [
  function changeNullability({ field }) {
    if (field?.type) field.type = field.type.endsWith('!') ? field.type.slice(0, -1) : `${field.type}!`
  },
  function changeType({ random, field, subgraph }) {
    if (field?.type) field.type = random.pick(TYPES.filter(name => /^\W?[A-Z]\w{2}|ID/.test(name) || subgraph.types.has(name)))
  },
  function addDirective({ random, field }) {
    if (field) field.directives.push(random.pick(DIRECTIVES))
  },
  function addTypeDirective({ random, type }) {
    type.directives.push(random.pick(TYPE_DIRECTIVES))
  },
  function removeDirective({ random, field }) {
    if (field) field.directives.splice(random.below(field.directives.length + 1), 1)
  },
  function removeTypeDirective({ random, type }) {
    type.directives.splice(random.below(type.directives.length + 1), 1)
  },
  function removeField({ type, fieldName }) {
    if (type.fields?.size > 1) type.fields.delete(fieldName)
  },
  function copyField({ random, type, fieldName, field, typeName, subgraphs }) {
    const other = random.pick(subgraphs).types.get(typeName)
    if (other?.fields && field && other !== type && !other.fields.has(fieldName)) {
      other.fields.set(fieldName, { ...field, directives: [...field.directives] })
    }
  },
  function changeArguments({ random, type, field }) {
    if (!field?.type || type.kind === 'input') return
    field.args = random.pick([[], ['p: Int'], ['p: Int!'], ['p: Int = 2'], ['p: String'], ['r: Int! = 3'], ['i: In!']])
  },
  function changeDefault({ random, type, field }) {
    if (type.kind === 'input' && field) field.value = random.pick(['', '"y"', '1', 'null'])
  },
  function addMember({ random, type, subgraph }) {
    const objects = [...subgraph.types].filter(([, it]) => it.kind === 'type').map(([name]) => name)
    if (type.members) type.members = [...new Set([...type.members, random.pick(objects)])]
    if (type.kind === 'enum') type.fields.set('X', { directives: [] })
    if (type.kind === 'input') type.fields.set('n', { type: random.pick(['Int', 'Int!']), directives: [] })
  },
  function removeInterface({ type }) {
    type.interfaces?.splice(0, 1)
  },
  function addInterfaceField({ random, type, subgraph }) {
    if (type.kind !== 'interface') return
    type.fields.set('more', { type: 'Int', directives: [] })
    for (const it of subgraph.types.values()) {
      if (it.interfaces?.includes('I') && random.percent(85)) it.fields.set('more', { type: 'Int', directives: [] })
    }
  },
  function extend({ type }) {
    if (type.kind === 'type') type.isExtension = !type.isExtension
  },
  function changeVersion({ random, subgraph }) {
    if (subgraph.minor !== null) subgraph.minor = random.pick([0, 2, 4, 6, 8, 11, 13, 14, 15])
  },
  function becomeOld({ subgraph }) {
    subgraph.minor = null
    subgraph.renamed = {}
  },
  function removeType({ subgraph, typeName }) {
    if (subgraph.types.size > 1) subgraph.types.delete(typeName)
  },
  function rename({ random, subgraph }) {
    const name = random.pick(['tag', 'inaccessible', 'authenticated', 'key', 'shareable', 'override'])
    if (subgraph.minor !== null) subgraph.renamed = { ...subgraph.renamed, [name]: random.percent(50) ? null : `own${name}` }
  },
]

export function spoil(random, subgraphs) {
  const subgraph = random.pick(subgraphs)
  if (subgraph.types.size === 0) return
  const [typeName, type] = random.pick([...subgraph.types])
  const [fieldName, field] = type.fields?.size ? random.pick([...type.fields]) : []
  random.pick(CHANGES)({ random, subgraphs, subgraph, typeName, type, fieldName, field })
}
