import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { trackChild } from '../../harness/index.js';
import type { Image } from './laid-out.js';

/** How near to a container this machine lets a process come. */
type Nearness = 'alone with the image, read-only' | 'without rights' | 'as oneself';

export function nearness(): Nearness {
  if (process.getuid?.() !== 0) return 'as oneself';
  const tried = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return tried.status === 0 ? 'alone with the image, read-only' : 'without rights';
}

/**
 * Makes a read-only root of the image and what its base image would bring: Node under the name that it has there, and
 * the libraries that it is linked with; no shell. Only the volume can be written to. The mounts end with the process.
 */
const enter = `
  root=$1 volume=$2 node=$3 workdir=$4 uid=$5 gid=$6; shift 6
  mount --bind "$root" "$root"
  mount --bind "$node" "$root/nodejs/bin/node"
  mount --bind -o ro /usr/lib "$root/usr/lib"
  if [ -d /usr/lib64 ]; then mount --bind -o ro /usr/lib64 "$root/usr/lib64"; fi
  mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
  mount --bind "$volume" "$root/assets"
  mount -o remount,bind,ro "$root"
  exec setpriv --no-new-privs unshare --root="$root" --wd="$workdir" --setgid="$gid" --setuid="$uid" "$@"`;

export interface Container {
  /** The path of its volume, as processes in it say it. */
  assets: string;
  start(words: string[], env: Record<string, string>): ChildProcess;
  run(
    words: string[],
    env: Record<string, string>,
  ): { status: number | null; stdout: string; stderr: string };
}

/** Where commands run on a laid out image, as near to a container as may be. */
export function container(image: Image, near: Nearness): Container {
  const { root, workdir, user } = image;
  const volume = `${root}-assets`;
  mkdirSync(volume);
  if (near !== 'as oneself') chownSync(volume, user.uid, user.gid);
  const chrooted = near === 'alone with the image, read-only';
  if (chrooted) prepareRoot(root);

  const command = (words: string[], env: Record<string, string>) => ({
    program: chrooted ? 'unshare' : process.execPath,
    words: chrooted
      ? [
          '--mount',
          'sh',
          '-ec',
          enter,
          'sh',
          root,
          volume,
          process.execPath,
          workdir,
          `${user.uid}`,
          `${user.gid}`,
          ...words,
        ]
      : words.slice(1),
    options: {
      env: { ...image.env, ...env },
      ...(!chrooted && { cwd: path.join(root, workdir) }),
      ...(near === 'without rights' && user),
    },
  });
  return {
    assets: chrooted ? '/assets' : volume,
    start: (words, env) => {
      const made = command(words, env);
      const child = spawn(made.program, made.words, {
        ...made.options,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      trackChild(child, 'contained program');
      return child;
    },
    run: (words, env) => {
      const made = command(words, env);
      const { status, stdout, stderr } = spawnSync(made.program, made.words, {
        ...made.options,
        encoding: 'utf8',
        timeout: 150_000,
      });
      return { status, stdout, stderr };
    },
  };
}

function prepareRoot(root: string): void {
  chmodSync(root, 0o755);
  for (const name of ['usr/lib', 'usr/lib64', 'proc', 'nodejs/bin', 'tmp']) {
    mkdirSync(path.join(root, name), { recursive: true });
  }
  chmodSync(path.join(root, 'tmp'), 0o1777);
  writeFileSync(path.join(root, 'nodejs/bin/node'), '');
  for (const name of ['lib', 'lib64']) symlinkSync(`usr/${name}`, path.join(root, name));
}
