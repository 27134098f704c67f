import { Button, Kbd, SegmentedControl, Skeleton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { useCostEstimate } from '../../api/cost-estimate.ts';
import { call } from '../../api/client.ts';
import type { Input, ModelDocument } from '../../api/model-document.ts';
import type { ModelEntry } from '../../api/models.ts';
import { isRefusal } from '../../api/problem.ts';
import { Failure } from '../../parts/failure.tsx';
import type { Medium } from '../../parts/media.ts';
import { texts } from '../../texts/index.ts';
import { CostLine } from './cost-line.tsx';
import { fieldFor } from './field-for.ts';
import { JsonInput } from './json-input.tsx';
import classes from './model.module.css';
import { ModelTabs } from './model-tabs.tsx';
import { rememberModel } from './recent-models.ts';
import { RunPanel } from './run-panel.tsx';
import { useInput } from './use-input.ts';

const InputForm = lazy(async () => ({ default: (await import('./form/input-form.tsx')).InputForm }));
const route = getRouteApi('/models/$provider/$model');

interface WorkbenchProps {
  id: string;
  document: ModelDocument;
  entry: ModelEntry | undefined;
  initial: Input;
}

/** The input on the left, the run on the right, and the tabs below. */
export function Workbench({ id, document, entry, initial }: WorkbenchProps) {
  const { run, view, from } = route.useSearch();
  const navigate = useNavigate({ from: '/models/$provider/$model' });
  const queries = useQueryClient();
  const { text, setText, input, setInput, syntax } = useInput(`${id} ${from ?? ''}`, initial);
  const { estimate, fields } = useCostEstimate(id, text, syntax === undefined);
  const [isSubmitting, setSubmitting] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  // Missing fields aren't mistakes until the user tries to run the model.
  const [wasTried, setTried] = useState(false);
  /** A submission that may have arrived although its answer didn't. Running the same input again joins its run. */
  const unanswered = useRef<{ text: string; key: string }>(undefined);
  const problems = wasTried || view === 'json' ? fields : fields.filter(({ type }) => type !== 'missing');

  const submit = async () => {
    if (isSubmitting || syntax !== undefined) return;
    setTried(true);
    setSubmitting(true);
    setRefusal(undefined);
    const key = unanswered.current?.text === text ? unanswered.current.key : crypto.randomUUID();
    unanswered.current = { text, key };
    try {
      const answer = await call(`/v2/models/${id}/requests`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: text,
      });
      const { request_id } = (await answer.json()) as { request_id: string };
      unanswered.current = undefined;
      rememberModel(id);
      void queries.invalidateQueries({ queryKey: ['requests'] });
      await navigate({ search: (now) => ({ ...now, run: request_id }), replace: true, resetScroll: false });
    } catch (error) {
      if (isRefusal(error)) unanswered.current = undefined;
      setRefusal(error);
    } finally {
      setSubmitting(false);
    }
  };
  useHotkeys([['mod+Enter', () => void submit()]], []);

  const use = ({ kind, url }: Medium) => {
    const field = fieldFor(document.input, kind);
    if (field !== undefined) setInput({ ...input, [field.name]: field.isList ? [url] : url });
  };
  const takes = (kind: Medium['kind']) => fieldFor(document.input, kind) !== undefined;
  return (
    <>
      <div className={classes.columns}>
        <section aria-label={texts.model.input} className={classes.column}>
          <div className={classes.bar}>
            <h2>{texts.model.input}</h2>
            <SegmentedControl
              size="xs"
              aria-label={texts.model.view}
              data={[
                { value: 'form', label: texts.model.form },
                { value: 'json', label: texts.model.json },
              ]}
              value={view ?? 'form'}
              onChange={(next) =>
                void navigate({
                  search: (now) => ({ ...now, view: next === 'json' ? 'json' : undefined }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </div>
          {view === 'json' || !document.isAuthored ? (
            <JsonInput text={text} onChange={setText} syntax={syntax} problems={problems} />
          ) : syntax !== undefined ? (
            <p className="dimmed">{texts.model.noForm}</p>
          ) : (
            <Suspense fallback={<FormSkeleton />}>
              <InputForm schema={document.input} input={input} onChange={setInput} problems={problems} />
            </Suspense>
          )}
          <div className={classes.submit}>
            <CostLine estimate={estimate} isRefused={fields.length > 0} />
            <Button
              leftSection={<Play size={14} aria-hidden />}
              rightSection={<Kbd className={classes.keys}>⌘↵</Kbd>}
              loading={isSubmitting}
              disabled={syntax !== undefined}
              onClick={() => void submit()}
            >
              {texts.model.run}
            </Button>
          </div>
        </section>
        <section aria-label={texts.model.result} className={classes.column}>
          {refusal !== undefined && (
            <Failure error={refusal} title={texts.model.refused} advice={texts.failure.advice} />
          )}
          <RunPanel
            id={id}
            requestId={run}
            modalities={entry?.output_modalities ?? []}
            useMedium={use}
            takes={takes}
          />
        </section>
      </div>
      <ModelTabs id={id} document={document} entry={entry} text={text} />
    </>
  );
}

function FormSkeleton() {
  return (
    <div className={classes.skeletons} aria-busy="true" aria-label={texts.parts.loading}>
      <Skeleton height={96} />
      <Skeleton height={56} />
      <Skeleton height={56} />
      <Skeleton height={56} />
    </div>
  );
}

export function ModelSkeleton() {
  return (
    <div className={classes.columns}>
      <FormSkeleton />
      <Skeleton height={320} />
    </div>
  );
}
