// Builds and saves the image of each platform, and reads what its base image adds.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { installedPackages } from '../../docker/notices.mjs';

const machines = { x64: 'amd64', arm64: 'arm64' };
/** As the kernel names the emulators of binfmt_misc. */
const emulators = { amd64: 'qemu-x86_64', arm64: 'qemu-aarch64' };

/**
 * Writes `model-router-<version>-<platform>.tar` for each platform that this machine can build. `missing` has a reason
 * for each that it cannot. `packages` are those that the notices and the SBOM name; the images must have the same.
 */
export function buildImages({ version, source, out, platforms, packages }) {
  const tool = process.env.CONTAINER_TOOL ?? ['podman', 'docker'].find(exists);
  const missing = [];
  const images = [];
  let system = [];
  for (const platform of platforms) {
    const reason = tool === undefined ? 'neither podman nor docker is installed' : cannotRun(platform);
    if (reason !== undefined) {
      missing.push(`the image for ${platform}, because ${reason}`);
      continue;
    }
    const suffix = platform.split('/').slice(1).join('-');
    const image = `localhost/model-router:${version}-${suffix}`;
    build(tool, { image, platform, version, source });
    const root = mkdtempSync(path.join(os.tmpdir(), 'model-router-image-'));
    try {
      unpack(tool, image, root);
      const difference = differenceOf(packages, installedPackages(path.join(root, 'app')));
      if (difference.length > 0)
        throw new Error(`the image for ${platform} and the notices differ: ${difference.join(', ')}`);
      // The same packages of Debian for every platform.
      if (system.length === 0) system = systemOf(root);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
    const file = path.join(out, `model-router-${version}-${suffix}.tar`);
    run(tool, ['save', '--output', file, image]);
    images.push(file);
  }
  return { images, missing, system };
}

const exists = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Why programs of the platform cannot run here; undefined if they can. */
function cannotRun(platform) {
  const [system, machine] = platform.split('/');
  if (system !== 'linux' || !(machine in emulators)) return 'the platform is unknown';
  if (machines[process.arch] === machine) return undefined;
  if (existsSync(path.join('/proc/sys/fs/binfmt_misc', emulators[machine]))) return undefined;
  return `this machine is ${machines[process.arch] ?? process.arch} and has no emulator (binfmt_misc ${emulators[machine]})`;
}

function build(tool, { image, platform, version, source }) {
  const facts = {
    VERSION: version,
    GIT_REVISION: source.revision,
    BUILT_AT: source.builtAt,
    BUILD_IMAGE: process.env.BUILD_IMAGE,
    RUN_IMAGE: process.env.RUN_IMAGE,
  };
  const given = Object.entries(facts)
    .filter(([, value]) => value)
    .flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  // Podman's own format has no health check. A release uses no cache: podman 4.3 reuses a label whose argument has changed.
  const format = path.basename(tool) === 'podman' ? ['--format', 'docker', '--layers=false'] : ['--no-cache'];
  const made = ['--platform', platform, '--target', 'router', '--tag', image];
  run(tool, ['build', ...format, ...given, ...made, '--file', 'docker/Dockerfile', '.']);
}

function unpack(tool, image, root) {
  const container = execFileSync(tool, ['create', image], { encoding: 'utf8' }).trim();
  const file = `${root}.tar`;
  try {
    run(tool, ['export', '--output', file, container]);
    run('tar', ['--extract', '--file', file, '--directory', root, '--exclude=dev/*']);
  } finally {
    run(tool, ['rm', container]);
    rmSync(file, { force: true });
  }
}

const keys = (list) => new Set(list.map(({ name, version }) => `${name}@${version}`));

function differenceOf(named, found) {
  const [one, other] = [keys(named), keys(found)];
  return [...one].filter((key) => !other.has(key)).concat([...other].filter((key) => !one.has(key)));
}

/** Node and the Debian packages of the base image: a CycloneDX component and the licence of each. */
export function systemOf(root) {
  const version = nodeVersionOf(root);
  const licence = path.join(root, 'nodejs/LICENSE');
  const node = {
    component: {
      type: 'platform',
      name: 'node',
      version,
      purl: `pkg:generic/node@${version}`,
      'bom-ref': `node@${version}`,
    },
    notice: section(
      `Node.js ${version}`,
      existsSync(licence)
        ? readFileSync(licence, 'utf8')
        : `The image contains no text of its licences. They are at https://github.com/nodejs/node/blob/v${version}/LICENSE`,
    ),
  };
  return [node, ...debianPackages(root)];
}

/** From the binary itself, which states its own version. */
function nodeVersionOf(root) {
  const binary = readFileSync(path.join(root, 'nodejs/bin/node')).toString('latin1');
  const [, version] =
    /node-v(\d+\.\d+\.\d+)\.tar/.exec(binary) ?? /node\/v(\d+\.\d+\.\d+)/.exec(binary) ?? [];
  if (version === undefined) throw new Error('cannot find the version of the image’s Node');
  return version;
}

const fieldOf = (text, name) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1];

/** Distroless images have one file a package in status.d, Debian has them all in status. */
function debianPackages(root) {
  const folder = path.join(root, 'var/lib/dpkg');
  const single = path.join(folder, 'status');
  const several = path.join(folder, 'status.d');
  const texts = [
    ...(existsSync(single) ? readFileSync(single, 'utf8').split(/\n\n+/) : []),
    ...(existsSync(several)
      ? readdirSync(several)
          .filter((name) => !name.endsWith('.md5sums'))
          .map((name) => readFileSync(path.join(several, name), 'utf8'))
      : []),
  ];
  return texts
    .map((text) => ({ name: fieldOf(text, 'Package'), version: fieldOf(text, 'Version') }))
    .filter(({ name, version }) => name !== undefined && version !== undefined)
    .map(({ name, version }) => {
      const file = path.join(root, 'usr/share/doc', name, 'copyright');
      const text = existsSync(file)
        ? readFileSync(file, 'utf8')
        : `The image contains no text of it. It is in the source package of ${name} at https://sources.debian.org`;
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}`;
      return {
        component: { type: 'library', name, version, purl, 'bom-ref': purl },
        notice: section(`Debian package ${name} ${version}`, text),
      };
    });
}

const line = '='.repeat(80);
const section = (title, text) => `${line}\n${title}\n${line}\n\n${text.trim()}\n`;

function run(command, words) {
  execFileSync(command, words, { stdio: ['ignore', 'inherit', 'inherit'], maxBuffer: 2 ** 28 });
}
