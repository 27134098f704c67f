import path from 'node:path';
import { parse } from 'yaml';
import { textOf } from '../../documents/checkout-files.js';

export interface Service {
  image: string;
  build?: { target: string };
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  read_only?: boolean;
  user?: string;
  restart?: string;
  stop_grace_period?: string;
  cap_drop?: string[];
  security_opt?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
}

interface Composition {
  services: Record<string, Service>;
  volumes: Record<string, null>;
}

const file = 'docker/compose.yaml';

/** As written, and with its variables filled in: `given`, or their defaults. */
export const written = parse(textOf(file), { merge: true }) as Composition;

export function composed(given: Readonly<Record<string, string>>): Composition {
  const text = textOf(file).replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind = '', rest = '') => {
      const value = given[name] ?? (kind === '-' ? String(rest) : undefined);
      if (value === undefined) throw new Error(`${name} is not set: ${rest}`);
      return value;
    },
  );
  return parse(text, { merge: true }) as Composition;
}

/** The variables that must be set before anything starts. */
export const demanded = [
  ...new Set([...textOf(file).matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name)),
].sort();

/** The mounts of a service from the checkout: the path here, and the path in the container. */
export const mounts = ({ volumes = [] }: Service): { here: string; there: string; mode: string }[] =>
  volumes
    .map((volume) => volume.split(':'))
    .filter(([from = '']) => from.startsWith('.'))
    .map(([from = '', there = '', mode = '']) => ({ here: path.join('docker', from), there, mode }));
