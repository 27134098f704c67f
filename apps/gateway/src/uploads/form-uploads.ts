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

const limits = {
  parts: 150,
  fieldNameSize: 100,
  fieldSize: 256 * 1024,
  headerPairs: 32,
  headerSize: 8 * 1024,
};
/** Maximum length of all texts together, because they are held in memory. */
const maxTextBytes = 1024 * 1024;
/** Time limit for the store, once the whole form has arrived. */
const storeMs = 600_000;

/** One part of a form. */
export type FormPart = { name: string } & ({ text: string } | { file: StoredFile });

export interface StoredForm {
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
}

type OpenPart = { name: string } & ({ text: string } | { file: Promise<StoredFile>; digest: () => string });

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
    const maxBytes = Math.min(terms.maxBytes, this.settings.FILE_LIMIT);
    const announced = Number(request.headers['content-length'] ?? maxBytes);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const parts: OpenPart[] = [];
    const streams = new Set<Readable>();
    let textBytes = 0;
    let failure: unknown;
    const fail = (error: unknown) => {
      failure ??= error;
      for (const stream of streams) stream.destroy(failure as Error);
      parser.destroy();
    };
    const isClosed = new Promise<void>((resolve) => parser.once('close', resolve).once('finish', resolve));
    let lastUpload: Promise<unknown> = Promise.resolve();
    parser
      .on('error', () => fail(malformed('is cut off or malformed')))
      .on('partsLimit', () => fail(malformed(`has more than ${limits.parts} parts`)))
      .on('field', (name, text, isNameCut, isCut) => {
        textBytes += Buffer.byteLength(text);
        if (!isName(name) || isNameCut) fail(badName());
        else if (isCut || textBytes > maxTextBytes) fail(malformed(`has too long a text in ${name}`));
        else parts.push({ name, text });
      })
      .on('file', (name, stream, _fileName, _encoding, type) => {
        // Destroying a stream that nobody reads yet must not end the process.
        stream.on('error', () => {});
        if (failure !== undefined) return void stream.resume();
        if (!isName(name)) return fail(badName());
        if (!terms.takesFile(name)) return fail(malformed(`has a file in ${name}, which does not take one`));
        streams.add(stream);
        const hash = createHash('sha256');
        const file = lastUpload.then(() =>
          this.uploads.takeBytes(() => chunksOf(stream, hash), { workspaceId, maxBytes: announced, type }),
        );
        lastUpload = file.catch(fail);
        parts.push({ name, file, digest: () => hash.digest('hex') });
      });
    sendContinue(request);
    try {
      for await (const chunk of bodyStream(request, maxBytes)) {
        if (!parser.write(chunk)) await Promise.race([isDrained(parser), isClosed]);
        if (failure !== undefined) break;
      }
      parser.end();
      if (!(await settlesWithin(isClosed, storeMs))) fail(malformed('could not be stored in time'));
    } catch (error) {
      fail(error);
    }
    await lastUpload;
    const discard = async () => {
      for (const part of parts) {
        if (!('file' in part)) continue;
        const file = await part.file.catch(() => undefined);
        if (file) await this.uploads.discard(file.key);
      }
    };
    if (failure === undefined) return { ...(await settled(parts)), discard };
    await discard();
    throw failure as Error;
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
    throw malformed('has no boundary in its Content-Type');
  }
}

async function settled(parts: readonly OpenPart[]): Promise<Pick<StoredForm, 'parts' | 'digest'>> {
  const hash = createHash('sha256');
  const all: FormPart[] = [];
  for (const part of parts) {
    const { name } = part;
    if ('file' in part) all.push({ name, file: await part.file });
    else all.push(part);
    hash.update(JSON.stringify('file' in part ? [name, { sha256: part.digest() }] : [name, part.text]));
  }
  return { parts: all, digest: hash.digest('hex') };
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

const malformed = (how: string) => new RouterError('invalid_input', `The form ${how}.`);

const badName = () => malformed('has a part without a usable name');
