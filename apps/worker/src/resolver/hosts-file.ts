import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Entries beyond this many bytes are not read. */
const maxBytes = 1024 * 1024;
/** A changed file is noticed within this time. */
const checkEveryMs = 5_000;

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * The names in the machine's hosts file, where Kubernetes writes a pod's `hostAliases`. c-ares queries DNS
 * servers only, so this class reads the file itself, and again whenever it changes.
 */
export class HostsFile {
  private addresses: ReadonlyMap<string, readonly LookupAddress[]> = new Map();
  private version = '';
  private checkedAtMs = -Infinity;
  private checking: Promise<void> | undefined;

  constructor(
    private readonly path = '/etc/hosts',
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Empty if the file does not list the name. `localhost` and its subdomains need no entry. */
  async addressesOf(name: string): Promise<readonly LookupAddress[]> {
    if (this.nowMs() - this.checkedAtMs >= checkEveryMs)
      await (this.checking ??= this.check().finally(() => (this.checking = undefined)));
    const key = name.toLowerCase();
    return this.addresses.get(key) ?? (/^(.+\.)?localhost$/.test(key) ? loopback : []);
  }

  /** If the file cannot be read, the entries stay as they were. */
  private async check(): Promise<void> {
    this.checkedAtMs = this.nowMs();
    try {
      const { mtimeMs, size, ino } = await stat(this.path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version === this.version) return;
      this.addresses = parseHosts((await readFile(this.path)).toString('utf8', 0, maxBytes));
      this.version = version;
    } catch {
      this.version = '';
    }
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const addresses = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      addresses.set(key, [...(addresses.get(key) ?? []), { address, family }]);
    }
  }
  return addresses;
}
