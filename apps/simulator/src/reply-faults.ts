import type { FastifyReply } from 'fastify';
import { amount, type Control, type ControlName, type FaultKind } from './control.js';
import type { Partner, Reply } from './partner.js';
import { cut, hang, send, sendDripping, sendPadded, sendTruncated } from './wire.js';

const gatewayPage = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>Gateway</title></head><body><center><h1>cloud edge</h1></center></body></html>\n',
});

const garbage: Reply = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"id":"6f1c0e","status":"Rea\u0000',
};

/** A refusal that names the seconds to wait when the control asks for them. */
function withRetryAfter(answer: Reply, control: Control): Reply {
  if (!control.has('retry_after')) return answer;
  const seconds = String(amount(control, 'retry_after', 1));
  return { ...answer, headers: { ...answer.headers, 'retry-after': seconds } };
}

/** A status of the partner itself where it has words for it, else of a gateway in front of it. */
export function refuse(partner: Partner, status: number, control: Control): Reply {
  if (status === 401) return partner.refusals.unauthorized;
  if (status === 429) return withRetryAfter(partner.refusals.throttled, control);
  if (status === 503) return withRetryAfter(partner.refusals.unavailable, control);
  if (status === 500) return partner.refusals.broken;
  return gatewayPage(status);
}

/** Sends `answer` spoilt by `kind`; `lost` is what the partner says about an id it does not know. */
export function sendSpoilt(
  reply: FastifyReply,
  kind: FaultKind,
  name: ControlName,
  facts: { partner: Partner; control: Control; answer: Reply; lost: Reply },
): FastifyReply {
  const { partner, control, answer, lost } = facts;
  switch (kind) {
    case 'hang':
      return hang(reply);
    case 'reset':
      return cut(reply);
    case 'truncated':
      return sendTruncated(reply, answer);
    case 'drip':
      return sendDripping(reply, answer, amount(control, name, 1000));
    case 'big':
      return sendPadded(reply, answer, amount(control, name, 256 * 1024 * 1024));
    case 'html':
      return send(reply, gatewayPage(200));
    case 'garbage':
      return send(reply, garbage);
    case '404':
      return send(reply, lost);
    case '401':
    case '429':
    case '500':
    case '502':
    case '503':
      return send(reply, refuse(partner, Number(kind), control));
  }
}

/** What becomes of the reply to a submission that was accepted. */
export function sendAccepted(reply: FastifyReply, control: Control, answer: Reply): FastifyReply {
  if (control.has('reset_after_accept')) return cut(reply);
  if (control.has('hang_after_accept')) return hang(reply);
  if (control.has('truncated')) return sendTruncated(reply, answer);
  if (control.has('html')) return send(reply, gatewayPage(200));
  if (control.has('garbage')) return send(reply, garbage);
  return send(reply, answer);
}
