/**
 * Event streams on their way from a worker to gateways, where there is no Redis; see `PostgresStreams`.
 * `write_stream(runs, kinds, starts, pieces, kept)` adds pieces of several runs, deletes those that lie more than
 * `kept` bytes back, and notifies the gateways. `read_stream(run, from, most)` returns the pieces from an offset on.
 */
export const streams = /* sql */ `
CREATE OR REPLACE FUNCTION write_stream(run_ids uuid[], kinds smallint[], starts bigint[], pieces bytea[], kept bigint)
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO stream_piece (run_id, kind, start, bytes, sent_at)
  SELECT id, piece_kind, piece_start, piece, router_now()
  FROM unnest(run_ids, kinds, starts, pieces) AS each (id, piece_kind, piece_start, piece)
  ON CONFLICT DO NOTHING;
  DELETE FROM stream_piece USING unnest(run_ids, starts) AS each (id, written)
  WHERE run_id = ANY (run_ids) AND run_id = id AND start < written - kept;
  PERFORM pg_notify('mr_stream', id::text) FROM (SELECT DISTINCT unnest(run_ids) AS id) AS written;
END $$;

CREATE OR REPLACE FUNCTION read_stream(read_id uuid, read_from bigint, most integer)
RETURNS TABLE (kind smallint, start bigint, bytes bytea) LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT piece.kind, piece.start, piece.bytes FROM stream_piece AS piece
  WHERE piece.run_id = read_id AND piece.start >= read_from ORDER BY piece.start, piece.kind LIMIT most;
END $$;
`;
