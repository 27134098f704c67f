import { filesOf, pollReply, submitReply } from '../../course.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const picture = recorded('bytedance', 'image');
const clip = recorded('bytedance', 'video');
const clips = '/contents/generations/tasks';

const modelOf = (_params: unknown, body: Record<string, unknown>) =>
  typeof body['model'] === 'string' ? body['model'] : undefined;

/** ByteDance's Ark: pictures with the reply, clips polled for; only a clip still in the queue can be cancelled. */
export const bytedance: Partner = {
  name: 'bytedance',
  authorized: bearer,
  submits: [
    {
      path: '/images/generations',
      modelOf,
      prompt: { loc: ['body', 'prompt'], read: (body) => body['prompt'] },
      atOnce: true,
      answer: pictures,
    },
    {
      path: clips,
      modelOf,
      prompt: { loc: ['body', 'content'], read: textOf },
      answer: ({ generation }) => clip('submit-accepted', { '/id': generation.id }),
    },
  ],
  refusals: {
    unauthorized: clip('submit-account-key'),
    no_credit: clip('submit-account'),
    throttled: clip('submit-busy'),
    unavailable: clip('submit-unavailable'),
    broken: clip('submit-failed'),
  },
  policyRefusal: () => clip('submit-content-policy'),
  fieldErrors: ([first]) =>
    clip('submit-rejected-fields', {
      '/error/message': `${first?.msg} Request id: 0217862d5f1c9a520d7e4f8b9a7e3a1f`,
      '/error/param': first?.loc.slice(1).join('.'),
    }),
  exampleFieldError: {
    loc: ['body', 'size'],
    msg: 'The parameter `size` specified in the request is not valid.',
    type: 'InvalidParameter',
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: `${clips}/:id`,
      role: 'poll',
      answer: progress,
      unknown: () => clip('poll-lost'),
    },
  ],
  cancel: {
    method: 'DELETE',
    path: `${clips}/:id`,
    queuedOnly: true,
    answer: (verdict) => clip(verdict === 'too_late' ? 'cancel-too-late' : 'cancel-requested'),
    unknown: () => clip('poll-lost'),
  },
  asset: { path: '/files/:id/:file' },
};

/** The texts among the parts a clip is made from. */
function textOf(body: Record<string, unknown>): unknown {
  const parts = Array.isArray(body['content']) ? (body['content'] as { text?: unknown }[]) : undefined;
  return parts?.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join(' ');
}

function pictures(view: View) {
  const name = view.control.has('soft_refusal') ? 'submit-content-policy-of-every-image' : submitReply(view);
  return name === 'submit-accepted'
    ? picture(name, { '/model': view.generation.model, '/data/0/url': `${filesOf(view)}/0.png` })
    : picture(name);
}

function progress(view: View) {
  const name = pollReply(view);
  return clip(name, {
    '/id': view.generation.id,
    '/model': view.generation.model,
    ...(name === 'poll-succeeded' && { '/content/video_url': `${filesOf(view)}/0.mp4` }),
  });
}
