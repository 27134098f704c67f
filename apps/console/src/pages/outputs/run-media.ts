import type { QueryClient } from '@tanstack/react-query';
import { runPromptQuery } from '../../api/run.ts';
import { runResultQuery } from '../../api/run-result.ts';
import { fileNameOf } from '../../parts/file-name.ts';
import type { Medium } from '../../parts/media.ts';
import { resultFindings } from '../../parts/result-findings.ts';
import type { OutputRun } from './use-outputs.ts';

/** The files of a run, with names that say what they are. */
export async function mediaOf(
  queries: QueryClient,
  { model, request_id: run }: OutputRun,
  modalities: readonly string[],
): Promise<Medium[]> {
  const [result, prompt] = await Promise.all([
    queries.fetchQuery(runResultQuery(model, run)),
    queries.fetchQuery(runPromptQuery(run)).catch(() => null),
  ]);
  const { media } = resultFindings(result, modalities);
  return media.map((medium, place) => ({
    ...medium,
    name: fileNameOf({ model, prompt, run }, medium, media.length > 1 ? place : undefined),
  }));
}
