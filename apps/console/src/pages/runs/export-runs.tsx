import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { saveBlob } from '../../parts/save-file.ts';
import { texts } from '../../texts/index.ts';
import { maxExported } from './matching-runs.ts';
import { csvOfRuns } from './runs-csv.ts';
import type { Run } from './use-runs.ts';

const formats = [
  { label: 'CSV', name: 'runs.csv', type: 'text/csv', textOf: csvOfRuns },
  {
    label: 'JSON',
    name: 'runs.json',
    type: 'application/json',
    textOf: (runs: readonly Run[]) => `${JSON.stringify(runs, null, 2)}\n`,
  },
];

interface ExportRunsProps {
  label: string;
  read: (signal: AbortSignal) => readonly Run[] | Promise<readonly Run[]>;
}

/** Saves runs as a file. */
export function ExportRuns({ label, read }: ExportRunsProps) {
  const [leaving] = useState(() => new AbortController());
  useEffect(() => () => leaving.abort(), [leaving]);
  const save = useMutation({
    mutationFn: async ({ name, type, textOf }: (typeof formats)[number]) => {
      const runs = await read(leaving.signal);
      saveBlob(new Blob([textOf(runs)], { type }), name);
      return runs.length;
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            leftSection={<Download size={14} aria-hidden />}
            loading={save.isPending}
          >
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {formats.map((format) => (
            <Menu.Item key={format.name} onClick={() => save.mutate(format)}>
              {format.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {save.data === maxExported && (
        <output className="dimmed">{texts.runs.exportedMost(maxExported)}</output>
      )}
      {save.error !== null && (
        <span role="alert" className="dimmed">
          {texts.runs.notExported}: {save.error.message}
        </span>
      )}
    </>
  );
}
