// Builds everything that a release consists of, from this checkout:
//   npm run release -- X.Y.Z [--tag] [--prepare] [--without-image] [--platform linux/amd64,…] [--out <folder>]
// Without --tag it is a dry run: it reports what would stop the release, and makes the products all the same. With --tag
// it stops at the first problem, and ends with an annotated tag. It never pushes. --prepare only writes the version into
// the files that state it, and makes the entries of Unreleased in CHANGELOG.md its section. The environment may name the tools (HELM, CONTAINER_TOOL) and, by digest, the base images
// (BUILD_IMAGE, RUN_IMAGE).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { problemsOf, writeVersion } from './release/checks.mjs';
import { bomOf } from './release/bom.mjs';
import { buildImages } from './release/images.mjs';
import { consolePackages, distinct, installedPackages, noticesOf } from '../docker/notices.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tag: { type: 'boolean', default: false },
    prepare: { type: 'boolean', default: false },
    'without-image': { type: 'boolean', default: false },
    platform: { type: 'string', default: 'linux/amd64,linux/arm64' },
    out: { type: 'string' },
  },
});
const [version = ''] = positionals;
if (positionals.length !== 1 || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
  fail('Name one version, such as: npm run release -- 1.2.3', 2);

if (values.prepare) {
  for (const file of writeVersion(version)) say(`wrote ${version} into ${file}`);
  process.exit(0);
}

const problems = problemsOf(version);
for (const problem of problems) say(`${values.tag ? 'problem' : 'would stop the release'}: ${problem}`);
if (values.tag && problems.length > 0) fail('nothing was made', 1);

const out = path.resolve(values.out ?? `dist/release/${version}`);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const inOut = (name) => path.join(out, name);

run(process.execPath, ['scripts/build-if-changed.mjs']);
// The build may be older than the commit.
run(process.execPath, ['dist/libs/observability/src/store-release.js']);
const source = JSON.parse(readFileSync('dist/libs/observability/src/release.json', 'utf8'));

// The gateway serves the same bytes.
const clients = 'dist/apps/gateway/clients';
for (const name of readdirSync(clients)) copyFileSync(path.join(clients, name), inOut(name));

run(process.env.HELM ?? 'helm', ['package', 'k8s/chart', '--destination', out]);

const work = mkdtempSync(path.join(os.tmpdir(), 'model-router-release-'));
try {
  run(process.execPath, ['docker/loaded.mjs', work, 'gateway', 'worker', 'admin']);
  const packages = distinct([...installedPackages(work), ...consolePackages()]);
  const built = values['without-image']
    ? { system: [], images: [], missing: [] }
    : buildImages({
        version,
        source,
        out,
        platforms: values.platform.split(','),
        packages: installedPackages(work),
      });
  if (values['without-image'])
    say('NOT BUILT: the images, because of --without-image. The notices and the SBOM lack the base image.');
  for (const reason of built.missing) say(`NOT BUILT: ${reason}`);
  if (values.tag && built.missing.length > 0)
    fail('choose the platforms with --platform, or get what is missing', 1);

  const notices = [noticesOf(packages), ...built.system.map(({ notice }) => notice)].join('\n');
  writeFileSync(inOut('THIRD-PARTY-NOTICES'), notices);
  const bom = bomOf({ version, source, packages, system: built.system });
  writeFileSync(inOut('sbom.cyclonedx.json'), `${JSON.stringify(bom, null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

const names = readdirSync(out).sort();
const sums = names.map(
  (name) =>
    `${createHash('sha256')
      .update(readFileSync(inOut(name)))
      .digest('hex')}  ${name}\n`,
);
writeFileSync(inOut('SHA256SUMS'), sums.join(''));

say(`\n${out}`);
for (const name of [...names, 'SHA256SUMS'])
  say(`${String(statSync(inOut(name)).size).padStart(12)}  ${name}`);

if (values.tag) {
  run('git', ['tag', '--annotate', `v${version}`, '--message', `model-router ${version}`]);
  say(`\ntagged v${version}; push it with: git push origin v${version}`);
} else
  say(
    `\nThis was a dry run: no tag was made${problems.length > 0 ? ', and there are problems (see above)' : ''}.`,
  );

function run(command, words) {
  execFileSync(command, words, { stdio: ['ignore', 'inherit', 'inherit'] });
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

function fail(text, code) {
  process.stderr.write(`release: ${text}\n`);
  process.exit(code);
}
