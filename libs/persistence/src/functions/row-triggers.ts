/** Trigger functions of `workspace` and `run`. Migrations create the triggers that call them. */
export const rowTriggers = /* sql */ `
CREATE OR REPLACE FUNCTION workspace_keep_peaks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.inflight_peak := greatest(OLD.inflight_peak, NEW.inflight);
  NEW.committed_peak_micros := greatest(OLD.committed_peak_micros, NEW.committed_micros);
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION run_refuse_second_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'run % has its outcome; it is never written again', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
`;
