/** A description from the service document, in which backticks mark code. */
export function Prose({ text = '' }: { text?: string | undefined }) {
  if (text === '') return null;
  let at = 0;
  return (
    <p>
      {text.split('`').map((part, place) => {
        at += part.length + 1;
        return place % 2 === 1 ? <code key={at}>{part}</code> : part;
      })}
    </p>
  );
}
