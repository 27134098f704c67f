import { createHash, randomInt } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readControl, tokensOf } from './control.js';
import type { Provider, UploadRoute } from './provider.js';
import type { Side, Simulation } from './simulation.js';
import { countAttempt, refusalOf } from './attempts.js';
import { refuseCall, send } from './wire.js';

/**
 * Accepts a form with exactly one file, and returns an ID that submissions can name from then on. The bytes of the
 * file may contain control tokens.
 */
export async function takeUpload(
  { simulation, provider, replies }: Side,
  { part }: UploadRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  const file = await fileIn(body, request.headers['content-type'] ?? '', part);
  if (file === undefined) return refuseCall(reply, `the body is not a form with exactly one file, ${part}`);
  const { control, problems } = readControl(
    tokensOf(Buffer.from(await file.arrayBuffer()).toString('latin1')),
  );
  if (problems.length > 0) return refuseCall(reply, problems.join('; '));
  const sha256 = createHash('sha256').update(body).digest('hex');
  const attempt = countAttempt(simulation, `${provider.name}/${sha256}`);
  const refusal = refusalOf(replies, control, attempt);
  if (refusal) return send(reply, refusal);
  if (!/^image\/(png|jpe?g|webp)$/.test(file.type))
    return send(reply, replies.rejection({ at: [part], text: `${file.type} is not a supported format` }));
  const id = String(randomInt(1_000_000_000));
  // Keyed as JSON, because submissions are looked up that way.
  const named = provider.numericIds ? id : JSON.stringify(id);
  simulation.uploads.set(`${provider.name}/${named}`, { type: file.type, bytes: file.size });
  return send(reply, replies.uploaded(id));
}

async function fileIn(body: Buffer, contentType: string, part: string): Promise<File | undefined> {
  try {
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    const [[name, value] = [], ...others] = [...form];
    return name === part && typeof value === 'object' && others.length === 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The member that names an upload that doesn't exist. */
export const unknownUpload = (
  provider: Provider,
  simulation: Simulation,
  fields: Record<string, unknown>,
): string | undefined =>
  provider.upload?.members.find(
    (member) =>
      fields[member] !== undefined &&
      !simulation.uploads.has(`${provider.name}/${JSON.stringify(fields[member])}`),
  );
