import { Readable } from 'node:stream';

/** What is sent to HEAD in place of a body that is not read. Without it the framework would say that its length is 0. */
export const noBody = (): Readable => Readable.from([]);
