import { Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouterState } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import {
  isFirstGeneration,
  type Operation,
  type Reference,
  referenceQuery,
} from '../../api/service-document.ts';
import type { Language } from '../../parts/code-example.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { OperationSection } from './operation-section.tsx';
import { Prose } from './prose.tsx';
import classes from './reference.module.css';

const route = getRouteApi('/reference');

/** The API reference, made from the service document. */
export function ReferencePage() {
  const query = useQuery(referenceQuery);
  return (
    <>
      <PageTitle
        title={texts.reference.title}
        detail={
          <span className={classes.lead}>
            {texts.reference.lead} <a href="/openapi.json">OpenAPI</a> · <a href="/llms.txt">llms.txt</a>
          </span>
        }
      />
      <Loaded query={query}>{(reference) => <Contents reference={reference} />}</Loaded>
    </>
  );
}

function Contents({ reference: { areas, resolve } }: { reference: Reference }) {
  const { v1 = false } = route.useSearch();
  const navigate = useNavigate();
  const [sought, setSought] = useState('');
  const [language, setLanguage] = useState<Language>('curl');
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = (operation: Operation) =>
    (v1 || !isFirstGeneration(operation)) && words.every((word) => textOf(operation).includes(word));
  const shown = areas
    .map((area) => ({ ...area, operations: area.operations.filter(isShown) }))
    .filter(({ operations }) => operations.length > 0);

  const hash = useRouterState({ select: ({ location }) => location.hash });
  useEffect(() => {
    if (hash !== '') document.getElementById(hash)?.scrollIntoView();
  }, [hash]);

  return (
    <div className={classes.page}>
      <nav className={classes.contents} aria-label={texts.reference.contents}>
        <TextInput
          size="xs"
          aria-label={texts.reference.search}
          placeholder={texts.reference.search}
          leftSection={<Search size={14} aria-hidden />}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
        <Switch
          size="xs"
          label={texts.reference.firstGeneration}
          checked={v1}
          onChange={(event) =>
            void navigate({
              to: '/reference',
              search: event.currentTarget.checked ? { v1: true } : {},
              replace: true,
            })
          }
        />
        <ul>
          {shown.map(({ name, operations }) => (
            <li key={name}>
              {name}
              <ul>
                {operations.map(({ operationId, summary }) => (
                  <li key={operationId}>
                    <a href={`#${operationId}`}>{summary}</a>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      </nav>
      <div className={classes.sections}>
        {shown.length === 0 && <p role="status">{texts.reference.nothing(sought)}</p>}
        {shown.map(({ name, description, operations }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <Prose text={description} />
            {operations.map((operation) => (
              <OperationSection
                key={operation.operationId}
                operation={operation}
                resolve={resolve}
                language={language}
                onLanguage={setLanguage}
              />
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}

const textOf = ({ method, path, summary, description = '' }: Operation): string =>
  `${method} ${path} ${summary} ${description}`.toLowerCase();
