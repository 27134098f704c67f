import { useCallback, useEffect, useRef, useState } from 'react';
import { uploadFile } from '../../../../api/files.ts';
import { trackedUpload } from '../../../../api/tracked-upload.ts';
import { untilUploaded } from './uploads-underway.ts';

export interface Upload {
  id: number;
  file: File;
  /** The share that has been sent, from 0 to 1. */
  share: number;
  /** Why it failed. */
  problem?: string | undefined;
  /** Whether the field doesn't take the file, so that trying again is of no use. */
  isRefused: boolean;
}

/**
 * Uploads files one after another, so that their order is kept. `done` gets the link of each. A failure doesn't
 * hold up the others. Leaving the page ends all of them.
 */
export function useUploads(done: (url: string, name: string) => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const latestDone = useRef(done);
  useEffect(() => {
    latestDone.current = done;
  });
  const last = useRef(Promise.resolve());
  const ending = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const all = ending.current;
    return () => all.forEach((each) => each.abort());
  }, []);

  const change = useCallback(
    (id: number, changes: Partial<Upload>) =>
      setUploads((now) => now.map((each) => (each.id === id ? { ...each, ...changes } : each))),
    [],
  );
  const drop = useCallback((id: number) => {
    ending.current.get(id)?.abort();
    setUploads((now) => now.filter((each) => each.id !== id));
  }, []);
  const send = useCallback(
    ({ id, file }: Upload) => {
      const end = new AbortController();
      ending.current.set(id, end);
      const attempt = async () => {
        if (end.signal.aborted) return;
        try {
          const transport = trackedUpload(file, (share) => change(id, { share }));
          const { url } = await uploadFile(file, { signal: end.signal, transport });
          drop(id);
          latestDone.current(url, file.name);
        } catch (error) {
          if (!end.signal.aborted)
            change(id, { problem: error instanceof Error ? error.message : String(error) });
        }
      };
      last.current = untilUploaded(id, last.current.then(attempt));
    },
    [change, drop],
  );
  /** `problemOf` says why a file isn't even sent. */
  const add = useCallback(
    (files: readonly File[], problemOf: (file: File) => string | undefined) => {
      const added = files.map((file) => {
        const problem = problemOf(file);
        return { id: (nextId += 1), file, share: 0, problem, isRefused: problem !== undefined };
      });
      setUploads((now) => [...now, ...added]);
      for (const upload of added) if (!upload.isRefused) send(upload);
    },
    [send],
  );
  const retry = useCallback(
    (upload: Upload) => {
      change(upload.id, { share: 0, problem: undefined });
      send(upload);
    },
    [change, send],
  );
  return { uploads, add, retry, drop };
}

let nextId = 0;
