import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { workspaceQuery } from '../../api/workspace.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { ProviderKeys } from './provider-keys.tsx';
import { Terms } from './terms.tsx';
import classes from './settings-page.module.css';

export function SettingsPage() {
  const workspace = useQuery({ ...workspaceQuery, refetchInterval: 5_000 });
  return (
    <>
      <PageTitle title={texts.settings.title} detail={texts.settings.about} />
      <Loaded query={workspace}>
        {(data) => (
          <div className={classes.sections}>
            <Section title={texts.settings.credits} about={texts.settings.creditsText}>
              <dl className={`figures ${classes.amounts}`}>
                <Amount
                  name={texts.settings.balance}
                  value={
                    data.credits_cents === null ? texts.parts.unlimited : dollarsOfCents(data.credits_cents)
                  }
                />
                <Amount name={texts.settings.held} value={dollarsOfCents(data.held_cents)} />
                <Amount name={texts.settings.markup} value={`× ${data.markup}`} />
                <Amount
                  name={texts.settings.reservation}
                  value={texts.settings.reservations[data.reservation]}
                />
              </dl>
            </Section>
            <Section title={texts.settings.limits} about={texts.settings.limitsText}>
              <div className={classes.meters}>
                <Limit name="inflight" {...data.limits.inflight} />
                <Limit name="committed_spend_cents" {...data.limits.committed_spend_cents} />
                <Limit name="backlog" {...data.limits.backlog} />
                <Limit name="runs_per_minute" {...data.limits.runs_per_minute} />
                <Limit name="overdraft_cents" {...data.limits.overdraft_cents} />
              </div>
            </Section>
            {data.credential.scopes.includes('provider_keys') && (
              <Section title={texts.settings.providerKeys} about={texts.settings.providerKeysText}>
                <ProviderKeys />
              </Section>
            )}
            {data.credential.scopes.includes('manage') && (
              <Section title={texts.settings.terms} about={texts.settings.termsText}>
                <Terms terms={data} />
              </Section>
            )}
            <Section title={texts.settings.workspace} about={texts.settings.workspaceText}>
              <dl className={classes.facts}>
                <dt>{texts.settings.name}</dt>
                <dd>{data.name}</dd>
                <dt>{texts.settings.id}</dt>
                <dd>
                  <CopyId id={data.id} />
                </dd>
                <dt>{texts.settings.credential}</dt>
                <dd>
                  {data.credential.key_id === undefined ? (
                    texts.settings.token
                  ) : (
                    <CopyId id={data.credential.key_id} />
                  )}
                </dd>
                <dt>{texts.settings.scopes}</dt>
                <dd>
                  {data.credential.scopes.map((scope) => (
                    <Badge key={scope} variant="default" className={classes.scope}>
                      {scope}
                    </Badge>
                  ))}
                </dd>
              </dl>
            </Section>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <div>
        <h2>{title}</h2>
        <p className="dimmed">{about}</p>
      </div>
      <div>{children}</div>
    </section>
  );
}

function Amount({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

type LimitName = keyof typeof texts.settings.limit;

function Limit({ name, limit, current }: { name: LimitName; limit: number; current: number }) {
  const written = name.endsWith('_cents') ? dollarsOfCents : count;
  return (
    <div>
      <Meter
        label={texts.settings.limit[name].name}
        current={current}
        limit={limit}
        text={texts.parts.of(written(current), written(limit))}
      />
      <p className={`dimmed ${classes.meaning}`}>{texts.settings.limit[name].meaning}</p>
    </div>
  );
}
