import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { buildImage, packageCache, runImage, storageFlags } from '../../harness/image-storage.js';
import { filesBelow, pathOf, textOf } from '../../documents/checkout-files.js';

const execute = promisify(execFile);
// conmon leaves a file where it was started when a container hits its memory limit.
const options = { maxBuffer: 2 ** 26, timeout: 900_000, cwd: packageCache };

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command of podman on the storage of the tests. */
export const podman = (...words: string[]): Promise<Ended> =>
  execute('podman', ['--runtime', 'runc', ...storageFlags, ...words], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code?: number; stdout?: string; stderr?: string }) => {
      if (typeof error.code !== 'number') throw error;
      return { code: error.code, stdout: error.stdout ?? '', stderr: error.stderr ?? '' };
    },
  );

/** Of a command that has to succeed. */
export async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await podman(...words);
  if (code !== 0) throw new Error(`podman ${words.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** The image of docker/Dockerfile, built unless it was built of the same files before; answers its name. */
export async function builtImage(): Promise<string> {
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
  const image = `localhost/model-router:${digest.digest('hex').slice(0, 16)}`;
  if ((await podman('image', 'exists', image)).code !== 0) await build(image);
  return image;
}

async function build(image: string): Promise<void> {
  const bases = [`BUILD_IMAGE=${buildImage}`, `RUN_IMAGE=${runImage}`];
  const words = bases.flatMap((base) => ['--build-arg', base]);
  // OCI's format has no health check. A container for each step would be refused where this is a container itself.
  const kind = ['--format', 'docker', '--isolation', 'chroot', '--volume', `${packageCache}:/root/.npm`];
  const file = ['--file', pathOf('docker/Dockerfile'), '--tag', image, pathOf('.')];
  await execute('buildah', [...storageFlags, 'bud', ...kind, ...words, ...file], options);
  const former = await outputOf(
    'images',
    '--filter',
    'reference=localhost/model-router',
    '--format',
    '{{.Repository}}:{{.Tag}}',
  );
  // One that another checkout runs at the moment is kept.
  for (const name of former.split('\n')) if (name !== image) await podman('rmi', name);
  await podman('image', 'prune', '--force');
}

/** As restricted as the pods of k8s/base. */
export const confined = `--network host --read-only --read-only-tmpfs=false --user 65532:65532 --cap-drop all
  --security-opt no-new-privileges --memory 512m --memory-swap 512m
  --ulimit nofile=4096:4096 --ulimit nproc=4096:4096`.split(/\s+/);

export const variables = (env: Record<string, string>): string[] =>
  Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
