import { z } from 'zod';
import { freePort } from './embedded/ports.js';
import { readKept, writeKept } from './kept-file.js';

const schema = z.record(z.string(), z.number().int());

/**
 * The ports of an installation, the same at each start where that is possible: stored results refer to
 * asset URLs with a port in them.
 */
export class KeptPorts {
  private readonly ports: Record<string, number>;

  constructor(private readonly file: string) {
    this.ports = readKept(file, schema) ?? {};
  }

  before(name: string): number | undefined {
    return this.ports[name];
  }

  keep(name: string, port: number): void {
    if (this.ports[name] === port) return;
    this.ports[name] = port;
    writeKept(this.file, this.ports);
  }

  /** The former port when it is free, else another one. */
  async free(name: string): Promise<number> {
    const port = await freePort(this.ports[name]);
    this.keep(name, port);
    return port;
  }
}
