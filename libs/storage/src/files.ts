import { randomUUID } from 'node:crypto';
import {
  type FileHandle,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { type AssetUrlClaim, signAssetUrl, signedSeconds, verifyAssetUrl } from './asset-url.js';
import { endedBy, MeasuredBody } from './bodies.js';
import { checkKey } from './keys.js';
import {
  type Asset,
  type AssetStore,
  type Body,
  type ListedAsset,
  type OpenAsset,
  type PutFacts,
  StorageError,
} from './port.js';

/** Appears in the names of the store's own files and folders, and never in a key. */
const reserved = '~';

interface FilesStoreOptions {
  root: string;
  /** Base of the signed URLs. Its `/assets/` route must answer through `openSigned`. */
  baseUrl: string;
  /** Newest first. */
  secrets: string[];
}

/**
 * Stores assets as files. The key is the path below the root, and the media type is stored beside it in
 * `<name>~type`. Several processes on one machine may share the root.
 */
export class FilesStore implements AssetStore {
  readonly putMemoryBytes = 1024 * 1024;
  private readonly root: string;
  private readonly incoming: string;

  constructor(private readonly options: FilesStoreOptions) {
    this.root = path.resolve(options.root);
    this.incoming = path.join(this.root, `${reserved}incoming`);
  }

  async put(key: string, body: Body, facts: PutFacts): Promise<number> {
    checkKey(key);
    const arriving = path.join(this.incoming, randomUUID());
    const measured = new MeasuredBody(body, facts);
    try {
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      // Synced before it gets its final name: a power failure must not leave a row that points to a lost
      // file.
      await writeFile(arriving, measured.chunks(), { flag: 'wx', mode: 0o600, flush: true });
      facts.signal.throwIfAborted();
      await this.moveInto(this.pathOf(key), arriving, facts.mediaType);
      return measured.bytes;
    } catch (error) {
      await Promise.allSettled([arriving, typeOf(arriving)].map((file) => rm(file, { force: true })));
      measured.throwIfFailed();
      throw folderFailure(error, key);
    }
  }

  async get(key: string, signal: AbortSignal): Promise<Asset> {
    const asset = await this.open(key, signal);
    return { mediaType: asset.mediaType, bytes: asset.bytes, body: asset.read() };
  }

  async openSigned(claim: AssetUrlClaim, { nowMs, signal }: { nowMs: number; signal: AbortSignal }) {
    if (!verifyAssetUrl(claim, { secrets: this.options.secrets, nowMs })) {
      throw new StorageError('not_found', 'The asset URL is forged or has expired');
    }
    return this.open(claim.key, signal);
  }

  async delete(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (const key of keys) {
      checkKey(key);
      signal.throwIfAborted();
      const file = this.pathOf(key);
      try {
        await unlessGone(rm(file));
        await unlessGone(rm(typeOf(file)));
      } catch (error) {
        throw folderFailure(error, key);
      }
      await this.removeEmptyFolders(path.dirname(file));
    }
  }

  /** Reads the folder entry by entry, since it may hold a million runs. Leaving the loop closes it. */
  async *list(folder: string, signal: AbortSignal): AsyncGenerator<ListedAsset> {
    for await (const entry of (await unlessGone(opendir(path.join(this.root, folder)))) ?? []) {
      signal.throwIfAborted();
      const key = folder + entry.name;
      if (entry.isDirectory()) yield* this.list(`${key}/`, signal);
      else if (!key.includes(reserved)) {
        const facts = await unlessGone(stat(path.join(this.root, key)));
        if (facts) yield { key, bytes: facts.size, storedAtMs: facts.mtimeMs };
      }
    }
  }

  async sign(key: string, life: { expiresInSeconds: number; nowMs: number }): Promise<string> {
    checkKey(key);
    const expiresAtSeconds = Math.floor(life.nowMs / 1000) + signedSeconds(life.expiresInSeconds);
    return signAssetUrl(key, { ...this.options, expiresAtSeconds });
  }

  async abortStale(startedBeforeMs: number, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of (await unlessGone(readdir(this.incoming))) ?? []) {
      signal.throwIfAborted();
      const file = path.join(this.incoming, name);
      const facts = await unlessGone(stat(file));
      if (!facts || facts.mtimeMs >= startedBeforeMs) continue;
      await rm(file, { force: true });
      if (!name.includes(reserved)) removed += 1;
    }
    return removed;
  }

  async close(): Promise<void> {}

  private async open(key: string, signal: AbortSignal): Promise<OpenAsset> {
    checkKey(key);
    signal.throwIfAborted();
    const file = this.pathOf(key);
    let handle: FileHandle | undefined;
    try {
      handle = await unlessGone(open(file, 'r'));
      const facts = await handle?.stat();
      if (!handle || !facts?.isFile()) throw new StorageError('not_found', `No asset ${key}`);
      const mediaType = (await unlessGone(readFile(typeOf(file), 'utf8'))) ?? 'application/octet-stream';
      const opened = handle;
      return {
        mediaType,
        bytes: facts.size,
        version: `${facts.size.toString(36)}-${facts.mtimeMs.toString(36)}`,
        read: (range) => endedBy(signal, opened.createReadStream(range)),
        close: () => opened.close(),
      };
    } catch (error) {
      await handle?.close().catch(() => {});
      throw folderFailure(error, key);
    }
  }

  private pathOf(key: string): string {
    return path.join(this.root, ...key.split('/'));
  }

  /** Moves the bytes last, so that a reader that finds them also finds their media type. */
  private async moveInto(file: string, arriving: string, mediaType: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await writeFile(typeOf(arriving), mediaType, { mode: 0o600 });
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await rename(typeOf(arriving), typeOf(file));
        await rename(arriving, file);
        return;
      } catch (error) {
        // A concurrent delete may have removed the folder while it was empty.
        if (codeOf(error) !== 'ENOENT' || attempt === 5) throw error;
      }
    }
  }

  private async removeEmptyFolders(lowest: string): Promise<void> {
    for (let folder = lowest; folder !== this.root; folder = path.dirname(folder)) {
      try {
        await rmdir(folder);
      } catch {
        return;
      }
    }
  }
}

const typeOf = (file: string): string => `${file}${reserved}type`;

/** Undefined if the file does not exist, or another process has removed it meanwhile. */
async function unlessGone<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** Converts an error of the file system to a `StorageError`. */
function folderFailure(error: unknown, key: string): unknown {
  if (error instanceof StorageError) return error;
  return new StorageError('unavailable', `The asset folder failed at ${key}`, { cause: error });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
