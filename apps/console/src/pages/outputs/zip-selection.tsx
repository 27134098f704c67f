import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ModelEntry } from '../../api/models.ts';
import { saveBlob } from '../../parts/save-file.ts';
import selectionClasses from '../../parts/selection.module.css';
import { texts } from '../../texts/index.ts';
import { mediaOf } from './run-media.ts';
import type { OutputRun } from './use-outputs.ts';
import { zipped } from './zip.ts';

interface ZipSelectionProps {
  runs: readonly OutputRun[];
  entryOf: (run: OutputRun) => ModelEntry | undefined;
  clear: () => void;
}

/** Saves the files of the selected runs as one archive. */
export function ZipSelection({ runs, entryOf, clear }: ZipSelectionProps) {
  const queries = useQueryClient();
  const [files, setFiles] = useState(0);
  const [leaving] = useState(() => new AbortController());
  useEffect(() => () => leaving.abort(), [leaving]);
  const save = useMutation({
    mutationFn: async () => {
      setFiles(0);
      const media = [];
      for (const run of runs)
        media.push(...(await mediaOf(queries, run, entryOf(run)?.output_modalities ?? [])));
      saveBlob(await zipped(media, { signal: leaving.signal, onFile: setFiles }), 'outputs.zip');
    },
  });
  return (
    <section aria-label={texts.outputs.selection} className={selectionClasses.selection}>
      <output>
        {save.isPending ? texts.outputs.downloading(files) : texts.outputs.selected(runs.length)}
      </output>
      <Button
        size="xs"
        leftSection={<Download size={14} aria-hidden />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        {texts.outputs.download}
      </Button>
      <Button variant="subtle" color="gray" size="xs" disabled={save.isPending} onClick={clear}>
        {texts.outputs.clear}
      </Button>
      {save.error !== null && (
        <p role="alert" className={selectionClasses.problem}>
          {texts.outputs.notDownloaded}: {save.error.message}
        </p>
      )}
    </section>
  );
}
