/** Width and height in any unit. */
interface Shape {
  width: number;
  height: number;
}

/** Up to this many choices of a field for shapes may be something else, such as `auto`. */
const maxOthers = 2;

/** The shape that a choice names: `16:9`, `1024x1536`, `square_hd` or `landscape_16_9`. */
export function shapeOf(choice: unknown): Shape | undefined {
  const text = String(choice);
  const pair = /^(\d+(?:\.\d+)?) ?[:x×*] ?(\d+(?:\.\d+)?)$/i.exec(text);
  if (pair !== null) return sized(Number(pair[1]), Number(pair[2]));
  const named = /^(square|portrait|landscape)(?:_hd)?(?:_(\d+)_(\d+))?$/i.exec(text);
  if (named === null) return undefined;
  const [short = 3, long = 4] = [named[2], named[3]]
    .flatMap((side) => side ?? [])
    .map(Number)
    .sort(byValue);
  switch (named[1]?.toLowerCase()) {
    case 'portrait':
      return sized(short, long);
    case 'landscape':
      return sized(long, short);
    default:
      return sized(1, 1);
  }
}

/** Whether a field's choices are shapes. */
export function areShapes(choices: readonly unknown[]): boolean {
  const shapes = choices.filter((choice) => shapeOf(choice) !== undefined).length;
  return shapes >= 2 && choices.length - shapes <= maxOthers;
}

const sized = (width: number, height: number): Shape | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined;

const byValue = (one: number, other: number) => one - other;
