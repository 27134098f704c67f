import { Client } from 'pg';

/** Models in the history, with the price of a run in micro-dollars. The first ones are used most. */
const models = [
  ['bfl/flux-2-pro', 30_000],
  ['openai/gpt-image-2', 42_000],
  ['fal/veo-3.1-fast', 1_200_000],
  ['bfl/flux-kontext-pro', 40_000],
  ['elevenlabs/eleven_v3', 18_000],
  ['runway/gen4_turbo', 250_000],
  ['fal/flux-dev', 25_000],
  ['meshy/meshy-6', 200_000],
] as const;

const buckets = ['provider_error', 'content_policy_violation', 'provider_timeout', 'invalid_input'] as const;

/** Inserts records of runs that completed before today. The random seed is fixed. */
export async function addHistory(
  databaseUrl: string,
  { workspaceId, keyIds, runs, days }: { workspaceId: string; keyIds: string[]; runs: number; days: number },
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    await client.query('SELECT setseed(0.42)');
    await client.query({
      text: `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome,
          bucket, status, caller_left, admitted_at, granted_at, dispatched_at, output_at, completed_at, cost_micros,
          billed_micros, basis)
        SELECT id, $1, gen_random_uuid(), 'key:' || keys[1 + floor(random() ^ 2 * cardinality(keys))::int], model,
          split_part(model, '/', 1), 'POST /v2/models/{provider}/{model}/requests', CASE WHEN failed THEN 'failed' ELSE 'succeeded' END, CASE WHEN failed THEN bucket END,
          CASE WHEN failed THEN 502 ELSE 200 END, false, at, at + '4 ms', at + '38 ms',
          CASE WHEN NOT failed THEN at + took END, at + took + '310 ms', price,
          CASE WHEN failed THEN 0 ELSE price END, CASE WHEN NOT failed THEN 'computed' END
        FROM (
          SELECT *, overlay(v7_floor(at)::text PLACING right(gen_random_uuid()::text, 12) FROM 25)::uuid AS id,
            models[which] AS model, prices[which]::bigint AS price, random() < 0.06 AS failed,
            buckets[1 + floor(random() ^ 2 * cardinality(buckets))::int] AS bucket,
            make_interval(secs => 2 + random() * random() * 60) AS took
          FROM (
            SELECT $2::text[] AS keys, $3::text[] AS models, $4::bigint[] AS prices, $5::text[] AS buckets,
              1 + floor(random() ^ 1.7 * cardinality($3::text[]))::int AS which,
              date_trunc('day', now()) - make_interval(secs => 60 + 86400 * $7::float * (1 - random() ^ 0.8)) AS at
            FROM generate_series(1, $6::int)
          ) AS drawn
        ) AS made`,
      values: [
        workspaceId,
        keyIds,
        models.map(([id]) => id),
        models.map(([, price]) => price),
        buckets,
        runs,
        days,
      ],
    });
    await client.query('ANALYZE audit_record');
  } finally {
    await client.end();
  }
}
