// Compares our composer with `@apollo/composition` and `@theguild/federation-composition`.
//
// `node compare.mjs COMPOSE_SETS TESTS [COUNT [SEED]]`: COMPOSE_SETS is the example program of that name, TESTS the folder
// `federation/tests`; COUNT random sets are made from SEED on. Every set has to have the same outcome as with
// `@apollo/composition`: accepted or refused with the same codes, the same schema for clients and the same hints. Where it
// has not, `differences.mjs` says why. `SET` chooses the sets whose name contains it, and prints what each composer says.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { apollo, guild, ours } from './compose-others.mjs'
import { differences } from './differences.mjs'
import { randomSet } from './generate.mjs'
import { scenarios, setsOf, written } from './subgraphs.mjs'

const [program, tests, count = '200', seed = '1'] = process.argv.slice(2)
const chosen = process.env.SET

function* sets() {
  for (const difference of differences) {
    const [{ subgraphs }] = setsOf(`# example\n${difference.example}`)
    yield { id: `example of: ${difference.name}`, subgraphs, difference }
  }
  yield* scenarios(join(tests, 'cases'))
  yield* written(join(tests, 'composition'))
  for (let at = 0; at < Number(count); at += 1) yield randomSet(Number(seed) + at)
}

/** What differs between the outcomes of a set; null if nothing does. */
function difference(theirs, mine) {
  const text = codes => (codes.length > 0 ? codes.join(' ') : 'accepted')
  if (text(theirs.codes) !== text(mine.codes)) return `${text(theirs.codes)} | ours: ${text(mine.codes)}`
  if (theirs.codes.length > 0) return null
  if (mine.unreadable) return `our supergraph cannot be read: ${mine.unreadable}`
  if (theirs.api !== mine.api) return `the schemas for clients differ\n${changedLines(theirs.api, mine.api)}`
  if (theirs.hints && text(theirs.hints) !== text(mine.hints)) {
    const [less, more] = [[theirs.hints, mine.hints], [mine.hints, theirs.hints]].map(([one, other]) => one.filter(it => !other.includes(it)))
    return `hints: theirs alone ${text(less)} | ours alone: ${text(more)}`
  }
  return null
}

function changedLines(theirs, mine) {
  const [left, right] = [theirs, mine].map(text => text.split('\n'))
  const only = (some, others, mark) => some.filter(line => !others.includes(line)).map(line => `    ${mark}${line}`)
  return [...only(left, right, '-'), ...only(right, left, '+')].slice(0, 12).join('\n')
}

async function* composed(all) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise(resolve => child.on('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  for (const set of all) {
    child.stdin.write(JSON.stringify({ id: set.id, subgraphs: set.subgraphs }) + '\n')
    const { value, done } = await lines.next()
    if (done) throw new Error(`our composer ended at: ${set.id}`)
    yield [set, ours(JSON.parse(value))]
  }
  child.stdin.end()
  if (await ended !== 0) throw new Error('our composer failed')
}

const counts = { sets: 0, accepted: 0, alike: 0, explained: 0, agreed: 0 }
const uses = new Map(differences.map(difference => [difference, 0]))
const unexplained = new Map()
const wanted = [...sets()].filter(set => !chosen || set.id.includes(chosen))
for await (const [set, mine] of composed(wanted)) {
  const outcomes = { subgraphs: set.subgraphs, apollo: apollo(set.subgraphs), guild: guild(set.subgraphs), ours: mine }
  counts.sets += 1
  counts.accepted += mine.codes.length === 0 ? 1 : 0
  const differs = difference(outcomes.apollo, mine)
  const bothAgree = outcomes.apollo.codes.join() === outcomes.guild.codes.join() && outcomes.apollo.api === outcomes.guild.api
  counts.agreed += bothAgree ? 1 : 0
  if (chosen) show(set, outcomes, differs)
  const reason = differs && differences.find(it => it.applies(outcomes) && (!bothAgree || it.againstBoth))
  if (set.difference && reason !== set.difference) note(`an allowed difference does not occur: ${set.difference.name}`, set.id)
  if (!differs) counts.alike += 1
  else if (reason) {
    counts.explained += 1
    if (!set.difference) uses.set(reason, uses.get(reason) + 1)
  } else note(`${bothAgree ? 'both: ' : ''}${differs}`, set.id)
}

function note(what, id) {
  const [head, ...lines] = what.split('\n')
  const known = unexplained.get(head) ?? { ids: [], lines }
  known.ids.push(id)
  unexplained.set(head, known)
}

function show(set, outcomes, differs) {
  console.log(`\n== ${set.id}: ${differs ?? 'alike'}`)
  for (const { name, sdl } of set.subgraphs) console.log(`## ${name}\n${sdl}`)
  for (const who of ['apollo', 'guild', 'ours']) {
    const { errors, hints = [] } = outcomes[who]
    console.log(`-- ${who}: ${errors.length} errors; hints: ${hints.join(' ')}`)
    for (const { code, message } of errors) console.log(`   ${code}: ${message.replaceAll('\n', '\n      ')}`)
  }
}

for (const [difference, times] of uses) console.log(`allowed, ${times} times: ${difference.name}`)
const groups = [...unexplained].sort(([, one], [, other]) => other.ids.length - one.ids.length)
for (const [what, { ids, lines }] of groups) {
  console.error(`${ids.length} times: theirs: ${what}\n    ${ids.slice(0, 4).join('; ')}`)
  if (lines.length > 0) console.error(lines.join('\n'))
}
console.log(
  `${counts.sets} sets composed, ${counts.accepted} of them accepted: ${counts.alike} as with @apollo/composition, `
  + `${counts.explained} allowed differences, ${counts.sets - counts.alike - counts.explained} others; `
  + `it and @theguild/federation-composition agreed on ${counts.agreed}`)
process.exit(groups.length === 0 ? 0 : 1)
