import { CopyText } from './copy-text.tsx';
import classes from './parts.module.css';

/** An ID, shortened in the middle. Hovering shows it in full, and copying copies all of it. */
export function CopyId({ id }: { id: string }) {
  return (
    <span title={id} className={classes.id}>
      <code>{id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id}</code>
      <CopyText text={id} />
    </span>
  );
}
