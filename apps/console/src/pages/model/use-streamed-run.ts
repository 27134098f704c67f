import { useCallback, useEffect, useRef, useState } from 'react';
import { runStreamed } from '../../api/streamed-run.ts';
import type { TextPlaces } from '../../api/streamed-text.ts';

/** The text of a run, as far as it arrived in this tab. */
export interface LiveText {
  run: string;
  text: string;
}

interface Start {
  body: string;
  key: string;
  query: string | undefined;
  places: TextPlaces;
}

/**
 * Runs a model with a stream. `start` resolves with the ID of the run when the provider's answer begins, and rejects if it
 * never does. Leaving the page closes the connection; the run continues.
 */
export function useStreamedRun(model: string) {
  const [live, setLive] = useState<LiveText>();
  const reading = useRef<AbortController>(undefined);
  useEffect(() => () => reading.current?.abort(), []);
  const start = useCallback(
    (terms: Start): Promise<string> => {
      reading.current?.abort();
      const { signal } = (reading.current = new AbortController());
      return new Promise((resolve, reject) => {
        let shown: LiveText | undefined;
        let frame = 0;
        const show = () => {
          frame = 0;
          if (!signal.aborted && shown !== undefined) setLive(shown);
        };
        const onStart = (run: string, isStream: boolean) => {
          if (isStream) shown ??= { run, text: '' };
          show();
          resolve(run);
        };
        // After a retry, the stream begins again. Events may arrive faster than the page is drawn.
        const onText = (text: string) => {
          if (shown === undefined || text.length <= shown.text.length) return;
          shown = { ...shown, text };
          frame ||= requestAnimationFrame(show);
        };
        runStreamed(model, { ...terms, signal, onStart, onText })
          // Once the run is known, its status tells how it ended.
          .catch(reject)
          .finally(() => {
            cancelAnimationFrame(frame);
            show();
          });
      });
    },
    [model],
  );
  return { live, start };
}
