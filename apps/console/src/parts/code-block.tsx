import classes from './code-block.module.css';

/** Code or data that may be long. It scrolls on its own, by keyboard too. */
export function CodeBlock({ text }: { text: string }) {
  return (
    <pre className={classes.code} tabIndex={0}>
      {text}
    </pre>
  );
}
