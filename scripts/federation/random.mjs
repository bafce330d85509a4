// Numbers that are the same for the same seed.

export class Random {
  constructor(seed) {
    this.state = BigInt.asUintN(64, BigInt(seed) * 0x9e3779b97f4a7c15n + 1n)
  }

  next() {
    this.state = BigInt.asUintN(64, this.state + 0x9e3779b97f4a7c15n)
    return mix(this.state)
  }

  /** A number below `bound`. */
  below(bound) {
    return Number(this.next() % BigInt(bound))
  }

  percent(chance) {
    return this.below(100) < chance
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  /** Some elements of a list, in its order. */
  sample(list, count) {
    const rest = list.map((_, at) => at)
    const chosen = []
    while (chosen.length < count && rest.length > 0) {
      chosen.push(rest.splice(this.below(rest.length), 1)[0])
    }
    return chosen.sort((one, other) => one - other).map(at => list[at])
  }
}

export function mix(value) {
  value = BigInt.asUintN(64, (value ^ (value >> 30n)) * 0xbf58476d1ce4e5b9n)
  value = BigInt.asUintN(64, (value ^ (value >> 27n)) * 0x94d049bb133111ebn)
  return value ^ (value >> 31n)
}
