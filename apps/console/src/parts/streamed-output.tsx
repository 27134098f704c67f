import { Button } from '@mantine/core';
import { Download } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import { texts } from '../texts/index.ts';
import { CopyText } from './copy-text.tsx';
import classes from './output.module.css';
import { saveBlob } from './save-file.ts';

/** More of the events would make the page slow. */
const maxShownCharacters = 256 * 1024;

interface StreamedOutputProps {
  text: string;
  /** Whether more text may arrive. */
  isOpen: boolean;
  /** The whole stream, once it is stored. */
  events: string | undefined;
}

/** The text of a stream while it arrives and afterwards. Its events are collapsed below. */
export function StreamedOutput({ text, isOpen, events }: StreamedOutputProps) {
  return (
    <div className={classes.output}>
      <div className={classes.said}>
        {!isOpen && text !== '' && <CopyText text={text} />}
        {text === '' && !isOpen ? (
          <p className="dimmed">{texts.output.noText}</p>
        ) : (
          <Words text={text} isOpen={isOpen} />
        )}
      </div>
      {events !== undefined && <Events events={events} isOpenAtFirst={text === ''} />}
    </div>
  );
}

/** Stays scrolled to the end while text arrives, unless the reader scrolls up. */
function Words({ text, isOpen }: Pick<StreamedOutputProps, 'text' | 'isOpen'>) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isOpen && isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <div
      ref={box}
      className={`${classes.text} ${classes.words}`}
      tabIndex={0}
      role="log"
      aria-label={texts.output.answer}
      aria-live={isOpen ? 'polite' : 'off'}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 8;
      }}
    >
      {isOpen ? <Lines text={text} /> : text}
    </div>
  );
}

/** One element for each line, because screen readers read a changed element from its beginning. */
function Lines({ text }: { text: string }) {
  const lines = text.split(/(?<=\n)/);
  return (
    <>
      {lines.map((line, place) => (
        <span key={place}>{line}</span>
      ))}
      <span className={classes.caret} aria-hidden />
    </>
  );
}

function Events({ events, isOpenAtFirst }: { events: string; isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const save = () => saveBlob(new Blob([events], { type: 'text/event-stream' }), 'events.txt');
  return (
    <details open={isOpen} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary className={classes.summary}>{texts.output.events}</summary>
      {isOpen && (
        <>
          <div className={classes.raw}>
            <CopyText text={events} />
            <pre tabIndex={0}>{events.slice(0, maxShownCharacters)}</pre>
          </div>
          <div className={classes.actions}>
            <Button
              variant="default"
              size="xs"
              leftSection={<Download size={14} aria-hidden />}
              onClick={save}
            >
              {texts.output.download}
            </Button>
            {events.length > maxShownCharacters && <p className="dimmed">{texts.output.cut}</p>}
          </div>
        </>
      )}
    </details>
  );
}
