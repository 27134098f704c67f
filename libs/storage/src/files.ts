import { randomUUID } from 'node:crypto';
import {
  type FileHandle,
  mkdir,
  open,
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
import { endedBy } from './ended-by.js';
import { listFiles, reserved, unlessGone } from './file-listing.js';
import { checkKey, checkPrefix } from './keys.js';
import { MeasuredBody } from './measured-body.js';
import {
  type Asset,
  type AssetStore,
  type Body,
  type ListedAsset,
  type OpenAsset,
  type PutFacts,
  StorageError,
  type Stored,
} from './port.js';

interface FilesStoreOptions {
  root: string;
  /** What the signed URLs start with; its `/assets/` route is expected to answer with `openSigned`. */
  baseUrl: string;
  /** The newest first. */
  secrets: string[];
}

/**
 * Assets as files: the key is the path below the root, the media type lies beside it in `<name>~type`.
 * Several processes of one machine may share the root.
 */
export class FilesStore implements AssetStore {
  readonly kind = 'files';
  readonly putMemoryBytes = 1024 * 1024;
  private readonly root: string;
  private readonly incoming: string;

  constructor(private readonly options: FilesStoreOptions) {
    this.root = path.resolve(options.root);
    this.incoming = path.join(this.root, `${reserved}incoming`);
  }

  async put(key: string, body: Body, facts: PutFacts): Promise<Stored> {
    checkKey(key);
    const arriving = path.join(this.incoming, randomUUID());
    const measured = new MeasuredBody(body, facts);
    try {
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      await writeSynced(arriving, measured.chunks());
      facts.signal.throwIfAborted();
      await this.moveInto(this.pathOf(key), arriving, facts.mediaType);
      return measured.stored();
    } catch (error) {
      await Promise.allSettled([arriving, typeOf(arriving)].map((file) => rm(file, { force: true })));
      facts.signal.throwIfAborted();
      measured.throwIfFailed();
      throw folderFailed(error, key);
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

  async delete(keys: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const key of keys) {
      checkKey(key);
      signal.throwIfAborted();
      const file = this.pathOf(key);
      try {
        await unlessGone(rm(file));
        await unlessGone(rm(typeOf(file)));
      } catch (error) {
        throw folderFailed(error, key);
      }
      await this.removeEmptyFolders(path.dirname(file));
    }
  }

  list(prefix: string, signal: AbortSignal): AsyncIterable<ListedAsset> {
    checkPrefix(prefix);
    return listFiles(this.root, prefix, signal);
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

  async healthy(signal: AbortSignal): Promise<boolean> {
    const probe = path.join(this.incoming, `${randomUUID()}${reserved}probe`);
    try {
      signal.throwIfAborted();
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      await writeFile(probe, '', { signal });
      await rm(probe);
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {}

  private async open(key: string, signal: AbortSignal): Promise<OpenAsset> {
    checkKey(key);
    signal.throwIfAborted();
    const file = this.pathOf(key);
    let handle: FileHandle | undefined;
    try {
      handle = await open(file, 'r');
      const facts = await handle.stat();
      if (!facts.isFile()) throw new StorageError('not_found', `No asset ${key}`);
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
      throw readFailure(error, key);
    }
  }

  private pathOf(key: string): string {
    return path.join(this.root, ...key.split('/'));
  }

  /** The bytes come last: whoever sees them sees their media type. */
  private async moveInto(file: string, arriving: string, mediaType: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await writeFile(typeOf(arriving), mediaType, { mode: 0o600 });
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        await rename(typeOf(arriving), typeOf(file));
        await rename(arriving, file);
        return;
      } catch (error) {
        // Between two of the calls a delete may have removed the folder, which was empty.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 5) throw placeFailure(error);
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

/** On the disk before it gets its name: a row that points to it must not outlive it in a power failure. */
async function writeSynced(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await handle.appendFile(chunk);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** What the file system said, in the words of the port. */
function folderFailed(error: unknown, key: string): unknown {
  if (error instanceof StorageError) return error;
  return new StorageError('unavailable', `The asset folder failed at ${key}`, { cause: error });
}

function readFailure(error: unknown, key: string): unknown {
  if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return folderFailed(error, key);
  return new StorageError('not_found', `No asset ${key}`, { cause: error });
}

/** Of the step that puts a file into its place: a key in the way of another one. */
function placeFailure(error: unknown): unknown {
  if (!['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY'].includes(codeOf(error))) return error;
  return new StorageError('bad_key', 'A key is the folder of another key', { cause: error });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
