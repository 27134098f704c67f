import { AbortMultipartUploadCommand, type S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';
import { dispositionOf } from './disposition.js';

/** Longer bodies are uploaded in parts of this size: S3 takes no smaller ones. */
const partBytes = 5 * 1024 * 1024;
const partsInFlight = 2;
/** Beside the parts in flight, the next one and what it is made of. */
export const uploadMemoryBytes = (partsInFlight + 2) * partBytes;

/** After the signal has ended, how long S3 has to answer what cannot be left halfway. */
const graceMs = 5_000;

interface UploadTarget {
  at: { Bucket: string; Key: string };
  mediaType: string;
  chunks: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}

/**
 * One call for a short body, a multipart upload for a long one; its parts are aborted when anything fails.
 * Only the transfer of a part is cut at once by the signal. The beginning of a multipart upload, and the
 * call that commits, get a moment to be answered: cut short, nobody would know what they left behind.
 */
export async function upload(
  client: S3Client,
  { at, mediaType, chunks, signal }: UploadTarget,
): Promise<void> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => late.abort(signal.reason), graceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const signalOf = (command: unknown) => {
    if (command instanceof UploadPartCommand) return signal;
    return command instanceof AbortMultipartUploadCommand ? AbortSignal.timeout(graceMs) : late.signal;
  };
  const send = (command: Parameters<S3Client['send']>[0]) =>
    client.send(command, { abortSignal: signalOf(command) });
  try {
    await new Upload({
      client: Object.create(client, { send: { value: send } }) as S3Client,
      params: {
        ...at,
        ContentType: mediaType,
        ContentDisposition: dispositionOf(mediaType),
        Body: Readable.from(chunks, { highWaterMark: 1 }),
      },
      partSize: partBytes,
      queueSize: partsInFlight,
    }).done();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
