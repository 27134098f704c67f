// Lints every OpenAPI document that a gateway serves, including those of the models in both generations, by the
// recommended rules of Redocly and Spectral. Needs a build. Spectral takes a seventh of a second per document, so
// the models of a generation are merged into a few documents that differ only in their paths; `--each` checks
// them one by one.
import { isMainThread, Worker } from 'node:worker_threads';

const dist = new URL('../dist/', import.meta.url);
const own = (path) => import(new URL(path, dist).href);
const baseUrl = 'https://router.example';
const mergedModels = process.argv.includes('--each') ? 1 : 80;
/** Disabled rules. All others apply, and in the documents of models their warnings count too. */
const off = {
  // The operator of a service decides its licence. A discriminator beside branches that are written out tells
  // callers, in a 422, which branch they meant.
  redocly: ['info-license', 'no-illogical-composition-keywords'],
  // The operator also decides the contact. One operation has no group to belong to.
  spectral: ['info-contact', 'operation-tags'],
};

async function modelDocuments() {
  const { loadCatalog, openApiDocument } = await own('libs/catalog/src/index.js');
  const { documentFrame } = await own('apps/gateway/src/models/document-frame.js');
  const { models } = await loadCatalog();
  return ['v1', 'v2'].map((generation) => {
    const frame = documentFrame(service, generation);
    return models.map((model) => JSON.parse(openApiDocument(model, generation, frame).bytes));
  });
}

async function serviceDocument() {
  const { readServiceDocument } = await own('apps/gateway/src/built-document.js');
  return JSON.parse(JSON.stringify(readServiceDocument(baseUrl)));
}

/** One document with the paths of many. */
function merged(documents) {
  const paths = documents.flatMap(({ paths }) => Object.entries(paths));
  return {
    ...documents[0],
    paths: Object.fromEntries(
      paths.map(([path, { post }], index) => [path, { post: { ...post, operationId: `run${index}` } }]),
    ),
  };
}

function* chunks(documents) {
  for (let at = 0; at < documents.length; at += mergedModels)
    yield merged(documents.slice(at, at + mergedModels));
}

async function redocly(documents) {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core');
  const rules = Object.fromEntries(off.redocly.map((rule) => [rule, 'off']));
  const config = await createConfig({ extends: ['recommended'], rules });
  const found = [];
  for (const document of documents) {
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/document.json',
      config,
    });
    found.push(
      ...problems
        .filter(({ severity }) => counts(document, severity === 'error'))
        .map(
          ({ ruleId, message, location: [at] }) =>
            `${document.info.title} ${at?.pointer}: ${message} (${ruleId})`,
        ),
    );
  }
  return found;
}

async function spectral(documents) {
  const { default: core } = await import('@stoplight/spectral-core');
  const { default: rulesets } = await import('@stoplight/spectral-rulesets');
  const linter = new core.Spectral();
  const rules = Object.fromEntries(off.spectral.map((rule) => [rule, 'off']));
  linter.setRuleset({ extends: [rulesets.oas], rules });
  const found = [];
  for (const document of documents) {
    const problems = await linter.run(document);
    found.push(
      ...problems
        .filter(({ severity }) => counts(document, `${severity}` === '0'))
        .map(({ code, message, path }) => `${document.info.title} ${path.join('/')}: ${message} (${code})`),
    );
  }
  return found;
}

const counts = (document, isError) => isError || document !== service;

const service = await serviceDocument();
const generations = await modelDocuments();
const startedAtMs = performance.now();
const [name, linted, problems] = isMainThread
  ? ['Redocly', generations.flat().length + 1, redocly([...generations.flat(), service])]
  : [
      'Spectral',
      generations.flat().length + 1,
      spectral([...generations.flatMap((each) => [...chunks(each)]), service]),
    ];
if (isMainThread) {
  new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) }).on('exit', (code) => {
    process.exitCode ||= code;
  });
}
const lines = await problems;
if (lines.length > 0) process.exitCode = 1;
process.stdout.write(
  [
    ...lines.slice(0, 40),
    `${name}: ${lines.length} problems in ${linted} documents, ${Math.round((performance.now() - startedAtMs) / 1000)} s.\n`,
  ].join('\n'),
);
