type Action = 'kill' | 'stop' | 'hang' | 'fail' | 'block' | 'pause';

interface Point {
  action: Action;
  /** For `block` and `pause`. */
  forMs: number;
  at: number;
  seen: number;
}

const syntax = /^([\w.]+(?:\([\w-]+\))?):(?:(kill|stop|hang|fail)|(block|pause)=(\d+))(?:@(\d+))?$/;

/**
 * Named places where a test can break the process. They do nothing unless `FAILPOINT` is set, for example to
 * `admit.afterCommit:kill`, `finish.beforeCommit:hang@3` (the third time only), `poll.beforeCall:block=5000`
 * (blocks the event loop for 5 s) or `poll.afterCall(0193…):kill` (for this run only). Separate several with
 * commas.
 */
const armed = parse(process.env['FAILPOINT'] ?? '');

function parse(text: string): Map<string, Point> {
  const points = new Map<string, Point>();
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [, place, plain, timed, forMs, at] = syntax.exec(part) ?? [];
    const action = (plain ?? timed) as Action | undefined;
    if (place === undefined || action === undefined) {
      throw new Error(
        `FAILPOINT: "${part}" is not name:kill|stop|hang|fail|block=ms|pause=ms, optionally with (subject) and @n`,
      );
    }
    points.set(place, { action, forMs: Number(forMs ?? 0), at: Number(at ?? 1), seen: 0 });
  }
  return points;
}

/**
 * Does nothing in production. In a fault test it kills, stops, hangs, fails, blocks or pauses the process
 * here. `subject` is the id of the run that is being processed, if any.
 */
export async function failpoint(name: string, subject = ''): Promise<void> {
  if (armed.size === 0) return;
  for (const place of [name, `${name}(${subject})`]) {
    const point = armed.get(place);
    if (!point) continue;
    point.seen += 1;
    if (point.seen === point.at) await act(place, point);
  }
}

async function act(place: string, { action, forMs }: Point): Promise<void> {
  // Tests wait for this line.
  process.stderr.write(`failpoint ${place}: ${action}\n`);
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'hang':
      return new Promise(() => {});
    case 'fail':
      throw new Error(`failpoint ${place}`);
    case 'block':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
      return;
    case 'pause':
      return new Promise((resolve) => setTimeout(resolve, forMs));
  }
}
