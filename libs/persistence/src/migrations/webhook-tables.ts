/** The default of a workspace's column calls it. In the form of Standard Webhooks: 30 random bytes. */
export const webhookSecrets = /* sql */ `
CREATE FUNCTION new_webhook_secret() RETURNS text LANGUAGE sql VOLATILE
RETURN 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');
`;

export const webhookTables = /* sql */ `
-- The call that tells a caller's own address that its run is completed: written with the outcome, and the outbox of
-- its job until it has ended.
CREATE TABLE webhook (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  origin text NOT NULL,
  bucket text,
  completed_at timestamptz NOT NULL,
  url text NOT NULL,
  -- The origin of the URL: those of one workspace share slots.
  receiver text NOT NULL,
  form text NOT NULL CHECK (form IN ('standard', 'fal')),
  tries integer NOT NULL DEFAULT 0,
  -- How often all tries were asked for once more: what comes of a call that began before that is no try of these.
  redeliveries integer NOT NULL DEFAULT 0,
  -- It found no slot of its receiver, has no job, and is taken when one is free.
  waiting boolean NOT NULL DEFAULT false,
  -- Never, once it has ended.
  due_at timestamptz NOT NULL,
  ended_at timestamptz,
  delivered boolean NOT NULL DEFAULT false,
  -- What came of the last try that failed.
  problem text
) WITH (fillfactor = 70);
CREATE INDEX webhook_due ON webhook (due_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_waiting ON webhook (workspace_id, receiver, run_id) WHERE waiting;
CREATE INDEX webhook_workspace ON webhook (workspace_id, run_id);
-- Most are delivered, and those that are not are looked for.
CREATE INDEX webhook_undelivered ON webhook (workspace_id, run_id) WHERE NOT delivered;
`;
