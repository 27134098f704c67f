import type { FastifyReply } from 'fastify';
import { amount, type Control, type ControlName, type FaultKind } from './control.js';
import type { Reply } from './provider.js';
import { gatewayPage, type Replies } from './replies.js';
import { hang, resetConnection, send, sendDripping, sendPadded, sendTruncated } from './wire.js';

const garbage: Reply = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"id":"6f1c0e","status":"Rea\u0000',
};

/** Sends `answer` with the fault `kind`. */
export function sendSpoilt(
  reply: FastifyReply,
  kind: FaultKind,
  name: ControlName,
  { replies, control, answer }: { replies: Replies; control: Control; answer: Reply },
): FastifyReply {
  switch (kind) {
    case 'hang':
      return hang(reply);
    case 'reset':
      return resetConnection(reply);
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
      return send(reply, replies.lost);
    case '401':
    case '402':
    case '429':
    case '500':
    case '502':
    case '503':
      return send(reply, replies.refusal(Number(kind), control));
  }
}

/** Sends the reply to an accepted submission, or the fault that a control plans for it. */
export function sendAccepted(
  reply: FastifyReply,
  control: Control,
  answer: Reply,
  sendAnswer = () => send(reply, answer),
): FastifyReply {
  if (control.has('reset_after_accept')) return resetConnection(reply);
  if (control.has('hang_after_accept')) return hang(reply);
  if (control.has('truncated')) return sendTruncated(reply, answer);
  if (control.has('html')) return send(reply, gatewayPage(200));
  if (control.has('garbage')) return send(reply, garbage);
  return sendAnswer();
}
