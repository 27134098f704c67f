import { Pool } from 'undici';

const roundMs = Number(process.env.BENCH_ROUND_MS ?? 3000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);

/** The results of each round. */
export async function inRounds(measure) {
  const found = [];
  for (let round = 0; round < rounds; round += 1) found.push(await measure());
  return found;
}

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

/** Measures all kinds in each round by turns, so that they meet the same moments of the machine. */
export const inTurns = (kinds, measure) =>
  inRounds(async () => {
    const round = {};
    for (const [name, kind] of Object.entries(kinds)) round[name] = await measure(kind, name);
    return round;
  });

export const against = (floor, ours) => inTurns({ floor, ours }, (measure) => measure());

const ascending = (values) => values.toSorted((a, b) => a - b);
const middleOf = (values) => ascending(values)[Math.floor(values.length / 2)];

/** The lowest and the highest of several values. */
const spreadOf = (values, digits) =>
  [ascending(values)[0], ascending(values).at(-1)].map((each) => each.toFixed(digits)).join(' to ');

/** The middle one of the rounds' ratios, and as text with its spread and the middle ones of both sides. */
function ratioOf(each, ratio, { unit = 'a second', digits = 0 } = {}) {
  const ratios = each.map(ratio);
  const middle = (of) => middleOf(each.map(of)).toFixed(digits);
  const text = `${middleOf(ratios).toFixed(2)} (${spreadOf(ratios, 2)}; ${middle(({ ours }) => ours)} / ${middle(({ floor }) => floor)} ${unit})`;
  return { ratio: middleOf(ratios), text };
}

/** A result whose measure is a share of what the floor reaches. */
export function share(what, each, aim) {
  const { ratio, text } = ratioOf(each, ({ ours, floor }) => ours / floor);
  return { what, measured: text, aim: aim > 0 ? `≥ ${aim}` : '', reached: ratio >= aim };
}

/** A result whose measure is how many times longer ours takes than the other. */
export const growth = (what, each, aim) =>
  timesAtMost(
    what,
    ratioOf(each, ({ ours, floor }) => floor / ours),
    aim,
  );

/** A result whose measure is how many times the milliseconds of the other ours costs. */
export const costGrowth = (what, each, aim) =>
  timesAtMost(
    what,
    ratioOf(each, ({ ours, floor }) => ours / floor, { unit: 'ms', digits: 2 }),
    aim,
  );

const timesAtMost = (what, { ratio, text }, aim) => ({
  what,
  measured: text.replace(' (', ' times ('),
  aim: aim === Infinity ? '' : `≤ ${aim} times`,
  reached: ratio <= aim,
});

/** A result whose measure, of several rounds the middle one, is to stay below a bound; without a bound it is only told. */
export function atMost(what, values, max, unit = '', digits = 0) {
  const each = [values].flat();
  const spread = each.length > 1 ? ` (${spreadOf(each, digits)})` : '';
  return {
    what,
    measured: `${middleOf(each).toFixed(digits)} ${unit}`.trim() + spread,
    aim: max === Infinity ? '' : `≤ ${max} ${unit}`.trim(),
    reached: middleOf(each) <= max,
  };
}
