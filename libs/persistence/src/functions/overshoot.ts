import { credentialChannel } from './credential-changes.js';

/** The payload on the channel of changes which says that the bounds of prices changed. */
export const overshootNews = 'overshoot';

/**
 * `note_overshoots(noted)` adds what providers charged above the bounds of runs, by the row of the server and its price.
 * `lift` of a row of `noted` is the factor by which the bound of such a run should have been multiplied. The next runs
 * are admitted with the largest factor, at most 4, and processes that quote prices hear of a new one. A changed price
 * has another digest, so it starts without a factor.
 */
export const overshoot = /* sql */ `
CREATE OR REPLACE FUNCTION note_overshoots(noted provider_overshoot[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  lifted double precision := (SELECT sum(lift) FROM provider_overshoot);
BEGIN
  INSERT INTO provider_overshoot AS known (model, price, lift, runs, lost_micros, run_id)
  SELECT model, price, least(4, greatest(1, max(lift))), count(*), sum(lost_micros), max(run_id::text)::uuid
  FROM unnest(noted) GROUP BY model, price
  -- Two sessions that write several rows lock them in the same order.
  ORDER BY model, price
  ON CONFLICT (model, price) DO UPDATE SET lift = greatest(known.lift, excluded.lift), runs = known.runs + excluded.runs,
    lost_micros = known.lost_micros + excluded.lost_micros, run_id = excluded.run_id, last_at = excluded.last_at;
  IF lifted IS DISTINCT FROM (SELECT sum(lift) FROM provider_overshoot) THEN
    PERFORM pg_notify('${credentialChannel}', '${overshootNews}');
  END IF;
END $$;
`;
