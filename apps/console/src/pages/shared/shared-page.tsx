import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Link2Off } from 'lucide-react';
import { isMissing } from '../../api/problem.ts';
import { sharedInputQuery, sharedResultQuery, sharedRunQuery } from '../../api/shared.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { duration } from '../../parts/duration.ts';
import { Empty } from '../../parts/empty.tsx';
import { indentedJson } from '../../parts/indented-json.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Output } from '../../parts/output.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Simulated } from '../../parts/simulated.tsx';
import { PageSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import classes from './shared-page.module.css';

/** A run as its workspace shows it to anyone with the link. */
export function SharedPage() {
  const { token } = useParams({ from: '/shared/$token' });
  const run = useQuery(sharedRunQuery(token));
  const result = useQuery({ ...sharedResultQuery(token), enabled: run.isSuccess });
  const input = useQuery({ ...sharedInputQuery(token), enabled: run.isSuccess });
  if (isMissing(run.error)) {
    return (
      <Empty title={texts.share.gone} detail={texts.share.goneText}>
        <Link2Off size={32} aria-hidden className="dimmed" />
      </Empty>
    );
  }
  return (
    <Loaded query={run} skeleton={<PageSkeleton />}>
      {({ model, title, output_modalities, simulated, created_at, duration_ms, expires_at }) => (
        <>
          <PageTitle
            title={title ?? model}
            detail={
              <span className={classes.about}>
                <code>{model}</code>
                {simulated && <Simulated />}
                <Moment at={created_at} />
                <span>{texts.share.took(duration(duration_ms))}</span>
                {expires_at !== undefined && (
                  <span>
                    {texts.share.expires} <Moment at={expires_at} />
                  </span>
                )}
              </span>
            }
          />
          <div className={classes.columns}>
            <section aria-label={texts.run.output}>
              <div className={classes.head}>
                <h2>{texts.run.output}</h2>
              </div>
              <Loaded query={result} skeleton={<Skeleton height={320} />}>
                {(loaded) => <Output result={loaded} modalities={output_modalities} />}
              </Loaded>
            </section>
            <section aria-label={texts.run.input}>
              <div className={classes.head}>
                <h2>{texts.run.input}</h2>
                {input.data !== undefined && <CopyText text={input.data} label={texts.run.copyInput} />}
              </div>
              <Loaded query={input} skeleton={<Skeleton height={120} />}>
                {(text) => <CodeBlock text={indentedJson(text)} />}
              </Loaded>
            </section>
          </div>
        </>
      )}
    </Loaded>
  );
}
