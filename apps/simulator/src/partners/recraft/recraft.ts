import { filesOf, submitReply } from '../../course.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('recraft');
const tools = ['crispUpscale', 'creativeUpscale', 'removeBackground', 'vectorize'];

/** Recraft: every reply is the result; pictures are drawn, or, by a tool, changed one at a time. */
export const recraft: Partner = {
  name: 'recraft',
  authorized: bearer,
  submits: ['generations', 'imageToImage', ...tools].map((kind) => ({
    path: `/images/${kind}`,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : kind),
    prompt: {
      loc: ['body', 'prompt'],
      read: (body) => body['prompt'],
      optionalFor: (model) => tools.includes(model),
    },
    atOnce: true,
    answer: (view) => result(view, tools.includes(kind)),
  })),
  refusals: {
    unauthorized: said('submit-account-key'),
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: null,
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/message': first?.msg }),
  exampleFieldError: {
    loc: ['body', 'size'],
    msg: 'size 1x1 is not supported by this model',
    type: 'invalid_size',
  },
  calls: [],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function result(view: View, byTool: boolean) {
  const name = submitReply(view);
  const url = `${filesOf(view)}/0.png`;
  // It has no words of its own for a refusal.
  if (name === 'submit-content-policy') return said('submit-failed');
  if (name !== 'submit-accepted') return said(name);
  return byTool
    ? said('submit-accepted-tool', { '/image/url': url })
    : said(name, { '/data': [{ image_id: view.generation.id, url }] });
}
