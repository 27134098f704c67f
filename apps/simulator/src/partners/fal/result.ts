import { numberLiteral, Verbatim } from '../../json-text.js';
import { failureOf, type Generation } from '../../ledger/generation.js';
import type { Reply, View } from '../../partner.js';
import { pictureSize } from '../../picture/size.js';
import { modelErrors, policyError, requestError } from './errors.js';

/** What `response_url` says: the model's own JSON, or the model's own error with its own status. */
export function resultOf(view: View): Reply {
  const { phase, control, generation } = view;
  if (phase === 'queued' || phase === 'running')
    return { status: 400, body: { detail: 'Request is still in progress' } };
  if (phase === 'canceled')
    return requestError(499, 'client_cancelled', 'Request was cancelled by the client');
  switch (failureOf(control)) {
    case 'policy_submit':
    case 'policy_output':
      return modelErrors([policyError(generation.prompt)]);
    case 'field_output':
      return modelErrors([
        {
          type: 'image_too_small',
          loc: ['body', 'image_url'],
          msg: 'Image is too small',
          ctx: { min_height: 256, min_width: 256 },
        },
      ]);
    case 'job_failed':
      return requestError(500, 'runner_server_error', 'The runner failed');
    case null:
      return {
        status: 200,
        body: /video|veo/.test(generation.model) ? videoOutput(view) : imageOutput(view),
      };
  }
}

function videoOutput({ generation, control, assets }: View): object {
  const file = {
    url: `${assets}/files/${generation.id}/0.mp4`,
    content_type: 'video/mp4',
    file_name: 'output.mp4',
  };
  return { ...(control.has('no_asset') ? {} : { video: file }), seed: seedOf(generation) };
}

function imageCount({ generation }: View): number {
  const asked = Number(numberLiteral(generation.body.toString(), 'num_images') ?? 1);
  return Math.min(Math.max(asked, 1), 4);
}

function imageOutput(view: View): object {
  const { generation, control, assets } = view;
  const count = control.has('no_asset') ? 0 : imageCount(view);
  return {
    images: Array.from({ length: count }, (_, index) => ({
      url: `${assets}/files/${generation.id}/${index}.png`,
      ...pictureSize,
      content_type: 'image/png',
    })),
    timings: { inference: generation.takesMs / 1000 },
    seed: seedOf(generation),
    has_nsfw_concepts: Array.from({ length: count }, () => control.has('soft_refusal')),
    prompt: generation.prompt,
  };
}

/** The caller's own seed digit by digit, else one of 64 bits, as this partner gives them. */
function seedOf({ body, bodySha256 }: Generation): Verbatim {
  return new Verbatim(
    numberLiteral(body.toString(), 'seed') ?? BigInt(`0x${bodySha256.slice(0, 16)}`).toString(),
  );
}
