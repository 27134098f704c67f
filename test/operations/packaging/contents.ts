import { lstatSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

interface Contents {
  /** Executable files, except libraries. */
  programs: string[];
  /** Installed packages, as package-lock.json names them. */
  packages: string[];
  maps: string[];
  /** The largest packages, with their kilobytes. */
  largest: string[];
  megabytes: { image: number; packages: number };
}

/** The contents of an image's root. */
export function contents(root: string): Contents {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() || (entry.isSymbolicLink() && entry.name !== 'lib' && entry.name !== 'lib64'),
    )
    .map((entry) => path.join(entry.parentPath, entry.name));
  const names = files.map((file) => path.relative(root, file));
  const bytes = (list: readonly string[]) =>
    list.reduce((sum, name) => sum + lstatSync(path.join(root, name)).size, 0);
  const inPackages = names.filter((name) => name.startsWith('app/node_modules/'));
  const packages = [...new Set(inPackages.map(packageOf))];
  const sizes = packages.map((name) => ({
    name,
    bytes: bytes(inPackages.filter((file) => packageOf(file) === name)),
  }));
  return {
    programs: names
      .filter((name) => !name.startsWith('app/') && !/\.so[.\d]*$/.test(name))
      .filter((name) => (statSync(path.join(root, name)).mode & 0o111) !== 0)
      .map((name) => `/${name}`),
    packages: packages.map((name) => name.slice('app/'.length)),
    maps: inPackages.filter((name) => name.endsWith('.map') || name.endsWith('.d.ts')),
    largest: sizes
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, 8)
      .map(
        ({ name, bytes: size }) => `${name.replace(/^.*node_modules\//, '')} ${Math.round(size / 1e3)} kB`,
      ),
    megabytes: { image: megabytes(bytes(names)), packages: megabytes(bytes(inPackages)) },
  };
}

/** The folder of the package that a file belongs to. */
const packageOf = (name: string): string => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
