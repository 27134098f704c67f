import { useId, useMemo, useRef } from 'react';
import type { FieldProblem, UnknownField } from '../../api/problem.ts';
import { texts } from '../../texts/index.ts';
import classes from './json-input.module.css';
import { linesOf } from './json-lines.ts';

interface JsonInputProps {
  text: string;
  onChange: (text: string) => void;
  /** Why the text isn't a JSON object. */
  syntax: string | undefined;
  problems: readonly FieldProblem[];
  /** Fields that are most likely typos. */
  unknown: readonly UnknownField[];
}

/** The input exactly as it will be sent, with a mark on each rejected line. */
export function JsonInput({ text, onChange, syntax, problems, unknown }: JsonInputProps) {
  const gutter = useRef<HTMLDivElement>(null);
  const listId = useId();
  const marks = useMemo(() => {
    const lines = linesOf(text);
    return problems.map(({ loc, msg }) => {
      const path = loc.slice(1).map(String);
      // A missing field is marked at its closest existing parent.
      while (path.length > 0 && !lines.has(path.join('/'))) path.pop();
      return { line: lines.get(path.join('/')) ?? 0, path: loc.slice(1).join('.'), msg };
    });
  }, [text, problems]);
  const marked = new Map(marks.map(({ line, msg }) => [line, msg]));
  return (
    <div>
      <div className={classes.editor}>
        <div className={classes.gutter} ref={gutter} aria-hidden>
          {text.split('\n').map((_, line) => (
            <div
              key={line}
              className={marked.has(line) ? classes.marked : undefined}
              title={marked.get(line)}
            >
              {line + 1}
            </div>
          ))}
        </div>
        <textarea
          className={classes.text}
          aria-label={texts.model.json}
          aria-invalid={syntax !== undefined || marks.length > 0}
          aria-describedby={listId}
          spellCheck={false}
          autoCapitalize="off"
          wrap="off"
          rows={Math.min(28, Math.max(12, text.split('\n').length + 1))}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => gutter.current?.scrollTo(0, event.currentTarget.scrollTop)}
        />
      </div>
      <ul id={listId} className={classes.problems} aria-live="polite">
        {syntax !== undefined && <li>{syntax}</li>}
        {marks.map(({ line, path, msg }) => (
          <li key={`${path}${msg}`}>
            {texts.model.line(line + 1)} <code>{path}</code> {msg}
          </li>
        ))}
        {unknown.map(({ name, suggestion }) => (
          <li key={name} className={classes.unknown}>
            <code>{name}</code> {texts.form.meant(suggestion)}
          </li>
        ))}
      </ul>
    </div>
  );
}
