import { Lab } from '../catalog/lab.js';
import { json, type ReceivedCall, type Reply } from '../harness/index.js';

export const keyIn = ({ headers }: ReceivedCall): string => String(headers['x-lab-key']);
export const promptIn = ({ text }: ReceivedCall): string => (JSON.parse(text) as { prompt: string }).prompt;

/**
 * Knows which keys it has issued, answers the later calls of a job only for the key that submitted it, and repeats the
 * caller's key in everything it says.
 */
export class KeyCheckingLab extends Lab {
  readonly issued = new Set<string>();
  /** Calls about a job with another key than that of its submission. */
  readonly wrongKeys: string[] = [];

  protected override replyTo(call: ReceivedCall): Reply {
    const key = keyIn(call);
    const says = (body: object, code = 200, headers = {}) =>
      json({ ...body, key, said: `the key is "${key}"` }, code, { 'x-key': key, ...headers });
    if (call.method === 'GET') {
      const [job, part] = this.jobOf(call);
      if (job && keyIn(job) === key)
        return says(part === 'result' ? { image: 'done' } : { state: this.holding ? 'BUSY' : 'FINE' });
      this.wrongKeys.push(key);
      return says({ error: 'no such job' }, 404);
    }
    if (!this.issued.has(key)) return says({ error: `the key ${key} is unknown` }, 401);
    switch (promptIn(call)) {
      case 'busy':
        return says({ error: `slow down, ${key}` }, 429, { 'retry-after': '50' });
      case 'broken':
        return says({ error: `failed for ${key}` }, 500);
      case 'refused':
        return says(
          { detail: [{ loc: ['body', 'prompt'], msg: `Not for ${key}.`, type: 'value_error' }] },
          422,
        );
      default:
        return says(this.newJob(call));
    }
  }
}
