import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathOf } from '../../documents/checkout-files.js';
import { copied, readDockerfile, type Instruction } from './dockerfile.js';

export interface Image {
  /** The folder that holds what the image holds. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  entrypoint: string[];
  user: { uid: number; gid: number };
}

/**
 * Carries out a Dockerfile as far as that goes without a container: copies are copies, commands run in the stage's
 * folder. What they would fetch or compile is there already: packages are the installed ones, the build is `dist`.
 */
export function layOut(dockerfile: string, stageName: string, folder: string): Image {
  const { stages } = readDockerfile(dockerfile);
  const done = new Map<string, Image>();
  const imageOf = (name: string): Image | undefined => {
    const stage = stages.find((each) => each.name === name);
    const known = done.get(name);
    if (known ?? !stage) return known;
    // A stage continues in the folder of its base: of those that share one, only what is asked for is made.
    const image = imageOf(stage.base) ?? emptyImage(path.join(folder, name));
    for (const instruction of stage.instructions) carryOut(instruction, image, imageOf);
    done.set(name, image);
    return image;
  };
  const image = imageOf(stageName);
  if (!image) throw new Error(`${dockerfile} has no stage ${stageName}`);
  return image;
}

function emptyImage(root: string): Image {
  mkdirSync(root);
  return { root, workdir: '/', env: {}, entrypoint: [], user: { uid: 0, gid: 0 } };
}

type ImageOf = (stage: string) => Image | undefined;

function carryOut({ keyword, rest }: Instruction, image: Image, imageOf: ImageOf): void {
  switch (keyword) {
    case 'WORKDIR':
      image.workdir = rest;
      mkdirSync(inside(image, rest), { recursive: true });
      return;
    case 'COPY':
      copy(rest, image, imageOf);
      return;
    case 'RUN':
      for (const command of rest.split(' && ')) run(command, inside(image, '.'));
      return;
    case 'ENV': {
      const [name = '', ...value] = rest.split('=');
      image.env[name] = value.join('=');
      return;
    }
    case 'ENTRYPOINT':
      image.entrypoint = JSON.parse(rest) as string[];
      return;
    case 'USER': {
      const [uid, gid] = rest.split(':').map(Number);
      if (!uid || !gid) throw new Error(`no ids without rights: USER ${rest}`);
      image.user = { uid, gid };
    }
  }
}

function copy(rest: string, image: Image, imageOf: ImageOf): void {
  const { from, sources, target, owner } = copied({ keyword: 'COPY', rest });
  const origin = from === undefined ? undefined : imageOf(from);
  for (const source of sources) {
    const file = origin ? inside(origin, source) : pathOf(source);
    const into = inside(image, target);
    // As Docker has it: of a folder its content, and a file keeps its name where the target is a folder.
    if (statSync(file).isDirectory()) linked(file, into);
    else cpSync(file, target.endsWith('/') ? path.join(into, path.basename(source)) : into);
    if (owner !== undefined && process.getuid?.() === 0) {
      const [uid = 0, gid = 0] = owner.split(':').map(Number);
      chownSync(into, uid, gid);
    }
  }
}

function run(command: string, folder: string): void {
  if (command === 'npm run build') linked(pathOf('dist'), path.join(folder, 'dist'));
  else if (!command.startsWith('npm ci ')) execFileSync('sh', ['-ec', command], { cwd: folder });
  // With its tools the stage only builds, and that was done.
  else if (command.includes('--omit=dev')) installProduction(folder);
}

interface Locked {
  packages: Record<string, { dev?: true; optional?: true; devOptional?: true }>;
}

/** What `npm ci --omit=dev --omit=optional` leaves. */
function installProduction(folder: string): void {
  const { packages } = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as Locked;
  const wanted = Object.entries(packages)
    // Packages below another one come along with it.
    .filter(([name]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(name))
    .filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional);
  link(['--parents', ...wanted.map(([name]) => name), folder], pathOf('.'));
}

/** The contents of a folder into another one. */
function linked(folder: string, target: string): void {
  mkdirSync(target, { recursive: true });
  link([`${folder}/.`, target], '/');
}

/** As links of the same files where it is the same file system. */
function link(words: string[], cwd: string): void {
  try {
    execFileSync('cp', ['-al', ...words], { cwd, stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', ...words], { cwd });
  }
}

/** A place in the image; what is not absolute starts at its working directory. */
const inside = ({ root, workdir }: Image, name: string): string =>
  path.join(root, path.resolve(workdir, name));
