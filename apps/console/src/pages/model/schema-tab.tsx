import type { ModelDocument, Schema } from '../../api/model-document.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { texts } from '../../texts/index.ts';
import { formSchema } from './form/form-schema.ts';
import classes from './model.module.css';

const maxDepth = 3;

/** The fields of input and output, with the full schemas folded below each. */
export function SchemaTab({ document: { input, output } }: { document: ModelDocument }) {
  return (
    <div className={classes.schema}>
      <h3>{texts.model.inputFields}</h3>
      <Fields schema={input} />
      <Raw schema={input} />
      {output !== undefined && (
        <>
          <h3>{texts.model.outputFields}</h3>
          <Fields schema={output} />
          <Raw schema={output} />
        </>
      )}
    </div>
  );
}

function Fields({ schema, depth = 0 }: { schema: Schema; depth?: number }) {
  const shown = formSchema(schema);
  const { properties = {}, required = [] } = shown.items?.properties ? shown.items : shown;
  return (
    <dl className={classes.fields}>
      {Object.entries(properties).map(([name, field]) => (
        <div key={name} className={classes.field}>
          <dt>
            <code>{name}</code>
            {required.includes(name) && <span className={classes.required}>{texts.model.required}</span>}
          </dt>
          <dd>
            <span className={classes.type}>{typeOf(field)}</span>
            {field.description}
            {depth < maxDepth && (field.properties ?? field.items?.properties) && (
              <Fields schema={field} depth={depth + 1} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function typeOf(field: Schema): string {
  const { enum: choices, minimum, maximum, default: shown } = field;
  const range =
    minimum !== undefined || maximum !== undefined ? `${minimum ?? '…'} – ${maximum ?? '…'}` : undefined;
  const known = field['x-service-known-values'];
  const listed = (choices ?? known)?.map((choice) => JSON.stringify(choice));
  const name = listed === undefined ? nameOf(field) : [...listed, ...(known ? ['…'] : [])].join(' | ');
  const standard = shown === undefined ? undefined : texts.model.standard(JSON.stringify(shown));
  return [name, range, standard].filter((part) => part !== undefined).join(' · ');
}

function nameOf({ type, items, anyOf, oneOf }: Schema): string {
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map(nameOf).join(' | ');
  if (type === 'array') return `${items === undefined ? '' : nameOf(items)}[]`;
  return String(type ?? 'any');
}

function Raw({ schema }: { schema: Schema }) {
  const text = JSON.stringify(schema, null, 2);
  return (
    <details>
      <summary className="dimmed">{texts.model.rawSchema}</summary>
      <CopyText text={text} />
      <CodeBlock text={text} />
    </details>
  );
}
