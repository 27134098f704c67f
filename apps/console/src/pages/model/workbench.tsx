import { Button, Kbd, SegmentedControl, Skeleton, Switch } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { useCostEstimate } from '../../api/cost-estimate.ts';
import { fileLink } from '../../api/files.ts';
import type { ModelDocument } from '../../api/model-document.ts';
import type { ModelEntry } from '../../api/models.ts';
import { isRefusal, Problem } from '../../api/problem.ts';
import { runInputQuery, submitRun } from '../../api/run.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import { CompareWith } from '../compare/compare-with.tsx';
import { CostLine } from './cost-line.tsx';
import { isSame, useEarlierInput } from './earlier-input.ts';
import { labelOf } from './form/form-schema.ts';
import { useIsUploading } from './form/media/uploads-underway.ts';
import { History } from './history.tsx';
import { JsonInput } from './json-input.tsx';
import classes from './model.module.css';
import { ModelTabs } from './model-tabs.tsx';
import { rememberModel } from '../../finding/recent-models.ts';
import { RunPanel } from './run-panel.tsx';
import { SampleOutput, Samples } from './samples.tsx';
import { fieldTaking, withFile } from './takes.ts';
import { emptyInput, useInput } from './use-input.ts';
import { useStreamedRun } from './use-streamed-run.ts';

const InputForm = lazy(async () => ({ default: (await import('./form/input-form.tsx')).InputForm }));
const route = getRouteApi('/models/$provider/$model');

interface WorkbenchProps {
  id: string;
  document: ModelDocument;
  entry: ModelEntry | undefined;
}

/** The input on the left, the run on the right, and the tabs below. */
export function Workbench({ id, document, entry }: WorkbenchProps) {
  const { run, view, from, sample } = route.useSearch();
  const navigate = useNavigate({ from: '/models/$provider/$model' });
  const queries = useQueryClient();
  const earlier = useEarlierInput(run ?? from, document, sample);
  const { text, setText, input, setInput, submitted, filled, isPending, syntax } = useInput(
    id,
    run ?? from ?? sample,
    earlier,
  );
  const { estimate, fields, unknown, isFinal } = useCostEstimate(id, text, syntax === undefined);
  const [isSubmitting, setSubmitting] = useState(false);
  const [isSwitchedOn, setSwitchedOn] = useState(false);
  const { live, start } = useStreamedRun(id);
  const isStream =
    document.stream?.member === undefined ? isSwitchedOn : input[document.stream.member] === true;
  const stream = isStream ? document.stream : undefined;
  const [refusal, setRefusal] = useState<unknown>();
  // Missing fields aren't mistakes until the user tries to run the model.
  const [wasTried, setTried] = useState(false);
  /** A submission that may have arrived although its answer didn't. Running the same input again joins its run. */
  const isUploading = useIsUploading();
  const unanswered = useRef<{ text: string; key: string }>(undefined);
  const problems = wasTried || view === 'json' ? fields : fields.filter(({ type }) => type !== 'missing');
  const isIncomplete = wasTried && isFinal && fields.length > 0;

  const show = (run: string) => {
    unanswered.current = undefined;
    rememberModel(id);
    queries.setQueryData(runInputQuery(run).queryKey, text);
    submitted(run, text);
    void queries.invalidateQueries({ queryKey: ['requests'] });
    return navigate({
      search: (now) => ({ ...now, run, from: undefined, sample: undefined }),
      replace: true,
      resetScroll: false,
    });
  };
  const submit = async () => {
    if (isSubmitting || isPending || isUploading || syntax !== undefined) return;
    setTried(true);
    setRefusal(undefined);
    // The service has already said what is wrong with this input.
    if (isFinal && fields.length > 0) return;
    setSubmitting(true);
    const key = unanswered.current?.text === text ? unanswered.current.key : crypto.randomUUID();
    unanswered.current = { text, key };
    try {
      const run =
        stream !== undefined
          ? await start({ body: text, key, query: stream.query, places: stream.text })
          : await submitRun(id, text, key);
      await show(run);
    } catch (error) {
      // The run failed before its stream began, and says so itself.
      if (stream !== undefined && error instanceof Problem && error.runId !== undefined)
        await show(error.runId);
      else {
        if (isRefusal(error)) unanswered.current = undefined;
        setRefusal(error);
      }
    } finally {
      setSubmitting(false);
    }
  };
  useHotkeys([['mod+Enter', () => void submit()]], []);

  // The example fills only what is empty.
  const canTry =
    syntax === undefined && Object.keys(document.example).some((name) => input[name] === undefined);
  const isChanged = run !== undefined && typeof earlier === 'string' && !isPending && !isSame(earlier, text);
  return (
    <>
      <div className={classes.columns}>
        <section aria-label={texts.model.input} className={classes.column}>
          <div className={classes.bar}>
            <h2>{texts.model.input}</h2>
            <div className={classes.example}>
              {canTry && (
                <Button
                  variant="subtle"
                  size="compact-xs"
                  onClick={() => setInput({ ...document.example, ...input })}
                >
                  {texts.model.tryExample}
                </Button>
              )}
              {text.trim() !== emptyInput && (
                <Button variant="subtle" color="gray" size="compact-xs" onClick={() => setText(emptyInput)}>
                  {texts.model.clear}
                </Button>
              )}
            </div>
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
          {earlier === null && <p className="dimmed">{texts.model.inputGone}</p>}
          {filled !== undefined && (
            <p role="status" className={classes.filledNote}>
              {texts.model.filled(labelOf(filled.field), filled.from)}
            </p>
          )}
          {isPending ? (
            <FormSkeleton />
          ) : view === 'json' || !document.isAuthored ? (
            <JsonInput text={text} onChange={setText} syntax={syntax} problems={problems} unknown={unknown} />
          ) : syntax !== undefined ? (
            <p className="dimmed">{texts.model.noForm}</p>
          ) : (
            <Suspense fallback={<FormSkeleton />}>
              <InputForm
                document={document}
                input={input}
                onChange={setInput}
                problems={problems}
                unknown={unknown}
                filled={filled && [filled.field]}
              />
            </Suspense>
          )}
          <div className={classes.submit}>
            {isIncomplete ? (
              <p role="alert" className={classes.incomplete}>
                {texts.model.incomplete}
              </p>
            ) : (
              <CostLine estimate={estimate} isRefused={fields.length > 0} />
            )}
            <div className={classes.actions}>
              {entry !== undefined && <CompareWith entry={entry} text={text} />}
              {document.stream?.query !== undefined && (
                <Switch
                  size="sm"
                  label={texts.model.stream}
                  checked={isSwitchedOn}
                  onChange={({ currentTarget: { checked } }) => setSwitchedOn(checked)}
                />
              )}
              <Button
                leftSection={<Play size={14} aria-hidden />}
                rightSection={<Kbd className={classes.keys}>⌘↵</Kbd>}
                loading={isSubmitting}
                disabled={syntax !== undefined || isPending || isUploading}
                onClick={() => void submit()}
              >
                {isUploading ? texts.model.uploading : texts.model.run}
              </Button>
            </div>
          </div>
        </section>
        <section aria-label={texts.model.result} className={classes.column}>
          {refusal !== undefined && (
            <Failure error={refusal} title={texts.model.refused} advice={texts.failure.advice} />
          )}
          {isChanged && (
            <p className={classes.changed}>
              {texts.model.changed}
              <Button variant="subtle" size="compact-xs" onClick={() => setText(earlier)}>
                {texts.model.restore}
              </Button>
            </p>
          )}
          {run === undefined && sample !== undefined && !isSubmitting ? (
            <SampleOutput
              id={id}
              token={sample}
              modalities={entry?.output_modalities ?? []}
              places={document.stream?.text}
            />
          ) : (
            <RunPanel
              id={id}
              requestId={run}
              modalities={entry?.output_modalities ?? []}
              isStarting={isSubmitting && stream !== undefined}
              live={live}
              places={document.stream?.text}
              takeMedium={(medium, taking) => {
                void fileLink(medium.url, medium.name).then((url) =>
                  setInput(withFile(input, taking, url), { field: taking.field, from: id }),
                );
              }}
              taking={(kind) => fieldTaking(document, kind)}
            />
          )}
          <Samples
            id={id}
            shown={run === undefined ? sample : undefined}
            modalities={entry?.output_modalities ?? []}
          />
          <History id={id} shown={run} modalities={entry?.output_modalities ?? []} />
        </section>
      </div>
      <ModelTabs id={id} document={document} entry={entry} text={text} stream={stream} />
    </>
  );
}

export function FormSkeleton() {
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
