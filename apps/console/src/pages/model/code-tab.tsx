import { useState } from 'react';
import type { StreamTerms } from '../../api/model-document.ts';
import { CodeExample, type Language } from '../../parts/code-example.tsx';
import { texts } from '../../texts/index.ts';
import { codeOf } from './code.ts';

interface CodeTabProps {
  id: string;
  text: string;
  stream: StreamTerms | undefined;
  /** The provider's own headers that a call may have. */
  headers: string[];
}

export function CodeTab({ id, text, stream, headers }: CodeTabProps) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = codeOf(language, { id, text, origin: location.origin, stream });
  return (
    <div>
      <CodeExample code={code} language={language} onLanguage={setLanguage} />
      <p className="dimmed">{texts.model.codeNote[language]}</p>
      {headers.length > 0 && <p className="dimmed">{texts.model.headersNote(headers)}</p>}
    </div>
  );
}
