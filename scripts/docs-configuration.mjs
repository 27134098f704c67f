// Writes docs/configuration.md and .env.example from the settings shapes of the built apps. With --check it
// writes nothing, names the files that differ and exits with 1.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = (name) => `${root}${name}`;

if (!existsSync(file('dist/apps/gateway/src/settings.js'))) {
  process.stderr.write('The settings are read from the built apps; run npm run build first\n');
  process.exit(1);
}
const built = async (name) => import(new URL(`../dist/${name}.js`, import.meta.url));

const { databaseSettings } = await built('libs/persistence/src/settings');
const { accessTokenSettings } = await built('libs/schemas/src/index');
const readers = {
  gateway: (await built('apps/gateway/src/settings')).gatewaySettings,
  worker: (await built('apps/worker/src/settings')).workerSettings,
  admin: { ...databaseSettings, ...accessTokenSettings },
  local: (await built('apps/local/src/settings')).localSettings,
  simulator: (await built('apps/simulator/src/settings')).simulatorSettings,
};

/** The default comes from the schema itself, so that it is not written twice. */
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

/** Settings that the same apps read in the same way share a section, in the order of their first reader. */
function sections() {
  const byFacts = new Map();
  for (const app of Object.keys(readers)) {
    for (const setting of settingsOf(app)) {
      const key = JSON.stringify(setting);
      const known = byFacts.get(key) ?? { ...setting, apps: [] };
      known.apps.push(app);
      byFacts.set(key, known);
    }
  }
  const bySection = new Map();
  for (const setting of byFacts.values()) {
    const title = named(setting.apps);
    bySection.set(title, [...(bySection.get(title) ?? []), setting]);
  }
  return bySection;
}

function named(apps) {
  const text = apps.length < 2 ? apps.join('') : `${apps.slice(0, -1).join(', ')} and ${apps.at(-1)}`;
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

const cell = (text) => text.replaceAll('|', '\\|');

function row({ name, description, example, oneOf, required, byDefault }) {
  const optional = byDefault === undefined ? '' : `\`${byDefault}\``;
  const choice = oneOf && `**one of** ${oneOf.map((each) => `\`${each}\``).join(', ')}`;
  const absent = required ? '**required**' : (choice ?? optional);
  return `| \`${name}\` | ${absent} | ${cell(description)} | \`${cell(example)}\` |`;
}

function page() {
  const parts = [...sections()].map(([title, settings]) => {
    const head = '| Variable | Default | Meaning | Example |\n| --- | --- | --- | --- |';
    return `## ${title}\n\n${head}\n${settings.map(row).join('\n')}`;
  });
  return `# Configuration

Every process reads its settings from environment variables, once, at start. An empty variable counts as absent. A bad
environment ends the process with all its problems on standard error. A time in milliseconds (\`…_MS\`) is at most a week.
This page is generated from the settings shapes in the code (\`npm run docs:configuration\`); edit the shapes, not the page.

The admin command line reads its database settings for every command that needs the database, and the \`JWT_\` ones for
\`token create\`. The local launcher passes its whole environment on to the apps that it starts.

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

/** If several settings are alternatives, the example sets the first. */
const isGiven = ({ name, required, oneOf }) => required || oneOf?.[0] === name;

function environmentExample() {
  const parts = [...sections()].flatMap(([title, settings]) => {
    const ours = settings.filter(({ apps }) => apps.includes('gateway') || apps.includes('worker'));
    if (ours.length === 0) return [];
    const lines = ours.map(
      (each) =>
        `${commented(each)}\n${isGiven(each) ? '' : '#'}${each.name}=${each.byDefault ?? each.example}`,
    );
    return [`# --- ${title} ---\n\n${lines.join('\n\n')}`];
  });
  const head = `# Settings of gateway and worker, generated by scripts/docs-configuration.mjs. Copy to .env, fill in the secrets, then:
#   node --env-file=.env dist/apps/gateway/src/main.js
# Settings with a default and optional settings are commented out, and show the default or an example.`;
  return `${head}\n\n${parts.join('\n\n')}\n`;
}

const options = await resolveConfig(file('README.md'));
const wanted = {
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
