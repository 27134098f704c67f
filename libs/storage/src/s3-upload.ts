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
  bucket: string;
  key: string;
  mediaType: string;
  chunks: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}

/**
 * One call for a short body, a multipart upload for a long one; its parts are aborted when anything fails.
 * Only the transfer of a part is cut at once by the signal. The beginning of a multipart upload, and the
 * call that commits, get a moment to be answered: cut short, nobody would know what they left behind.
 */
export async function upload(client: S3Client, target: UploadTarget): Promise<void> {
  const { signal, release } = late(target.signal);
  const signalOf = (command: unknown) => {
    if (command instanceof UploadPartCommand) return target.signal;
    return command instanceof AbortMultipartUploadCommand ? AbortSignal.timeout(graceMs) : signal;
  };
  const send = (command: Parameters<S3Client['send']>[0]) =>
    client.send(command, { abortSignal: signalOf(command) });
  try {
    await new Upload({
      client: Object.create(client, { send: { value: send } }) as S3Client,
      params: {
        Bucket: target.bucket,
        Key: target.key,
        ContentType: target.mediaType,
        ContentDisposition: dispositionOf(target.mediaType),
        Body: Readable.from(target.chunks, { highWaterMark: 1 }),
      },
      partSize: partBytes,
      queueSize: partsInFlight,
    }).done();
  } finally {
    release();
  }
}

/** Ends a while after the given signal. */
function late(signal: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => controller.abort(signal.reason), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  return { signal: controller.signal, release };
}
