import { endOfString } from '#schemas';

/** Where a string literal stands in JSON text: the offsets of its opening quote and of what follows its closing one. */
export interface Place {
  start: number;
  end: number;
}

/** What is left of a pointer on the way down; none when the value is the one it points to. */
type Rest = readonly string[];

interface Frame {
  isObject: boolean;
  /** Of the pointers that lead into this container. */
  rests: Rest[];
  awaitsKey: boolean;
  /** Of the value that comes next. */
  next: Rest[];
  index: number;
}

const quote = 0x22;

/**
 * Where the strings stand that the pointers reach (RFC 6901; a segment `*` stands for every element), in the order
 * of the text. Works on the bytes themselves, because what is around them must stay as it is; `json` is valid JSON.
 */
export function stringPlaces(json: Uint8Array, pointers: readonly string[]): Place[] {
  const places: Place[] = [];
  const frames: Frame[] = [];
  let rests: Rest[] = pointers.map(segmentsOf);
  for (let at = 0; at < json.length; at += 1) {
    const frame = frames.at(-1);
    switch (json[at]) {
      case quote: {
        const end = Math.min(endOfString(json, at) + 1, json.length);
        if (frame?.awaitsKey) {
          frame.next = into(frame.rests, () => textAt(json, { start: at, end }));
          frame.awaitsKey = false;
        } else if ((frame?.next ?? rests).some((rest) => rest.length === 0)) {
          places.push({ start: at, end });
        }
        at = end - 1;
        break;
      }
      case 0x7b: // {
      case 0x5b: {
        // [
        rests = frame?.next ?? rests;
        const isObject = json[at] === 0x7b;
        frames.push({
          isObject,
          rests,
          awaitsKey: isObject,
          next: isObject ? [] : into(rests, () => '0'),
          index: 0,
        });
        break;
      }
      case 0x7d: // }
      case 0x5d: // ]
        frames.pop();
        break;
      case 0x2c: // ,
        if (frame?.isObject) frame.awaitsKey = true;
        else if (frame) {
          frame.index += 1;
          frame.next = into(frame.rests, () => String(frame.index));
        }
        break;
      default:
    }
  }
  return places;
}

/** The string that stands there. */
export function textAt(json: Uint8Array, { start, end }: Place): string {
  const literal = Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('utf8');
  return JSON.parse(literal) as string;
}

/** The text with other strings at these places, which come in its order. */
export function replaceStrings(
  json: Uint8Array,
  replacements: readonly (Place & { text: string })[],
): Buffer {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of replacements) {
    parts.push(json.subarray(from, start), Buffer.from(JSON.stringify(text)));
    from = end;
  }
  return Buffer.concat([...parts, json.subarray(from)]);
}

const segmentsOf = (pointer: string): Rest =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The pointers that lead on into the member of this name, which is read only when one of them depends on it. */
function into(rests: Rest[], name: () => string): Rest[] {
  const leading = rests.filter((rest) => rest.length > 0);
  if (leading.length === 0) return leading;
  const named = leading.every(([segment]) => segment === '*') ? '*' : name();
  return leading.filter(([segment]) => segment === '*' || segment === named).map((rest) => rest.slice(1));
}
