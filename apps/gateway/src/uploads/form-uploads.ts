import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { settlesWithin } from '#observability';
import type { StoredFile } from '#persistence';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { Inject, Injectable } from '@nestjs/common';
import { bodyStream, tooLarge } from '../bodies/body-stream.js';
import type { BodySettings } from '../bodies/settings.js';
import { sendContinue } from '../http/expectations.js';
import { FileUploads } from './file-uploads.js';

/** Maximum length of all texts together, because they are held in memory. */
const maxTextBytes = 256 * 1024;
const limits = {
  parts: 150,
  fieldNameSize: 100,
  fieldSize: maxTextBytes,
  headerPairs: 32,
  headerSize: 8 * 1024,
};
/** Time limit for the store, once the whole form has arrived. */
const storeMs = 600_000;

/** One part of a form. */
type FormPart = { name: string } & ({ text: string } | { file: StoredFile });

interface StoredForm {
  /** In the order of the form. */
  parts: FormPart[];
  /** The SHA-256 of names and contents, which is the same for a repeated form with another boundary. */
  digest: string;
  /** Deletes the files. */
  discard: () => Promise<void>;
}

interface FormTerms {
  workspaceId: string;
  /** Maximum size of the whole body. */
  maxBytes: number;
  /** Whether a part of this name may be a file. */
  takesFile: (name: string) => boolean;
  /** Whether a file of this name is read and left out. */
  ignores?: (name: string) => boolean;
}

/** Reads multipart/form-data: files are streamed into the store, one after the other, and texts are returned. */
@Injectable()
export class FormUploads {
  constructor(
    private readonly uploads: FileUploads,
    @Inject(SETTINGS) private readonly settings: Pick<BodySettings, 'FILE_LIMIT'>,
  ) {}

  /** If the form is rejected or does not arrive as a whole, its files are deleted. */
  async takeForm(request: IncomingMessage, terms: FormTerms): Promise<StoredForm> {
    const parser = parserOf(request, terms);
    const { workspaceId } = terms;
    const limit = Math.min(terms.maxBytes, this.settings.FILE_LIMIT);
    const maxBytes = Number(request.headers['content-length'] ?? limit);
    if (maxBytes > limit) throw tooLarge(limit);
    const form = new ArrivingForm(parser, terms, (bytes, announced) =>
      this.uploads.takeBytes(bytes, { workspaceId, maxBytes, ...announced }),
    );
    sendContinue(request);
    await form.read(bodyStream(request, limit));
    const discard = async () => {
      for (const { key } of form.files) await this.uploads.discard(key);
    };
    if (form.failure === undefined) return { ...form.whole(), discard };
    await discard();
    throw form.failure as Error;
  }
}

/** A file’s type and name, by the word of the caller. */
type Announced = { type: string; fileName: string | undefined };
type Store = (bytes: () => AsyncGenerator<Buffer>, announced: Announced) => Promise<StoredFile>;
type ArrivingPart = { name: string; sha256: string } & ({ text: string } | { file: StoredFile | undefined });

/** A form while it arrives. The first failure ends the parser and all uploads. */
class ArrivingForm {
  readonly files: StoredFile[] = [];
  failure: unknown;
  private readonly parts: ArrivingPart[] = [];
  private readonly streams = new Set<Readable>();
  private readonly isClosed: Promise<void>;
  private lastUpload: Promise<void> = Promise.resolve();
  private textBytes = 0;

  constructor(
    private readonly parser: BusboyInstance,
    private readonly terms: Pick<FormTerms, 'takesFile' | 'ignores'>,
    private readonly store: Store,
  ) {
    this.isClosed = new Promise((resolve) => parser.once('close', resolve).once('finish', resolve));
    parser
      .on('error', () => this.fail(malformed('The form is cut off or malformed.')))
      .on('partsLimit', () => this.fail(malformed(`The form has more than ${limits.parts} parts.`)))
      .on('field', (name, text, _isNameCut, isCut) => this.addText(name, text, isCut))
      .on('file', (name, stream, fileName, _encoding, type) =>
        this.addFile(name, stream, { type, fileName }),
      );
  }

  /** Returns when everything is stored, or nothing more will be. */
  async read(body: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const chunk of body) {
        if (!this.parser.write(chunk)) await Promise.race([isDrained(this.parser), this.isClosed]);
        if (this.failure !== undefined) break;
      }
      this.parser.end();
      if (!(await settlesWithin(this.isClosed, storeMs))) this.fail(tooLate());
    } catch (error) {
      this.fail(error);
    }
    await this.lastUpload;
  }

  whole(): Pick<StoredForm, 'parts' | 'digest'> {
    const parts = this.parts.flatMap((part): FormPart[] => {
      const { name } = part;
      if ('text' in part) return [{ name, text: part.text }];
      return part.file ? [{ name, file: part.file }] : [];
    });
    const facts = this.parts.map((part) => [part.name, 'text' in part, part.sha256]);
    return { parts, digest: createHash('sha256').update(JSON.stringify(facts)).digest('hex') };
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    for (const stream of this.streams) stream.destroy(this.failure as Error);
    this.parser.destroy();
  }

  private addText(name: unknown, text: string, isCut: boolean): void {
    this.textBytes += Buffer.byteLength(text);
    if (!isName(name)) return this.fail(badName());
    if (isCut || this.textBytes > maxTextBytes)
      return this.fail(malformed(`The form has more than ${maxTextBytes} bytes of text.`));
    this.parts.push({ name, text, sha256: createHash('sha256').update(text).digest('hex') });
  }

  private addFile(name: unknown, stream: Readable, announced: Announced): void {
    // Destroying a stream that nobody reads yet must not end the process.
    stream.on('error', () => {});
    if (this.failure === undefined && isName(name) && this.terms.takesFile(name))
      return this.upload(name, stream, announced);
    stream.resume();
    if (isName(name) && this.terms.ignores?.(name) === true) return;
    this.fail(
      isName(name) ? malformed(`The form has a file in ${name}, which does not take one.`) : badName(),
    );
  }

  private upload(name: string, stream: Readable, announced: Announced): void {
    this.streams.add(stream);
    const part = { name, file: undefined as StoredFile | undefined, sha256: '' };
    this.parts.push(part);
    const upload = async () => {
      const hash = createHash('sha256');
      part.file = await this.store(() => chunksOf(stream, hash), announced);
      part.sha256 = hash.digest('hex');
      this.files.push(part.file);
    };
    this.lastUpload = this.lastUpload.then(upload).catch((error: unknown) => this.fail(error));
  }
}

function parserOf({ headers }: IncomingMessage, { takesFile }: FormTerms): BusboyInstance {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (!/^multipart\/form-data\s*(;|$)/i.test(type) || encoding.toLowerCase() !== 'identity')
    throw new RouterError(
      'invalid_input',
      'The body must be sent as multipart/form-data, without a Content-Encoding.',
      { status: 415 },
    );
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits,
      isPartAFile: (name = '', partType, fileName) =>
        fileName !== undefined || (partType !== 'text/plain' && takesFile(name)),
    });
  } catch {
    throw malformed('The form has no boundary in its Content-Type.');
  }
}

async function* chunksOf(
  stream: Readable,
  hash: { update: (chunk: Buffer) => unknown },
): AsyncGenerator<Buffer> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
}

const isDrained = (parser: BusboyInstance) => new Promise<void>((resolve) => parser.once('drain', resolve));

/** Browsers escape quotes and line breaks; no vendor has a name with other characters. */
const isName = (name: unknown): name is string => typeof name === 'string' && /^[\w.[\]-]{1,100}$/.test(name);

const malformed = (detail: string) => new RouterError('invalid_input', detail);

const badName = () => malformed('The form has a part without a usable name.');

const tooLate = () =>
  new RouterError('service_unavailable', 'The form could not be stored in time; retry later.');
