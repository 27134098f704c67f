import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { eachInTurn } from '../../parts/each-in-turn.ts';
import { texts } from '../../texts/index.ts';
import classes from '../../parts/confirm.module.css';
import type { Run } from './use-runs.ts';

/** The result of an action on one run. `problem` says why it was refused. */
export interface BulkResult {
  result: string;
  problem?: string;
}

interface BulkActionProps {
  label: string;
  Icon: LucideIcon;
  title: string;
  detail: ReactNode;
  /** The runs that the action applies to. */
  runs: readonly Run[];
  /** Acts on one run. `attempt` stays the same until the action has succeeded on every run, so that it can be tried again. */
  act: (run: Run, attempt: string) => Promise<BulkResult>;
  /** How many runs had a result, as a line of the summary. */
  summary: Readonly<Record<string, (runs: number) => string>>;
}

/** Asks for confirmation, acts on several runs, and says what became of them. */
export function BulkAction({ label, Icon, title, detail, runs, act, summary }: BulkActionProps) {
  const [opened, { open, close }] = useDisclosure();
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const attempt = useRef('');
  const stop = useRef(new AbortController());
  // The list is reloaded while the action runs, so its runs are those of the moment when the dialog opened.
  const [of, setOf] = useState<readonly Run[]>([]);
  const action = useMutation({
    mutationFn: () => {
      setDone(0);
      stop.current = new AbortController();
      return eachInTurn(of, (run) => act(run, attempt.current), {
        signal: stop.current.signal,
        onDone: setDone,
      });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['runs'] }),
  });
  const isOver = action.data?.length === of.length && action.data.every(({ result }) => result !== 'failed');
  const leave = () => {
    stop.current.abort();
    close();
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon size={14} aria-hidden />}
        disabled={runs.length === 0}
        onClick={() => {
          if (attempt.current === '' || isOver) attempt.current = crypto.randomUUID();
          setOf(runs);
          action.reset();
          open();
        }}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={leave} title={title}>
        <div className={classes.body}>
          {action.data === undefined ? (
            <div>{detail}</div>
          ) : (
            <Summary results={action.data} lines={summary} />
          )}
          {action.isPending && <output>{texts.runs.progress(done, of.length)}</output>}
          <div className={classes.buttons}>
            <Button variant="default" onClick={leave} data-autofocus>
              {action.data !== undefined
                ? texts.runs.close
                : action.isPending
                  ? texts.runs.stop
                  : texts.runs.back}
            </Button>
            {action.data === undefined && (
              <Button loading={action.isPending} onClick={() => action.mutate()}>
                {label}
              </Button>
            )}
          </div>
        </div>
      </Modal>
    </>
  );
}

function Summary({ results, lines }: { results: readonly BulkResult[]; lines: BulkActionProps['summary'] }) {
  const problems = new Set(results.flatMap(({ problem }) => problem ?? []));
  return (
    <div role="status">
      {Object.entries(lines).map(([name, line]) => {
        const count = results.filter(({ result }) => result === name).length;
        return count > 0 && <p key={name}>{line(count)}</p>;
      })}
      {problems.size > 0 && (
        <ul className="dimmed">
          {[...problems].slice(0, maxProblems).map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

const maxProblems = 5;
