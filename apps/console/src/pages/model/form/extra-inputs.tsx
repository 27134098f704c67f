import { ActionIcon, Button } from '@mantine/core';
import { TriangleAlert, X } from 'lucide-react';
import type { Input, Schema } from '../../../api/model-document.ts';
import type { UnknownField } from '../../../api/problem.ts';
import { texts } from '../../../texts/index.ts';
import { type Extra, extrasOf, without } from './form-layout.ts';
import classes from './form.module.css';

const { form } = texts;
const maxShown = 120;

interface ExtraInputsProps {
  shown: Schema;
  input: Input;
  unknown: readonly UnknownField[];
  onChange: (input: Input) => void;
}

/** Lists the parts of the input that have no field in the form, and suggests the field that was most likely meant. */
export function ExtraInputs({ shown, input, unknown, onChange }: ExtraInputsProps) {
  const extras = extrasOf(shown, input);
  if (extras.length === 0) return null;
  return (
    <section className={classes.extras} aria-label={form.extras}>
      <p>{form.extras}</p>
      <ul>
        {extras.map((extra) => {
          const name = extra.path.join('.');
          const meant = extra.path.length === 1 ? unknown.find((each) => each.name === name) : undefined;
          return (
            <li key={name}>
              <code>{name}</code>
              <code className={classes.extraValue}>{shortened(extra)}</code>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={form.clear(name)}
                onClick={() => onChange(without(input, extra.path))}
              >
                <X size={14} aria-hidden />
              </ActionIcon>
              {meant !== undefined && (
                <span className={classes.meant}>
                  <TriangleAlert size={14} aria-hidden />
                  {form.meant(meant.suggestion)}
                  <Button
                    variant="default"
                    size="compact-xs"
                    onClick={() =>
                      onChange({ ...without(input, extra.path), [meant.suggestion]: extra.value })
                    }
                  >
                    {form.rename}
                  </Button>
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function shortened({ value }: Extra): string {
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
