import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { StreamTerms } from '../../api/model-document.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { texts } from '../../texts/index.ts';
import { codeOf, type Language, languages } from './code.ts';
import classes from './model.module.css';

interface CodeTabProps {
  id: string;
  text: string;
  stream: StreamTerms | undefined;
}

export function CodeTab({ id, text, stream }: CodeTabProps) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = codeOf(language, { id, text, origin: location.origin, stream });
  return (
    <div>
      <div className={classes.bar}>
        <SegmentedControl
          size="xs"
          aria-label={texts.model.language}
          data={languages.map((value) => ({ value, label: texts.model.languages[value] }))}
          value={language}
          onChange={setLanguage}
        />
        <CopyText text={code} />
      </div>
      <pre className={classes.code} tabIndex={0}>
        {code}
      </pre>
      <p className="dimmed">{texts.model.codeNote[language]}</p>
    </div>
  );
}
