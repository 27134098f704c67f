import { useEffect, useState } from 'react';
import type { components } from './openapi.d.ts';
import { call } from './client.ts';
import { eventsOf } from './event-stream.ts';
import { Problem } from './problem.ts';

export type RunStatus = components['schemas']['RouterQueueStatusResponse'];

interface Followed {
  status?: RunStatus;
  /** From 0 to 1, if the provider reports progress. */
  progress?: number;
  error?: unknown;
}

/** Delay before reopening a stream that broke or ended early. */
const reopenMs = 1000;

/** The live state of a run, from the status stream. */
export function useRunStatus(model: string, requestId: string | undefined): Followed {
  const [followed, setFollowed] = useState<Followed & { of?: string }>({});
  useEffect(() => {
    if (requestId === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    const show = (part: Followed) => {
      if (!signal.aborted)
        setFollowed((now) => ({ ...(now.of === requestId && now), ...part, of: requestId }));
    };
    void follow(`/v2/models/${model}/requests/${requestId}/status/stream`, show, signal);
    return () => controller.abort();
  }, [model, requestId]);
  return followed.of === requestId ? followed : {};
}

async function follow(url: string, show: (part: Followed) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { event, data } of eventsOf(await call(url, { signal }))) {
        if (event === 'progress') {
          show(JSON.parse(data) as { progress: number } satisfies Followed);
          continue;
        }
        const status = JSON.parse(data) as RunStatus;
        show({ status });
        if (status.status === 'COMPLETED') return;
      }
    } catch (error) {
      if (signal.aborted) return;
      // A 4xx is final; a broken connection is reopened.
      if (error instanceof Problem && error.status >= 400 && error.status < 500) return show({ error });
    }
    await new Promise((resolve) => setTimeout(resolve, reopenMs));
  }
}
