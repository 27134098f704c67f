/** The outbox row of a run, by the whole of its key. `run` has `id` and `workspace_id`. */
export const rowOf = (run: string): string =>
  `outbox.workspace_id = ${run}.workspace_id AND outbox.run_id = ${run}.id`;
