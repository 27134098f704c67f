/** A description from the service document, in which backticks mark code. */
export function Prose({ text = '' }: { text?: string | undefined }) {
  if (text === '') return null;
  const parts = text.split('`');
  return (
    <p>
      {parts.map((part, place) => (place % 2 === 1 ? <code key={`${place} ${part}`}>{part}</code> : part))}
    </p>
  );
}
