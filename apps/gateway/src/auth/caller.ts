import { mayMatch } from '#catalog';
import type { CallerRow, KeyMaker } from '#persistence';

/** An identified caller and the rights of its credential. */
export interface Caller extends CallerRow {
  /** Names the credential in audit records: `key:<id>` or `token:<subject>`. */
  credential: string;
  /** The access token of a caller without a key. */
  token: { subject: string; expiresAt: Date } | null;
}

/** This caller, as the creator of keys and sign-in codes. */
export const makerOf = ({ credential: actor, keyId, token }: Caller): KeyMaker => ({ actor, keyId, token });

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard; null on routes that need no credential. */
    caller: Caller | null;
  }
}

export const maySee = (caller: Caller, modelId: string): boolean => mayMatch(caller.visible, modelId);

export const mayRun = (caller: Caller, modelId: string): boolean => mayMatch(caller.runnable, modelId);
