import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import { protocols } from '../../protocols.js';
import { outcomeRules } from './outcome-rules.js';

/** MiniMax: audio comes with the reply; videos are polled for, and their file is fetched by an id of its own. */
export const minimax: ProviderDefinition = {
  name: 'minimax',
  defaultBase: 'https://api.minimax.io/v1',
  submitTimeoutMs: 300_000,
  create(base) {
    const common = {
      base,
      fields: sentenceFields({ msg: '/base_resp/status_msg', type: '/base_resp/status_code' }),
      rules: outcomeRules,
    };
    const get = (path: string, name: string, id: string) =>
      ({ method: 'GET', url: `${base}/${path}?${name}=${encodeURIComponent(id)}` }) as const;
    return protocols({
      audio: job({ ...common, needs: ['/data/audio'] }),
      video: job({
        ...common,
        handle: { taskId: { at: '/task_id' }, fileId: { at: '/file_id', polled: true } },
        poll: {
          call: ({ taskId }) => get('query/video_generation', 'task_id', taskId),
          status: '/status',
          statuses: {
            Preparing: 'queued',
            Queueing: 'queued',
            Processing: 'running',
            Success: 'succeeded',
            Fail: 'failed',
          },
          everyMs: 5000,
        },
        fetch: { call: ({ fileId }) => get('files/retrieve', 'file_id', fileId) },
        needs: ['/file/download_url'],
      }),
    });
  },
};
