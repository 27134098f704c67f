import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { amount, type Control } from './control.js';
import { phaseAt } from './ledger/generation.js';
import type { Provider } from './provider.js';
import { fileOf } from './media/media.js';
import type { Simulation } from './simulation.js';
import { padded, send, stream } from './wire.js';

/** Serves an asset of a successful generation. Assets are generated when they are fetched. */
export function answerAsset(
  { ledger, clock }: Simulation,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { id = '', file = '' } = request.params as { id?: string; file?: string };
  const generation = ledger.find(provider.name, id);
  const nowMs = clock.now();
  if (!generation || phaseAt(generation, nowMs) !== 'succeeded') return missing(reply);
  generation.assetCount += 1;
  const { control } = generation;
  if (control.has('asset_404')) return missing(reply);
  if (provider.links?.accepts(generation, request.query as Record<string, unknown>, nowMs) === false)
    return send(reply, { status: 403, body: 'Signature not valid in the specified time frame' });
  if (control.has('asset_redirect'))
    return reply.redirect(control.get('asset_redirect') || 'http://169.254.169.254/latest/meta-data/', 302);
  const { type, bytes } = fileOf(generation, file);
  if (control.has('asset_empty')) return reply.headers({ 'content-type': type }).send(Buffer.alloc(0));
  return sendMedia(reply, control, type, bytes);
}

function sendMedia(reply: FastifyReply, control: Control, type: string, bytes: Buffer): FastifyReply {
  const headers = { 'content-type': type };
  if (control.has('asset_endless')) return stream(reply, 200, headers, padded(bytes, Infinity, 0));
  if (control.has('asset_big')) {
    const size = Math.max(bytes.length, amount(control, 'asset_big', 64 * 1024 * 1024));
    return stream(reply, 200, { ...headers, 'content-length': String(size) }, padded(bytes, size, 0));
  }
  if (control.has('asset_slow'))
    return stream(reply, 200, headers, paced(bytes, amount(control, 'asset_slow', 5000)));
  return reply.headers(headers).send(bytes);
}

const steps = 50;

/** Yields the bytes in 50 pieces, spread evenly over `overMs`. */
async function* paced(bytes: Buffer, overMs: number): AsyncGenerator<Buffer> {
  const pieceBytes = Math.ceil(bytes.length / steps);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await pause(overMs / steps);
    yield bytes.subarray(at, at + pieceBytes);
  }
}

function missing(reply: FastifyReply): FastifyReply {
  return send(reply, { status: 404, body: 'The specified blob does not exist.' });
}
