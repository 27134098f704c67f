import { Pool } from 'undici';

const roundMs = Number(process.env.BENCH_ROUND_MS ?? 3000);

/** How many requests a second are answered, with so many under way at once. Any other status ends it. */
export async function perSecond(origin, request, { concurrency = 16, status = 200 } = {}) {
  const pool = new Pool(origin, { connections: concurrency });
  const untilMs = performance.now() + roundMs;
  let done = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < untilMs) {
        await answered(pool, request, status);
        done += 1;
      }
    }),
  );
  await pool.close();
  return (done * 1000) / roundMs;
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

/** The best of three rounds of each, taken in turns, so that both meet the same moments of the machine. */
export async function against(floor, ours) {
  const best = { floor: 0, ours: 0 };
  for (let round = 0; round < 3; round += 1) {
    best.floor = Math.max(best.floor, await floor());
    best.ours = Math.max(best.ours, await ours());
  }
  return best;
}

/** A result whose measure is a share of what the floor reaches. */
export function share(what, { ours, floor }, aim) {
  const ratio = ours / floor;
  return {
    what,
    measured: `${ratio.toFixed(2)} (${Math.round(ours)} / ${Math.round(floor)} a second)`,
    aim: `≥ ${aim}`,
    reached: ratio >= aim,
  };
}

/** A result whose measure is how many times longer ours takes than the other. */
export function growth(what, { ours, floor }, aim) {
  const times = floor / ours;
  return {
    what,
    measured: `${times.toFixed(2)} times (${Math.round(ours)} / ${Math.round(floor)} a second)`,
    aim: `≤ ${aim} times`,
    reached: times <= aim,
  };
}
