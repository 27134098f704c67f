import { SegmentedControl } from '@mantine/core';
import { texts } from '../texts/index.ts';
import { CodeBlock } from './code-block.tsx';
import classes from './code-example.module.css';
import { CopyText } from './copy-text.tsx';

export const languages = ['curl', 'typescript', 'python'] as const;
export type Language = (typeof languages)[number];

interface CodeExampleProps {
  code: string;
  language: Language;
  onLanguage: (language: Language) => void;
}

/** Code in the chosen language, with a copy button. */
export function CodeExample({ code, language, onLanguage }: CodeExampleProps) {
  return (
    <>
      <div className={classes.bar}>
        <SegmentedControl
          size="xs"
          aria-label={texts.model.language}
          data={languages.map((value) => ({ value, label: texts.model.languages[value] }))}
          value={language}
          onChange={onLanguage}
        />
        <CopyText text={code} />
      </div>
      <CodeBlock text={code} />
    </>
  );
}
