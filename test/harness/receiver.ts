import { Webhook } from 'standardwebhooks';
import { type ReceivedCall, type Reply, ScriptedServer, status } from './scripted-server.js';
import { waitFor } from './wait-for.js';

/** An application's own server that receives webhooks, and answers 204 by default. */
export class Receiver extends ScriptedServer {
  constructor(reply: Reply = status(204)) {
    super(reply);
  }

  /** Waits for the first call to a path, and verifies its signature against the secrets. */
  async signed(
    path: string,
    secrets: readonly string[],
    withinMs = 30_000,
  ): Promise<Record<string, unknown>> {
    const call = await waitFor(async () => this.to(path)[0], {
      withinMs,
      what: `a call of ${path}`,
      everyMs: 50,
    });
    return verified(call, secrets);
  }
}

/** The payload according to the official library; throws if none of the secrets made the signature. */
export function verified(call: ReceivedCall, secrets: readonly string[]): Record<string, unknown> {
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(call.text, call.headers) as Record<string, unknown>;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
