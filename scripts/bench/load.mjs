import { Pool } from 'undici';

const roundMs = Number(process.env.BENCH_ROUND_MS ?? 3000);

/** How many requests a second are answered. */
export const perSecond = async (origin, request, terms) =>
  ((await answeredInRound(origin, request, terms)) * 1000) / roundMs;

/**
 * How many requests are answered in a round, with so many under way at once. Any other status ends it. `request` may be a
 * function that makes each of them. A caller that is `awake` never sleeps between answers: a server that is slower than
 * its caller has to wake it with each of them, which takes 15 to 40 µs on a virtual machine, and one that is faster
 * never does.
 */
export async function answeredInRound(
  origin,
  request,
  { concurrency = 16, status = 200, awake = false } = {},
) {
  const pool = new Pool(origin, { connections: concurrency });
  const untilMs = performance.now() + roundMs;
  let done = 0;
  const stayAwake = () => performance.now() < untilMs && setImmediate(stayAwake);
  if (awake) stayAwake();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < untilMs) {
        await answered(pool, typeof request === 'function' ? request() : request, status);
        done += 1;
      }
    }),
  );
  await pool.close();
  return done;
}

/** How long each of `count` requests takes, in milliseconds, in order of length. */
export async function durations(origin, request, { concurrency = 16, count }) {
  const pool = new Pool(origin, { connections: concurrency });
  const found = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (found.length < count) {
        const startedMs = performance.now();
        await answered(pool, request, 200);
        found.push(performance.now() - startedMs);
      }
    }),
  );
  await pool.close();
  return found.sort((a, b) => a - b);
}

async function answered(pool, request, status) {
  const { statusCode, body } = await pool.request({ method: 'GET', ...request });
  const text = await body.text();
  if (statusCode !== status) throw new Error(`${request.path} answers ${statusCode}: ${text.slice(0, 200)}`);
}

export const quantile = (sorted, share) => sorted[Math.floor(sorted.length * share)];

/** Three rounds of each, taken in turns, so that both meet the same moments of the machine. */
export async function against(floor, ours) {
  const rounds = [];
  for (let round = 0; round < 3; round += 1) rounds.push({ floor: await floor(), ours: await ours() });
  return rounds;
}

/** The middle one of the rounds' ratios, and all of them as text. */
function ratioOf(rounds, ratio) {
  const ratios = rounds.map(ratio).toSorted((a, b) => a - b);
  const middle = (of) => Math.round(rounds.map(of).toSorted((a, b) => a - b)[1]);
  const text = `${ratios[1].toFixed(2)} (${ratios[0].toFixed(2)} to ${ratios[2].toFixed(2)}; ${middle(({ ours }) => ours)} / ${middle(({ floor }) => floor)} a second)`;
  return { ratio: ratios[1], text };
}

/** A result whose measure is a share of what the floor reaches. */
export function share(what, rounds, aim) {
  const { ratio, text } = ratioOf(rounds, ({ ours, floor }) => ours / floor);
  return { what, measured: text, aim: aim > 0 ? `≥ ${aim}` : '', reached: ratio >= aim };
}

/** A result whose measure is how many times longer ours takes than the other. */
export function growth(what, rounds, aim) {
  const { ratio, text } = ratioOf(rounds, ({ ours, floor }) => floor / ours);
  return {
    what,
    measured: text.replace(' (', ' times ('),
    aim: `≤ ${aim} times`,
    reached: ratio <= aim,
  };
}

/** A result whose measure is to stay below a bound; without a bound it is only told. */
export const atMost = (what, value, max, unit = '', digits = 0) => ({
  what,
  measured: `${value.toFixed(digits)} ${unit}`.trim(),
  aim: max === Infinity ? '' : `≤ ${max} ${unit}`.trim(),
  reached: value <= max,
});
