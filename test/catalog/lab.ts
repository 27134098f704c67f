import { content, json, type ReceivedCall, type Reply, reset, ScriptedServer } from '../harness/index.js';

/**
 * A provider that no release includes, declared by own-rows.ts: it answers at once, with a file, by jobs that end on
 * request, or not at all.
 */
export class Lab extends ScriptedServer {
  /** While set, jobs keep running. */
  holding = false;
  /** Called once, during the next poll, which is answered afterwards. The job is running meanwhile. */
  duringPoll: (() => Promise<unknown>) | undefined;
  private readonly jobs: ReceivedCall[] = [];

  get submissions(): ReceivedCall[] {
    return this.calls.filter(({ method }) => method === 'POST');
  }

  protected override replyTo(call: ReceivedCall): Reply | Promise<Reply> {
    if (call.method === 'POST') return this.accept(call);
    const [job, part] = this.jobOf(call);
    if (!job) return json({ error: 'no such job' }, 404);
    return part === 'result' ? json(`{"made of": ${job.text} }`) : this.state();
  }

  protected newJob(submission: ReceivedCall): object {
    return { job: { id: String(this.jobs.push(submission) - 1) } };
  }

  /** The submission of the job that a call is about, and the part of the job. */
  protected jobOf({ path }: ReceivedCall): [ReceivedCall | undefined, string | undefined] {
    const [, , id, part] = path.split('/');
    return [this.jobs[Number(id)], part];
  }

  /** Answers a submission, by its path. */
  private accept(call: ReceivedCall): Reply {
    const [, form] = call.path.split('/');
    switch (form) {
      case 'now':
        return json(`{"echo": ${call.text}}`);
      case 'sound':
        return content('audio/mpeg', Buffer.from([0xff, 0xfb, 0, 1]));
      case 'refuse': {
        const { prompt } = JSON.parse(call.text) as { prompt: string };
        const detail = [{ loc: ['body', 'prompt'], msg: 'Not this.', type: 'value_error', input: prompt }];
        return json({ detail }, 422);
      }
      case 'lost':
        return reset;
      default:
        return json(this.newJob(call));
    }
  }

  private async state(): Promise<Reply> {
    const { duringPoll } = this;
    this.duringPoll = undefined;
    await duringPoll?.();
    return json({ state: this.holding || duringPoll ? 'BUSY' : 'FINE' });
  }
}
