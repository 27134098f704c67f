import type { FastifyReply, FastifyRequest } from 'fastify';
import { concerns, plannedFault } from './control.js';
import { viewOf, type Desk } from './desk.js';
import type { Generation } from './ledger/generation.js';
import type { Asked, CancelVerdict, Partner, PartnerCall, PartnerCancel, View } from './partner.js';
import { sendSpoilt } from './reply-faults.js';
import { digestOf, send } from './wire.js';

/** A poll, or the fetch of a result: counted, then answered by the clock, unless a fault is planned for it. */
export function answerCall(
  desk: Desk,
  partner: Partner,
  call: PartnerCall,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const id = idOf(request, call.idOf);
  const generation = desk.ledger.find(partner.name, id);
  if (!generation || isForgotten(generation)) return send(reply, call.unknown(id));
  const nth = call.role === 'poll' ? (generation.pollCount += 1) : (generation.resultCount += 1);
  const view = contradicting(viewOf(desk, partner, generation), call.role, nth);
  const answer = call.answer(view);
  if (view.phase === 'succeeded') generation.replySha256 = digestOf(answer);
  const kind = plannedFault(generation.control, call.role, nth);
  if (kind === undefined) return send(reply, answer);
  const facts = { partner, control: generation.control, answer, lost: call.unknown(id) };
  return sendSpoilt(reply, kind, `${call.role}_${kind}`, facts);
}

/** What a partner says that contradicts what it said before, where a control asks for that. */
function contradicting(view: View, role: PartnerCall['role'], nth: number): View {
  const { phase, control } = view;
  if (role === 'poll' && phase === 'running' && control.has('status_back') && nth % 2 === 0)
    return { ...view, phase: 'queued' };
  if (role === 'result' && phase === 'succeeded' && concerns(control, 'result_early', nth))
    return { ...view, phase: 'running' };
  return view;
}

const isForgotten = ({ canceledAtMs, control }: Generation): boolean =>
  canceledAtMs !== null && control.has('cancel_forgets');

export function answerCancel(
  desk: Desk,
  partner: Partner,
  cancel: PartnerCancel,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const id = idOf(request);
  const generation = desk.ledger.find(partner.name, id);
  if (!generation) return send(reply, cancel.unknown(id));
  const view = viewOf(desk, partner, generation);
  const verdict = verdictOf(view, cancel);
  desk.ledger.cancel(generation, view.nowMs, verdict === 'canceled' ? view.nowMs : null);
  return send(reply, cancel.answer(verdict, view.phase));
}

function verdictOf({ phase, control }: View, { queuedOnly }: PartnerCancel): CancelVerdict {
  if (phase !== 'queued' && phase !== 'running') return 'too_late';
  if (control.has('cancel_too_late') || (queuedOnly && phase === 'running')) return 'too_late';
  return control.has('cancel_ignored') ? 'ignored' : 'canceled';
}

function idOf(request: FastifyRequest, find?: (asked: Asked) => string): string {
  const params = request.params as Record<string, string>;
  const query = request.query as Record<string, unknown>;
  if (find)
    return find({ params, query, body: request.body instanceof Buffer ? objectOf(request.body) : {} });
  return params['id'] ?? (typeof query['id'] === 'string' ? query['id'] : '');
}

function objectOf(bytes: Buffer): Record<string, unknown> {
  try {
    return Object.assign({}, JSON.parse(bytes.toString()) as unknown);
  } catch {
    return {};
  }
}
