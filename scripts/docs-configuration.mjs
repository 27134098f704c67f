// Writes docs/configuration.md, .env.example and the chart's schema of `config` from the settings shapes of the built apps. With
// --check it writes nothing, names the files that differ and exits with 1.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = (name) => `${root}${name}`;

if (!existsSync(file('dist/apps/gateway/src/settings.js'))) {
  process.stderr.write('The settings are read from the built apps; run npm run build first\n');
  process.exit(1);
}
const built = async (name) => import(new URL(`../dist/${name}.js`, import.meta.url));

const { databaseSettings, retentionSettings } = await built('libs/persistence/src/settings');
const { actorSettings } = await built('apps/admin/src/actor');
const { accessTokenSettings, encryptionKeySettings, signInLinkSettings } =
  await built('libs/schemas/src/index');
const { signingSettings, storageSettings } = await built('libs/storage/src/index');
const { catalogCheckSettings } = await built('libs/catalog/src/index');
const { gatewaySettings } = await built('apps/gateway/src/settings');
const { CATALOG_DIR, PUBLIC_BASE_URL } = gatewaySettings;
const readers = {
  gateway: gatewaySettings,
  worker: (await built('apps/worker/src/settings')).workerSettings,
  admin: {
    ...databaseSettings,
    ...accessTokenSettings,
    ...signInLinkSettings,
    ...encryptionKeySettings,
    ...actorSettings,
    ...retentionSettings,
    ...storageSettings,
    ...signingSettings,
    ...catalogCheckSettings,
    CATALOG_DIR,
    PUBLIC_BASE_URL,
  },
  local: (await built('apps/local/src/settings')).localSettings,
  simulator: (await built('apps/simulator/src/settings')).simulatorSettings,
};

/** The settings that open the page, and when an operator needs each. */
const essentials = {
  DATABASE_URL: 'Always. Gateways, workers and `admin` use the same database.',
  SIGNING_SECRET: 'Always, the same value on gateways and workers. `openssl rand -hex 32` makes one.',
  JWT_SECRET: 'Gateways, unless your identity provider signs the access tokens (`JWT_JWKS_URL`).',
  ENCRYPTION_PUBLIC_KEY:
    'Gateways, if workspaces may use [their own provider keys](operations/keys.md#provider-keys-of-workspaces).',
  ENCRYPTION_KEYS: 'Workers, together with it. Gateways must not have it.',
  PROVIDER_BFL_KEY: 'Workers: one key for each [provider](#provider-accounts) that you serve.',
  HOST: 'Gateways in a container or behind a load balancer. By default they accept only local calls.',
  PUBLIC_BASE_URL: 'Gateways behind a load balancer, so that URLs in responses contain its address.',
  TRUSTED_PROXIES: 'Gateways behind a load balancer, so that each caller gets a share of the connections.',
  INTERNAL_HOST: 'When metrics and health checks are read from another machine or pod.',
  INTERNAL_PORT: 'The same: the default picks a random port.',
  REDIS_URL: 'When you outgrow a small service. Without it, Postgres carries the jobs.',
  S3_BUCKET:
    'Always one of two: a bucket, or `ASSET_BASE_URL` with an `ASSET_DIR` that all share. With more than one machine, take the bucket.',
  S3_ENDPOINT: 'When the bucket is not on AWS. On AWS, set `S3_REGION`.',
  S3_ACCESS_KEY_ID: 'Unless AWS provides credentials to the machine or pod.',
  S3_SECRET_ACCESS_KEY: 'Together with `S3_ACCESS_KEY_ID`.',
  WORKER_CLOSE_MS:
    'Workers, if a provider holds its calls until the result is ready, as OpenAI does: longer than its slowest answer. `k8s/base` sets `600000`, ten minutes.',
};

/** The sections of the reference; the first pattern that matches a name decides. */
const subjects = {
  Postgres: /^DATABASE_/,
  'Redis and queues': /^(REDIS_URL$|QUEUE_|STREAM_KEPT_)/,
  'Asset store': /^(S3_|STORE_|ASSET_(DIR|BASE_URL)$)/,
  'Secrets and access tokens': /^(SIGNING_SECRET$|ENCRYPTION_|SIGN_IN_|JWT_|AUTH_)/,
  'Sign-in of people': /^OIDC_/,
  'Calls and connections':
    /^(HOST|PORT|PUBLIC_BASE_URL|CORS_|TRUSTED_PROXIES|MAX_CONNECTIONS|KEEP_ALIVE_|CLOSE_TIMEOUT_|BODY_|FILE_LIMIT|SYNC_)/,
  'Catalog, registry and clients': /^(CATALOG_|REGISTRY_|COMPAT_CLIENTS)/,
  Workers: /^(WORKER_|SPILL_DIR$|CLAIM_|MAX_(POLL_)?CRASHES)/,
  'Calls to providers': /^(PROVIDER_(POLL|MAX_PAUSE|REPLY)_|STREAM_)/,
  'Assets and webhooks': /^(ASSET_|CALLER_DNS_SERVERS|WEBHOOK_)/,
  Retention: /RETENTION_/,
  'Logs, metrics and traces': /^(LOG_|INTERNAL_|OTEL_)/,
  'Provider accounts': /^(PROVIDER_|SIMULATOR_URL$)/,
  'Operator commands': /^ADMIN_/,
};
const ownSections = { local: 'Local launcher', simulator: 'Simulator' };

/** The meaning of an absent variable, decided by the schema, so that no default is written twice. */
function absence(schema) {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return { required: true };
  const { data } = parsed;
  if (data === undefined || (Array.isArray(data) && data.length === 0)) return {};
  return { byDefault: String(data) };
}

function settingsOf(app) {
  return Object.entries(readers[app]).map(([name, schema]) => {
    const { description, example, oneOf } = schema.meta() ?? {};
    if (!description || !example) throw new Error(`${app} ${name} lacks a description or an example`);
    return { name, description, example, ...(oneOf && { oneOf }), ...absence(schema) };
  });
}

/** Each setting once, with the apps that read it in the same way. */
function allSettings() {
  const byFacts = new Map();
  for (const app of Object.keys(readers)) {
    for (const setting of settingsOf(app)) {
      const key = JSON.stringify(setting);
      const known = byFacts.get(key) ?? { ...setting, apps: [] };
      known.apps.push(app);
      byFacts.set(key, known);
    }
  }
  return [...byFacts.values()];
}

function sectionOf({ name, apps }) {
  const own = apps.length === 1 ? ownSections[apps[0]] : undefined;
  const subject = own ?? Object.entries(subjects).find(([, pattern]) => pattern.test(name))?.[0];
  if (subject === undefined) throw new Error(`${name} belongs to no section of docs/configuration.md`);
  return subject;
}

const settings = allSettings();
const sections = [...Object.keys(subjects), ...Object.values(ownSections)].map((title) => ({
  title,
  ofSection: settings.filter((setting) => sectionOf(setting) === title),
}));

const cell = (text) => text.replaceAll('|', '\\|');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function row({ name, description, example, oneOf, required, byDefault, apps }) {
  const optional = byDefault === undefined ? '' : `\`${cell(byDefault)}\``;
  const choice = oneOf && `**one of** ${oneOf.map((each) => `\`${each}\``).join(', ')}`;
  const absent = required ? '**required**' : (choice ?? optional);
  const shown = byDefault === undefined ? ` Example: \`${cell(example)}\`` : '';
  return [`\`${name}\``, absent, `${cell(description)}${shown}`, apps.join(', ')];
}

/** One row a provider, since all their keys and addresses mean the same. */
function accounts(ofProviders) {
  const rows = ofProviders.flatMap(({ name, byDefault }) => {
    const [, stem] = /^(PROVIDER_\w+)_BASE_URL$/.exec(name) ?? [];
    return stem === undefined ? [] : [[`\`${stem}_KEY\``, `\`${name}\``, `\`${byDefault}\``]];
  });
  const others = ofProviders.filter(({ name }) => !/_(BASE_URL|KEY)$/.test(name));
  return `Workers read these. While no worker has the key of a provider, its models are not served. Change an address for a
proxy or a test.

${table(['Account key', 'Base URL of the API', 'Default'], rows)}

${reference(others)}`;
}

const reference = (ofSection) => table(['Variable', 'Default', 'Meaning', 'Read by'], ofSection.map(row));

function essential([name, when]) {
  for (const [, each] of [['', name], ...when.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)]) {
    if (!settings.some((setting) => setting.name === each)) throw new Error(`There is no setting ${each}`);
  }
  const { example, byDefault } = settings.find((setting) => setting.name === name);
  return [`\`${name}\``, cell(when), example === byDefault ? '' : `\`${cell(example)}\``];
}

function page() {
  const parts = sections.map(
    ({ title, ofSection }) =>
      `### ${title}\n\n${title === 'Provider accounts' ? accounts(ofSection) : reference(ofSection)}`,
  );
  return `# Configuration

Every process reads its settings from environment variables once, at startup. An empty variable counts as unset. If a
value is not valid, the process prints all problems and exits. A time in milliseconds (\`…_MS\`) is at most a week.
Lists are separated by commas.

## The settings that you need first

${table(['Variable', 'When you need it', 'Example'], Object.entries(essentials).map(essential))}

The image sets \`HOST\`, \`PORT\`, \`INTERNAL_HOST\` and \`INTERNAL_PORT\`. \`npm start\` needs no settings at all.

## All settings

\`admin\` reads its own settings and those of Postgres; for single commands also those of access tokens (\`token create\`),
\`CATALOG_DIR\`, \`PUBLIC_BASE_URL\` (\`key sign-in\`), retention (\`run\`, \`webhook\`) and the asset store (\`restore objects\`). The local launcher
(\`npm start\`) passes its whole environment on to the apps that it starts. This page is generated from the code by
\`npm run docs:configuration\`; \`.env.example\` lists the same settings as a file.

${parts.join('\n\n')}
`;
}

function commented({ description }) {
  const lines = ['#'];
  for (const word of description.split(' ')) {
    const last = lines.at(-1);
    if (last.length + word.length > 108) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/** If one of several settings is needed, the example sets the first. */
const isGiven = ({ name, required, oneOf }) => required || oneOf?.[0] === name;

function environmentExample() {
  const parts = sections.flatMap(({ title, ofSection }) => {
    const ours = ofSection.filter(({ apps }) => apps.includes('gateway') || apps.includes('worker'));
    if (ours.length === 0) return [];
    const lines = ours.map(
      (each) =>
        `${commented(each)}\n${isGiven(each) ? '' : '#'}${each.name}=${each.byDefault ?? each.example}`,
    );
    return [`# --- ${title} ---\n\n${lines.join('\n\n')}`];
  });
  const head = `# Settings of gateway and worker, generated by scripts/docs-configuration.mjs. Copy to .env, fill in the secrets, then:
#   node --env-file=.env dist/apps/gateway/src/main.js
# Optional settings are commented out and show their default, or an example if they have none.`;
  return `${head}\n\n${parts.join('\n\n')}\n`;
}

/** Variables of the runtime and of its libraries, which the apps do not read themselves. */
const foreign = '^(NODE|OTEL|UV|AWS)_[A-Z0-9_]+$|^(HTTPS?|NO)_PROXY$|^TZ$';
/** An operator may declare more providers. */
const declared = '^PROVIDER_[A-Z0-9_]+_BASE_URL$';

const ref = (name) => ({ $ref: `#/definitions/${name}` });

/** YAML may quote a number. */
function chartValue(schema) {
  const {
    type,
    minimum,
    exclusiveMinimum,
    enum: words,
  } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    io: 'output',
  });
  if (words !== undefined) return { enum: words };
  if (type === 'integer') return ref(exclusiveMinimum === 0 || minimum > 0 ? 'count' : 'wholeNumber');
  return ref(type === 'number' ? 'number' : 'setting');
}

const quotable = (type, least, digits) => ({
  anyOf: [
    { type, ...least },
    { type: 'string', pattern: `^${digits}$` },
  ],
});
const definitions = {
  setting: { type: ['string', 'number', 'boolean'] },
  count: quotable('integer', { minimum: 1 }, '[1-9][0-9]*'),
  wholeNumber: quotable('integer', { minimum: 0 }, '[0-9]+'),
  number: quotable('number', {}, '-?[0-9]+(\\.[0-9]+)?'),
};

/** The chart's values with the schema of `config`: a misspelt name and a text in place of a number are refused at installation. */
function chartSchema() {
  const schema = JSON.parse(readFileSync(file('k8s/chart/values.schema.json'), 'utf8'));
  const { config } = schema.properties;
  const secret = new RegExp(config.propertyNames.not.pattern);
  const ofPods = Object.assign({}, readers.admin, readers.worker, readers.gateway);
  const names = Object.keys(ofPods)
    .filter((name) => !secret.test(name) && name !== 'ENCRYPTION_KEYS')
    .toSorted();
  schema.properties.config = {
    type: 'object',
    propertyNames: config.propertyNames,
    properties: Object.fromEntries(names.map((name) => [name, chartValue(ofPods[name])])),
    patternProperties: { [declared]: { type: 'string' }, [foreign]: ref('setting') },
    additionalProperties: false,
  };
  Object.assign(schema.definitions, definitions);
  return JSON.stringify(schema);
}

const options = await resolveConfig(file('README.md'));
const wanted = {
  'k8s/chart/values.schema.json': await format(chartSchema(), { ...options, parser: 'json' }),
  'docs/configuration.md': await format(page(), { ...options, parser: 'markdown' }),
  '.env.example': environmentExample(),
};
const differing = Object.entries(wanted).filter(
  ([name, text]) => !existsSync(file(name)) || readFileSync(file(name), 'utf8') !== text,
);
if (process.argv.includes('--check')) {
  for (const [name] of differing) {
    process.stderr.write(`${name} differs from the settings; run npm run docs:configuration\n`);
  }
  process.exitCode = differing.length === 0 ? 0 : 1;
} else {
  for (const [name, text] of differing) {
    writeFileSync(file(name), text);
    process.stdout.write(`wrote ${name}\n`);
  }
}
