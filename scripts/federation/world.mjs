// The data of the federation scenarios, as `federation/tests/all/world.rs` has it: objects are a type and a number, and
// every value follows from a seed.
import { isAbstractType, parse } from 'graphql'
import { mix } from './random.mjs'

const OBJECTS = 4
const encoder = new TextEncoder()

/** A number that depends on a seed and texts alone. */
function hash(seed, texts) {
  let value = mix(BigInt(seed) ^ 0x9e3779b97f4a7c15n)
  for (const text of texts) {
    for (const byte of encoder.encode(text)) {
      value = BigInt.asUintN(64, mix(value ^ BigInt(byte)) + 0x9e3779b97f4a7c15n)
    }
    value = mix(value ^ 0xff00n)
  }
  return value
}

/** The selections of a field set. */
export function fieldSet(text) {
  return parse(`{ ${text} }`).definitions[0].selectionSet.selections
}

/** What a supergraph says, as far as the data depend on it. */
export class Model {
  /** `subgraphs` are the schemas of the subgraphs by name. */
  constructor(supergraphSdl, subgraphs) {
    this.subgraphs = subgraphs
    this.types = new Map()
    for (const definition of parse(supergraphSdl).definitions) {
      if (/TypeDefinition$/.test(definition.kind)) this.types.set(definition.name.value, definition)
    }
    this.keys = new Set()
    this.single = new Set()
    for (const [name, definition] of this.types) {
      for (const join of directives(definition, 'join__type')) {
        const key = argument(join, 'key')
        if (!key) continue
        const set = fieldSet(key)
        if (set.every(selected => selected.name?.value === '__typename')) this.single.add(name)
        this.addKeys(name, set)
      }
    }
  }

  addKeys(type, set) {
    for (const { name, selections } of this.selected(type, set)) {
      const field = this.field(type, name)
      if (!field) continue
      this.keys.add(`${type}.${name}`)
      for (const below of this.possible(named(field.type))) this.addKeys(below, selections)
    }
  }

  /** The fields that a set selects of objects of a type. */
  selected(type, set) {
    return set.flatMap(selected => {
      if (selected.kind === 'Field') {
        if (selected.name.value === '__typename') return []
        return [{ name: selected.name.value, selections: selected.selectionSet?.selections ?? [] }]
      }
      const condition = selected.typeCondition?.name.value
      const applies = !condition || this.possible(condition).includes(type)
      return applies ? this.selected(type, selected.selectionSet.selections) : []
    })
  }

  field(type, name) {
    return this.types.get(type)?.fields?.find(field => field.name.value === name)
  }

  isAbstract(type) {
    return /^(Interface|Union)/.test(this.types.get(type)?.kind)
  }

  /** The object types that a value can have, in the order of the supergraph. */
  possible(type) {
    const definition = this.types.get(type)
    if (definition?.kind === 'ObjectTypeDefinition') return [type]
    const members = new Set(definition?.types?.map(member => member.name.value))
    const isMember = ([name, it]) => it.kind === 'ObjectTypeDefinition'
      && (members.has(name) || it.interfaces.some(one => one.name.value === type))
    return [...this.types].filter(isMember).map(([name]) => name)
  }

  /** The types that every subgraph with a field can answer with. */
  common(type, field) {
    const definition = this.field(type, field)
    const inner = named(definition.type)
    const joins = directives(definition, 'join__field')
    const isResolved = name => {
      const graph = join => this.graph(argument(join, 'graph')) === name
      const join = joins.find(graph)
      return joins.length === 0 || (join !== undefined && argument(join, 'external') !== true)
    }
    const schemas = [...this.subgraphs].filter(([name, schema]) => isResolved(name) && schema.getType(type)?.getFields()[field])
    return this.possible(inner).filter(name => schemas.every(([, schema]) => {
      const there = schema.getType(inner)
      return !isAbstractType(there) || schema.getPossibleTypes(there).some(it => it.name === name)
    }))
  }

  /** The name of the subgraph that a value of `join__Graph` stands for. */
  graph(value) {
    const graph = this.types.get('join__Graph').values.find(it => it.name.value === value)
    return graph && argument(directives(graph, 'join__graph')[0], 'name')
  }

  /** Whether a subgraph knows objects of a type by an interface alone. */
  isKnownByInterface(type) {
    const interfaces = this.types.get(type).interfaces.map(it => this.types.get(it.name.value))
    const isObject = definition => directives(definition, 'join__type').some(join => argument(join, 'isInterfaceObject'))
    return interfaces.some(isObject)
  }
}

/** The data of one seed. */
export class World {
  constructor(model, { seed = 7, nulls = 0, errors = 0, coerces = false }) {
    Object.assign(this, { model, seed, coerces, mutations: 0, known: new Map() })
    Object.assign(this, { nulls: BigInt(nulls), errors: BigInt(errors) })
  }

  hash(object, texts) {
    const key = JSON.stringify([object.type, object.number, texts])
    if (!this.known.has(key)) this.known.set(key, hash(this.seed, [object.type, String(object.number), ...texts]))
    return this.known.get(key)
  }

  /** The value of a field that requires nothing. */
  value(object, field, args) {
    const { type } = this.model.field(object.type, field)
    const isKey = this.model.keys.has(`${object.type}.${field}`)
    const fate = this.hash(object, [field, args, 'fate']) % 100n
    if (!isKey && type.kind !== 'NonNullType' && fate < this.errors) {
      throw new Error(`${object.type}.${field} of ${object.number} fails`)
    }
    return this.ofType(object, field, type, [field, args], isKey)
  }

  ofType(object, field, type, texts, isKey) {
    const text = texts.join('/')
    const isNullable = type.kind !== 'NonNullType'
    if (isNullable && !isKey && this.hash(object, [text, 'null']) % 100n < this.nulls) return null
    const inner = isNullable ? type : type.type
    if (inner.kind === 'ListType') {
      const length = Number(this.hash(object, [text, 'length']) % 4n)
      return Array.from({ length }, (_, at) => this.ofType(object, field, inner.type, [...texts, String(at)], isKey))
    }
    const name = inner.name.value
    const number = () => Number(this.hash(object, [text, 'object']) % BigInt(OBJECTS))
    if (this.model.types.get(name)?.kind === 'ObjectTypeDefinition') {
      if (isKey) return { type: name, number: object.number }
      return { type: name, number: this.model.single.has(name) || name === 'Query' ? 0 : number() }
    }
    if (this.model.isAbstract(name)) {
      const types = this.model.common(object.type, field)
      if (types.length === 0) return null
      return { type: types[Number(this.hash(object, [text, 'type']) % BigInt(types.length))], number: number() }
    }
    return this.leaf(object, name, texts)
  }

  leaf(object, name, texts) {
    const text = `${texts.join('/')}.${object.number}`
    const number = this.hash(object, texts)
    const definition = this.model.types.get(name)
    switch (name) {
      case 'Int': return object.number * 1000 + Number(number % 1000n)
      case 'Float': return Number(number % 1000n) / 8
      case 'Boolean': return number % 2n === 0n
      case 'ID': {
        const isAlike = this.seed % 2 === 0 && !this.model.isKnownByInterface(object.type)
        return isAlike ? text : `${object.type}.${text}`
      }
      case 'String': return `${object.type}.${text}${this.mutations > 0 ? `@${this.mutations}` : ''}`
    }
    if (definition?.kind === 'EnumTypeDefinition') {
      const values = definition.values.filter(value => directives(value, 'inaccessible').length === 0)
      return values[Number(number % BigInt(values.length))].name.value
    }
    return { custom: [`${object.type}.${text}`, 12345678901234567890] }
  }

  /** The object whose key fields are those of a representation. */
  find(types, set, representation) {
    for (const type of types) {
      for (let number = 0; number < OBJECTS; number += 1) {
        const object = { type, number }
        if (this.matches(object, set, representation)) return object
      }
    }
    return null
  }

  matches(object, set, representation) {
    return this.model.selected(object.type, set).every(({ name, selections }) => {
      const value = this.value(object, name, '')
      const given = representation?.[name]
      return typeof value === 'object' && value !== null && 'number' in value
        ? this.matches(value, selections, given)
        : JSON.stringify(value) === JSON.stringify(given)
    })
  }

  /** The value of a field that is computed from others. */
  computed(object, field, args, inputs) {
    const name = named(this.model.field(object.type, field).type)
    const text = `${object.number}.${field}(${args}) of ${inputs}`
    if (this.model.types.get(name)?.kind === 'ObjectTypeDefinition') {
      return { type: name, number: Number(hash(0, [text]) % BigInt(OBJECTS)) }
    }
    return name === 'Int' ? Number(hash(0, [text]) % 1000n) : text
  }

  /** What a field is computed from, as a representation says, as text. */
  inputs(type, set, given) {
    const members = this.model.selected(type, set).map(({ name, selections }) => {
      const value = this.input(named(this.model.field(type, name).type), selections, given[name])
      return `${JSON.stringify(name)}:${value}`
    })
    return members
  }

  input(declared, set, value) {
    if (Array.isArray(value)) return `[${value.map(item => this.input(declared, set, item)).join()}]`
    if (value === null || value === undefined) return 'null'
    if (declared === 'Float' && Number.isInteger(value)) return `${value}.0`
    const kind = this.model.types.get(declared)?.kind
    if (typeof value !== 'object' || !/^(Object|Interface|Union)/.test(kind)) return json(value)
    if (!this.model.isAbstract(declared)) return `{${this.inputs(declared, set, value).join()}}`
    const members = this.inputs(value.__typename, set, value)
    return `{${[...members, `"__typename":${JSON.stringify(value.__typename)}`].join()}}`
  }
}

/** Arguments as the values that depend on them have them. */
export function argumentText(args) {
  return Object.keys(args).sort().map(name => `${name}=${json(args[name])},`).join('')
}

function json(value) {
  // The one number of the data that this language cannot say.
  return JSON.stringify(value).replaceAll('12345678901234567000', '12345678901234567890')
}

export function named(type) {
  return type.kind === 'NamedType' ? type.name.value : named(type.type)
}

export function directives(node, name) {
  return (node.directives ?? []).filter(directive => directive.name.value === name)
}

export function argument(directive, name) {
  return directive.arguments.find(it => it.name.value === name)?.value.value
}
