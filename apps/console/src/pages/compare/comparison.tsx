import { Button } from '@mantine/core';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import type { ModelDocument } from '../../api/model-document.ts';
import { isRefusal } from '../../api/problem.ts';
import { runInputQuery, runQuery, submitRun } from '../../api/run.ts';
import { promptOf } from '../../api/prompt-of.ts';
import { rememberModel } from '../../finding/recent-models.ts';
import { Failure } from '../../parts/failure.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import { isSame, useEarlierInput } from '../model/earlier-input.ts';
import { keepDraft } from '../model/drafts.ts';
import { JsonInput } from '../model/json-input.tsx';
import { useInput } from '../model/use-input.ts';
import { FormSkeleton } from '../model/workbench.tsx';
import { bestOf } from './best-of.ts';
import { ColumnHead } from './column-head.tsx';
import classes from './compare.module.css';
import { PlanView } from './plan-view.tsx';
import { RunFacts } from './run-facts.tsx';
import { type CompareSearch, comparisonDraft } from './search.ts';
import { type Plan, usePlans } from './use-plans.ts';

const InputForm = lazy(async () => ({ default: (await import('../model/form/input-form.tsx')).InputForm }));

interface ComparisonProps {
  models: readonly string[];
  /** The run of each model, empty for one that wasn't run. */
  runs: readonly string[];
  /** The document of the first model, whose input the others share. */
  base: ModelDocument;
  change: (search: CompareSearch) => Promise<void>;
  picker: ReactNode;
}

/** One input on several models: the form of the first, then a column for each. */
export function Comparison({ models, runs, base, change, picker }: ComparisonProps) {
  const [first = ''] = models;
  const [baseRun] = runs;
  const queries = useQueryClient();
  const draft = comparisonDraft(first);
  const shown = baseRun === '' ? undefined : baseRun;
  const earlier = useEarlierInput(shown, base);
  const { text, setText, input, setInput, submitted, isPending, syntax } = useInput(draft, shown, earlier);
  const sent = useQueries({
    queries: runs.map((id) => ({ ...runInputQuery(id), enabled: id !== '' })),
  }).map(({ data }) => data);
  /** The text of a model whose input was changed for it alone; null if that was undone. */
  const [changed, setChanged] = useState<Record<string, string | null>>({});
  // While the shared input is that of the runs, each model shows what its run was sent.
  const isOfRuns = typeof earlier === 'string' && !isPending && isSame(earlier, text);
  const own = models.map((model, place) => {
    const text = changed[model];
    return text === undefined && isOfRuns && place > 0 ? sent[place] : (text ?? undefined);
  });
  const plans = usePlans(models, base, syntax === undefined && !isPending ? input : undefined, own);
  // The results are what matters once they are there.
  const [isInputOpen, setInputOpen] = useState(runs.every((id) => id === ''));
  const [refusals, setRefusals] = useState<Record<string, unknown>>({});
  const [isSubmitting, setSubmitting] = useState(false);
  /** Submissions that may have arrived although their answers didn't, by model and input. Another try joins them. */
  const unanswered = useRef(new Map<string, string>());
  const details = useQueries({
    queries: runs.map((id) => ({ ...runQuery(id), enabled: id !== '' })),
  }).map(({ data }) => data);
  const { lowest, fastest } = bestOf(details);
  const ready = plans.filter(({ isReady }) => isReady);

  const submit = async () => {
    setSubmitting(true);
    setRefusals({});
    const started = await Promise.all(
      plans.map(async (plan) => {
        if (!plan.isReady) return '';
        const place = `${plan.model}\n${plan.text}`;
        const key = unanswered.current.get(place) ?? crypto.randomUUID();
        unanswered.current.set(place, key);
        try {
          const run = await submitRun(plan.model, plan.text, key);
          unanswered.current.delete(place);
          rememberModel(plan.model);
          queries.setQueryData(runInputQuery(run).queryKey, plan.text);
          return run;
        } catch (error) {
          if (isRefusal(error)) unanswered.current.delete(place);
          setRefusals((now) => ({ ...now, [plan.model]: error }));
          return '';
        }
      }),
    );
    setSubmitting(false);
    if (started.every((run) => run === '')) return;
    if (started[0] !== undefined && started[0] !== '') submitted(started[0], text);
    void queries.invalidateQueries({ queryKey: ['requests'] });
    setInputOpen(false);
    await change({ models: models.join(','), runs: started.join(',') });
  };

  const remove = (place: number) => {
    const rest = models.filter((_, at) => at !== place);
    const next = plans[1];
    // The next model's form takes over the input as that model takes it.
    if (place === 0 && next !== undefined && next.text !== '')
      keepDraft(comparisonDraft(next.model), { text: next.text, of: runs[1] === '' ? undefined : runs[1] });
    void change({
      ...(rest.length > 0 && { models: rest.join(',') }),
      ...(runs.length > 0 && { runs: runs.filter((_, at) => at !== place).join(',') }),
    });
  };

  return (
    <>
      <details
        className={classes.input}
        open={isInputOpen}
        onToggle={({ currentTarget }) => setInputOpen(currentTarget.open)}
      >
        <summary>
          <h2>{texts.compare.input}</h2>
          {!isInputOpen && <span className={classes.prompt}>{promptOf(input)}</span>}
        </summary>
        <p className="dimmed">{texts.compare.inputOf(first)}</p>
        {isPending ? (
          <FormSkeleton />
        ) : !base.isAuthored || syntax !== undefined ? (
          <JsonInput
            text={text}
            onChange={setText}
            syntax={syntax}
            problems={plans[0]?.fields ?? []}
            unknown={[]}
          />
        ) : (
          <Suspense fallback={<FormSkeleton />}>
            <InputForm
              document={base}
              input={input}
              onChange={setInput}
              problems={(plans[0]?.fields ?? []).filter(({ type }) => type !== 'missing')}
              unknown={[]}
              filled={undefined}
            />
          </Suspense>
        )}
      </details>
      <div className={classes.bar}>
        <TotalCost plans={plans} />
        {picker}
        <Button
          leftSection={<Play size={14} aria-hidden />}
          loading={isSubmitting}
          disabled={ready.length === 0}
          onClick={() => void submit()}
        >
          {texts.compare.run(ready.length)}
        </Button>
      </div>
      <div className={classes.grid}>
        {plans.map((plan, place) => {
          const run = runs[place] ?? '';
          const refusal = refusals[plan.model];
          return (
            <section key={plan.model} className={classes.column} aria-label={plan.model}>
              <ColumnHead model={plan.model} remove={() => remove(place)} />
              <PlanView
                plan={plan}
                isFirst={place === 0}
                isSent={isOfRuns && run !== '' && refusal === undefined}
                change={(next) => setChanged((now) => ({ ...now, [plan.model]: next }))}
              />
              {refusal !== undefined && (
                <Failure error={refusal} title={texts.model.refused} advice={texts.failure.advice} />
              )}
              {run === '' ? (
                <p className={classes.waiting}>{texts.compare.notRun}</p>
              ) : (
                <RunFacts requestId={run} isLowest={lowest === place} isFastest={fastest === place} />
              )}
            </section>
          );
        })}
      </div>
    </>
  );
}

function TotalCost({ plans }: { plans: readonly Plan[] }) {
  const priced = plans.filter(({ isReady, estimate }) => isReady && estimate !== undefined);
  const sum = (name: 'expected_cents' | 'max_cents') =>
    priced.reduce((total, { estimate }) => total + (estimate?.[name] ?? 0), 0);
  const [expected, most] = [sum('expected_cents'), sum('max_cents')];
  const unready = plans.filter(({ fields, error }) => fields.length > 0 || error !== undefined).length;
  return (
    <p className={`figures ${classes.total}`} aria-live="polite">
      {priced.length > 0 && <strong>{texts.compare.total(dollarsOfCents(expected), priced.length)}</strong>}
      {most > expected && <span className="dimmed"> {texts.model.atMost(dollarsOfCents(most))}</span>}
      {priced.length === 0 && unready === 0 && <span className="dimmed">{texts.model.costPending}</span>}
      {unready > 0 && <span className={classes.unready}> {texts.compare.incomplete(unready)}</span>}
    </p>
  );
}
