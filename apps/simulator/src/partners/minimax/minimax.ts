import { filesOf, pollReply, submitReply } from '../../course.js';
import { silence } from '../../files/silence.js';
import { Verbatim } from '../../json-text.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const clip = recorded('minimax', 'video');
const sound = recorded('minimax', 'audio');

const modelOf = (_params: unknown, body: Record<string, unknown>) =>
  typeof body['model'] === 'string' ? body['model'] : undefined;
const named = (query: Record<string, unknown>, name: string) =>
  typeof query[name] === 'string' ? query[name] : '';

/** A clip's file has an id of its own, the one before the run's. */
const fileIdOf = (id: string) => String(BigInt(id) - 1n);
const idOfFile = (fileId: string) => (/^\d{1,20}$/.test(fileId) ? String(BigInt(fileId) + 1n) : '');

/** MiniMax: HTTP 200 whatever happens; sounds with the reply, clips by polls and a fetch of the file's address. */
export const minimax: Partner = {
  name: 'minimax',
  authorized: bearer,
  numericIds: true,
  submits: [
    {
      path: '/video_generation',
      modelOf,
      prompt: {
        loc: ['body', 'prompt'],
        read: (body) => body['prompt'],
        optionalFor: (model) => !model.startsWith('T2V'),
      },
      answer: ({ generation }) => clip('submit-accepted', { '/task_id': generation.id }),
    },
    ...['t2a_v2', 'music_generation'].map((kind) => ({
      path: `/${kind}`,
      modelOf,
      prompt: {
        loc: ['body', kind === 't2a_v2' ? 'text' : 'prompt'],
        read: (body: Record<string, unknown>) => body[kind === 't2a_v2' ? 'text' : 'prompt'],
      },
      atOnce: true as const,
      answer: sounds,
    })),
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
    clip('submit-rejected-fields', { '/base_resp/status_msg': `invalid params, ${first?.msg}` }),
  exampleFieldError: { loc: ['body', 'duration'], msg: 'duration is not supported', type: 'invalid' },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/query/video_generation',
      role: 'poll',
      idOf: ({ query }) => named(query, 'task_id'),
      answer: progress,
      unknown: () => clip('poll-lost'),
    },
    {
      listener: 'api',
      method: 'GET',
      path: '/files/retrieve',
      role: 'result',
      idOf: ({ query }) => idOfFile(named(query, 'file_id')),
      answer: (view) =>
        view.phase === 'succeeded'
          ? clip(view.control.has('no_asset') ? 'fetch-without-result' : 'fetch-succeeded', {
              '/file/file_id': new Verbatim(fileIdOf(view.generation.id)),
              ...(!view.control.has('no_asset') && { '/file/download_url': `${filesOf(view)}/0.mp4` }),
            })
          : clip('poll-lost'),
      unknown: () => clip('poll-lost'),
    },
  ],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function progress(view: View) {
  const asked = pollReply(view);
  // The file is named even when its address will be missing.
  const name = asked === 'poll-succeeded-without-result' ? 'poll-succeeded' : asked;
  return clip(name, {
    '/task_id': view.generation.id,
    ...(name === 'poll-succeeded' && { '/file_id': fileIdOf(view.generation.id) }),
  });
}

function sounds(view: View) {
  const name = submitReply(view);
  return sound(name, name === 'submit-accepted' ? { '/data/audio': silence().toString('hex') } : {});
}
