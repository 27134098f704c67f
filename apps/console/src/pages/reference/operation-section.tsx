import { Button, Code, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { useCredential } from '../../api/session.ts';
import type { Operation, Parameter, Reference } from '../../api/service-document.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CodeExample, type Language } from '../../parts/code-example.tsx';
import { indentedJson } from '../../parts/indented-json.ts';
import { texts } from '../../texts/index.ts';
import { Prose } from './prose.tsx';
import { addressOf, requestCode, type Values } from './request-code.ts';
import classes from './reference.module.css';
import { ShapeFields, typeOf } from './shape-fields.tsx';

interface Props {
  operation: Operation;
  resolve: Reference['resolve'];
  language: Language;
  onLanguage: (language: Language) => void;
}

/** One route: its parameters, body and answers, and code that calls it. */
export function OperationSection({ operation, resolve, language, onLanguage }: Props) {
  const { operationId, method, path, summary, description, parameters = [], requestBody } = operation;
  const [values, setValues] = useState<Values>(() => examplesOf(parameters, resolve));
  const code = requestCode(language, operation, { origin: location.origin, values });
  const body = requestBody?.content['application/json']?.schema;
  const isCallable = method === 'GET';
  return (
    <section id={operationId} className={classes.operation} aria-labelledby={`${operationId}-title`}>
      <div className={classes.text}>
        <h3 id={`${operationId}-title`}>
          <a href={`#${operationId}`}>{summary}</a>
        </h3>
        <p className={classes.route}>
          <span className={classes.method}>{method}</span> <code>{path}</code>
        </p>
        <Prose text={description} />
        {parameters.length > 0 && <Parameters parameters={parameters} resolve={resolve} />}
        {body !== undefined && (
          <>
            <h4>{texts.reference.body}</h4>
            <Prose text={resolve(body).description} />
            <ShapeFields shape={body} resolve={resolve} />
          </>
        )}
        <Answers operation={operation} resolve={resolve} />
      </div>
      <div className={classes.code}>
        <CodeExample code={code} language={language} onLanguage={onLanguage} />
        {isCallable && (
          <Call
            operation={operation}
            values={values}
            onChange={(name, value) => setValues({ ...values, [name]: value })}
          />
        )}
      </div>
    </section>
  );
}

function Parameters({
  parameters,
  resolve,
}: {
  parameters: readonly Parameter[];
  resolve: Reference['resolve'];
}) {
  return (
    <>
      <h4>{texts.reference.parameters}</h4>
      <dl className={classes.fields}>
        {parameters.map(({ name, in: place, required, description, schema }) => (
          <div key={`${place} ${name}`} className={classes.field}>
            <dt>
              <code>{name}</code>{' '}
              <span className="dimmed">
                {typeOf(schema, resolve)} · {texts.reference.places[place]}
                {!required && ` · ${texts.reference.optional}`}
              </span>
            </dt>
            <dd>
              <Prose text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Answers({ operation: { responses }, resolve }: Pick<Props, 'operation' | 'resolve'>) {
  return (
    <>
      <h4>{texts.reference.answers}</h4>
      <dl className={classes.fields}>
        {Object.entries(responses).map(([status, { description, content = {}, ...more }]) => {
          const shape = Object.values(content).find(({ schema }) => schema !== undefined)?.schema;
          const types = more['x-service-error-types'] ?? [];
          return (
            <div key={status} className={classes.field}>
              <dt>
                <code>{status}</code> <span className="dimmed">{Object.keys(content).join(', ')}</span>
              </dt>
              <dd>
                <Prose text={[description, ...types.map((type) => `\`${type}\``)].join(' ')} />
                {shape !== undefined && types.length === 0 && (
                  <details>
                    <summary>{texts.reference.members(status)}</summary>
                    <ShapeFields shape={shape} resolve={resolve} />
                  </details>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

interface CallProps {
  operation: Operation;
  values: Values;
  onChange: (name: string, value: string) => void;
}

/** Makes a call that changes nothing, with the session's credential, and shows its answer. */
function Call({ operation, values, onChange }: CallProps) {
  const { operationId, parameters = [], security = [] } = operation;
  const credential = useCredential();
  const [answer, setAnswer] = useState<{ status: string; body: string }>();
  const [isBusy, setBusy] = useState(false);
  if (credential === null && security.length > 0)
    return <p className="dimmed">{texts.reference.signInToCall}</p>;
  const send = async () => {
    setBusy(true);
    setAnswer(await answerTo(addressOf(operation, values)));
    setBusy(false);
  };
  const asked = parameters.filter(({ in: place }) => place !== 'header');
  return (
    <form
      className={classes.call}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {asked.map(({ name, required }) => (
        <TextInput
          key={name}
          size="xs"
          label={name}
          id={`${operationId}-${name}`}
          required={required}
          value={values[name] ?? ''}
          onChange={(event) => onChange(name, event.currentTarget.value)}
        />
      ))}
      <Button type="submit" size="xs" variant="default" loading={isBusy}>
        {texts.reference.send}
      </Button>
      <div role="status">
        {answer !== undefined && (
          <>
            <p>
              {texts.reference.answered} <Code>{answer.status}</Code>
            </p>
            <CodeBlock text={answer.body} />
          </>
        )}
      </div>
    </form>
  );
}

/** Longer answers are cut off, since the page would become slow. */
const maxShown = 20_000;
const maxWaitMs = 30_000;

async function answerTo(address: string): Promise<{ status: string; body: string }> {
  try {
    const answer = await call(address, { signal: AbortSignal.timeout(maxWaitMs) });
    const type = answer.headers.get('content-type') ?? '';
    const isJson = type.includes('json');
    const text = isJson || type.startsWith('text/') ? await answer.text() : type;
    const body = isJson ? indentedJson(text) : text;
    return { status: String(answer.status), body: body.slice(0, maxShown) };
  } catch (error) {
    if (error instanceof Problem) return { status: String(error.status), body: error.message };
    return { status: texts.reference.noAnswer, body: String(error) };
  }
}

/** The examples of required parameters, which make the first call work. */
function examplesOf(parameters: readonly Parameter[], resolve: Reference['resolve']): Values {
  return Object.fromEntries(
    parameters.flatMap(({ name, required, schema }) => {
      const [example] = resolve(schema).examples ?? [];
      return required && typeof example === 'string' ? [[name, example]] : [];
    }),
  );
}
