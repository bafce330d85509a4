// Answers templates by GraphQL-LD over Comunica, in memory: one JSON request per line of the standard
// input, one JSON answer per line of the standard output. The argument is an N-Triples file.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { QueryEngine } from '@comunica/query-sparql-rdfjs';
import graphqlLd from 'graphql-ld';
import n3 from 'n3';
import sparqlalgebra from 'sparqlalgebrajs';

const { Client } = graphqlLd;
const { toSparql } = sparqlalgebra;

const vocabulary = 'http://university.example/vocabulary/';
const forward = ['advisor', 'doctoralDegreeFrom', 'emailAddress', 'memberOf', 'subOrganizationOf', 'title', 'worksFor',
  'undergraduateDegreeFrom'];
const reverse = {
  doctoralDegreeObtainers: 'doctoralDegreeFrom',
  head: 'headOf',
  publications: 'publicationAuthor',
  undergraduateDegreeObtainedBystudent: 'undergraduateDegreeFrom',
};

const context = { type: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type' };
for (const name of forward) context[name] = vocabulary + name;
for (const [name, of] of Object.entries(reverse)) context[name] = { '@reverse': vocabulary + of };
context.GraduateStudent = vocabulary + 'GraduateStudent';

// What the language can say: it has neither text search nor orders, and its pages are of rows.
const student = 'type(_: GraduateStudent)';
const templates = {
  QT1: `{ id(_: ROOT) doctoralDegreeFrom {
    undergraduateDegreeObtainedBystudent { ${student} id emailAddress } } }`,
  QT2: '{ id(_: ROOT) doctoralDegreeObtainers { publications { title } } }',
  QT3: `{ id(_: ROOT) subOrganizationOf { head {
    id emailAddress doctoralDegreeFrom { id } } } }`,
  QT4: `{ id(_: ROOT) doctoralDegreeFrom { id undergraduateDegreeObtainedBystudent {
    ${student} id emailAddress advisor { id emailAddress worksFor { id } } } } }`,
  QT5: `{ id(_: ROOT) subOrganizationOf { id undergraduateDegreeObtainedBystudent {
    ${student} id emailAddress memberOf { id subOrganizationOf { id undergraduateDegreeObtainedBystudent {
      ${student} id emailAddress memberOf { id } } } } } } }`,
  QT6: `{ id(_: ROOT) undergraduateDegreeObtainedBystudent {
    ${student} advisor { worksFor { id } } } }`,
  QT11: `{ id ${student} undergraduateDegreeFrom(_: UNIVERSITY) { id } advisor { id } }`,
};

const store = new n3.Store();
const parser = new n3.StreamParser({ format: 'N-Triples' });
await new Promise((resolve, reject) => {
  createReadStream(process.argv[2]).pipe(parser)
    .on('data', quad => store.addQuad(quad)).on('end', resolve).on('error', reject);
});

const comunica = new QueryEngine();
const queryEngine = {
  // As the adapters of GraphQL-LD do: the client takes SPARQL JSON.
  async query(algebra) {
    const result = await comunica.query(toSparql(algebra), { sources: [store] });
    const { data } = await comunica.resultToString(result, 'application/sparql-results+json');
    let text = '';
    for await (const chunk of data) text += chunk;
    return JSON.parse(text);
  },
};

const values = tree => (Array.isArray(tree)
  ? tree.reduce((sum, element) => sum + values(element), 0)
  : tree && !tree.termType && typeof tree === 'object'
    ? Object.values(tree).reduce((sum, member) => sum + values(member), 0)
    : 1);

async function answer({ template, root, variables }) {
  const text = templates[template];
  if (!text) return { unsupported: true };
  const terms = { ...context };
  if (root) terms.ROOT = root;
  if (variables.universityID) terms.UNIVERSITY = variables.universityID;
  const client = new Client({ context: terms, queryEngine });
  const { data } = await client.query({ query: text });
  return { values: values(JSON.parse(JSON.stringify(data))) };
}

console.log(JSON.stringify({ triples: store.size }));
for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error) };
  }
  console.log(JSON.stringify(reply));
}
