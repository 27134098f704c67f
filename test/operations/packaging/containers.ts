import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { buildImage, packageCache, runImage, storageFlags } from '../../harness/image-storage.js';
import { filesBelow, pathOf, textOf } from '../../documents/checkout-files.js';

const execute = promisify(execFile);
// When a container hits its memory limit, conmon leaves a file in the folder where it was started.
const options = { maxBuffer: 2 ** 26, timeout: 900_000, cwd: packageCache };

const repository = 'localhost/model-router';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a podman command on the storage of the tests. */
export const podman = (...words: string[]): Promise<Ended> =>
  execute('podman', ['--runtime', 'runc', ...storageFlags, ...words], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code?: number; stdout?: string; stderr?: string }) => {
      if (typeof error.code !== 'number') throw error;
      return { code: error.code, stdout: error.stdout ?? '', stderr: error.stderr ?? '' };
    },
  );

/** The output of a command, which must succeed. */
export async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await podman(...words);
  if (code !== 0) throw new Error(`podman ${words.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** The images that docker/Dockerfile builds, by stage. */
interface Images {
  router: string;
  simulator: string;
}

/** Builds the images of docker/Dockerfile unless they exist for the same files, and returns their names. */
export async function builtImages(): Promise<Images> {
  const names = [
    '.dockerignore',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ];
  const folders = ['apps', 'docker', 'libs'].flatMap(filesBelow).filter((name) => !name.endsWith('.spec.ts'));
  const digest = createHash('sha256');
  for (const name of [...names, ...folders]) digest.update(`${name}\n`).update(textOf(name));
  const tag = digest.digest('hex').slice(0, 16);
  const images = { router: `${repository}:${tag}`, simulator: `${repository}-simulator:${tag}` };
  if ((await podman('image', 'exists', images.simulator)).code !== 0) {
    await build('router', images.router);
    await build('simulator', images.simulator);
    await removeAllBut(Object.values(images));
  }
  return images;
}

async function build(target: string, image: string): Promise<void> {
  const bases = [`BUILD_IMAGE=${buildImage}`, `RUN_IMAGE=${runImage}`];
  const words = bases.flatMap((base) => ['--build-arg', base]);
  // The OCI format has no health check. A separate container per step fails if this already is a container.
  const kind = ['--format', 'docker', '--isolation', 'chroot', '--volume', `${packageCache}:/root/.npm`];
  // With layers, the second target reuses what the first one compiled.
  const made = ['--layers', '--target', target, '--tag', image];
  const file = ['--file', pathOf('docker/Dockerfile'), ...made, pathOf('.')];
  await execute('buildah', [...storageFlags, 'bud', ...kind, ...words, ...file], options);
}

async function removeAllBut(images: readonly string[]): Promise<void> {
  const filter = ['--filter', `reference=${repository}`, '--filter', `reference=${repository}-simulator`];
  const former = await outputOf('images', ...filter, '--format', '{{.Repository}}:{{.Tag}}');
  // An image that another checkout is running is kept.
  for (const name of former.split('\n')) if (!images.includes(name)) await podman('rmi', name);
  await podman('image', 'prune', '--force');
}

/** As restricted as the pods of k8s/base. */
export const confined = `--network host --read-only --read-only-tmpfs=false --user 65532:65532 --cap-drop all
  --security-opt no-new-privileges --memory 512m --memory-swap 512m
  --ulimit nofile=4096:4096 --ulimit nproc=4096:4096`.split(/\s+/);

export const variables = (env: Record<string, string>): string[] =>
  Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
