import { Pool } from 'undici';
import { sizeOf } from './size.mjs';

const roundMs = sizeOf('ROUND_MS');
const rounds = sizeOf('ROUNDS');

/** Returns the result of each round. `reset` clears what the last round left. */
export async function inRounds(measure, reset = async () => {}) {
  const found = [];
  for (let round = 0; round < rounds; round += 1) {
    await reset();
    found.push(await measure());
  }
  return found;
}

/** Requests answered per second. */
export const perSecond = async (origin, request, terms) =>
  ((await answeredInRound(origin, request, terms)) * 1000) / roundMs;

/**
 * Requests answered in a round, with `concurrency` in flight. Any other status throws. `request` may be a
 * function that creates each request. An `awake` caller never sleeps between answers. Otherwise a server that is
 * slower than its caller has to wake it for every answer, which takes 15 to 40 µs on a virtual machine, while a
 * faster server never does.
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

/**
 * The duration of each of `count` requests in milliseconds, sorted; without `count`, of those of a round. Requests of the
 * first `warmMs` do not count.
 */
export async function durations(origin, request, { concurrency = 16, count, warmMs = 0 }) {
  const fromMs = performance.now() + warmMs;
  const untilMs = count === undefined ? fromMs + roundMs : Infinity;
  const pool = new Pool(origin, { connections: concurrency });
  const found = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (found.length < (count ?? Infinity) && performance.now() < untilMs) {
        const startedMs = performance.now();
        await answered(pool, request, 200);
        if (startedMs >= fromMs) found.push(performance.now() - startedMs);
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

/** Measures all kinds in turns within each round, so that they see the same moments of the machine. */
export const inTurns = (kinds, measure, reset) =>
  inRounds(async () => {
    const round = {};
    for (const [name, kind] of Object.entries(kinds)) round[name] = await measure(kind, name);
    return round;
  }, reset);

export const against = (floor, ours, reset) => inTurns({ floor, ours }, (measure) => measure(), reset);

const ascending = (values) => values.toSorted((a, b) => a - b);
export const middleOf = (values) => ascending(values)[Math.floor(values.length / 2)];

/** The lowest and the highest value. */
const spreadOf = (values, digits) =>
  [ascending(values)[0], ascending(values).at(-1)].map((each) => each.toFixed(digits)).join(' to ');

/** The median of the rounds' ratios, and a text with its spread and the medians of both sides. */
function ratioOf(each, ratio, { unit = 'a second', digits = 0 } = {}) {
  const ratios = each.map(ratio);
  const middle = (of) => middleOf(each.map(of)).toFixed(digits);
  const text = `${middleOf(ratios).toFixed(2)} (${spreadOf(ratios, 2)}; ${middle(({ ours }) => ours)} / ${middle(({ floor }) => floor)} ${unit})`;
  return { ratio: middleOf(ratios), text };
}

/** A result that compares ours with the floor: our share of what the floor reaches. */
export function share(what, each, aim) {
  const { ratio, text } = ratioOf(each, ({ ours, floor }) => ours / floor);
  return { what, measured: text, aim: aim > 0 ? `≥ ${aim}` : '', reached: ratio >= aim };
}

/** A result that says how many times slower than the floor ours is. */
export const growth = (what, each, aim) =>
  timesAtMost(
    what,
    ratioOf(each, ({ ours, floor }) => floor / ours),
    aim,
  );

/** A result that says how many times the milliseconds of the floor ours costs. */
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

/** A result whose median over the rounds may not exceed `max`; with `Infinity` it is only reported. */
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

/** A result whose median over the rounds must reach `min`. */
export function atLeast(what, values, min, unit = '') {
  const { measured } = atMost(what, values, Infinity, unit);
  return { what, measured, aim: `≥ ${min} ${unit}`.trim(), reached: middleOf(values) >= min };
}
