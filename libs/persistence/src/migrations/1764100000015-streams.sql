-- The last pieces of event streams on their way from workers to gateways, where there is no Redis. They may be lost,
-- because the whole stream becomes part of the run's outcome, so they need no log.
CREATE UNLOGGED TABLE stream_piece (
  run_id uuid NOT NULL,
  -- The offset of the first byte.
  start bigint NOT NULL,
  -- 0: the media type, which comes first; 1: bytes; 2: the provider has ended the stream.
  kind smallint NOT NULL,
  bytes bytea NOT NULL,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, start, kind)
);
CREATE INDEX stream_piece_sent_at ON stream_piece (sent_at);
