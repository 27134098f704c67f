import { queryOptions } from '@tanstack/react-query';
import { duration } from './duration.ts';
import type { Medium } from './media.ts';
import { bytes } from './quantities.ts';

/** A part is undefined if the browser can't tell it. */
interface MediumFacts {
  width?: number | undefined;
  height?: number | undefined;
  seconds?: number | undefined;
  bytes?: number | undefined;
}

/** A file that never answers says nothing about its size. */
const limitMs = 15_000;

export const mediumFactsQuery = (medium: Medium) =>
  queryOptions({
    queryKey: ['medium-facts', medium.url],
    queryFn: async ({ signal }): Promise<MediumFacts> => {
      const [drawn, size] = await Promise.all([dimensionsOf(medium), bytesOf(medium.url, signal)]);
      return { ...drawn, bytes: size };
    },
    staleTime: Infinity,
    retry: false,
  });

/** Such as `1024 × 768`, `5.0 s` and `1.2 MB`. */
export function factsText({ width, height, seconds, bytes: size }: MediumFacts): string {
  return [
    ...(width !== undefined && height !== undefined && width > 0 ? [`${width} × ${height}`] : []),
    ...(seconds !== undefined && Number.isFinite(seconds) ? [duration(seconds * 1000)] : []),
    ...(size === undefined ? [] : [bytes(size)]),
  ].join(' · ');
}

function dimensionsOf({ kind, url }: Medium): Promise<MediumFacts> {
  if (kind === '3d') return Promise.resolve({});
  const element = kind === 'image' ? new Image() : document.createElement(kind);
  return new Promise((resolve) => {
    const end = (facts: MediumFacts) => {
      clearTimeout(timer);
      element.removeAttribute('src');
      resolve(facts);
    };
    const timer = setTimeout(() => end({}), limitMs);
    element.addEventListener('error', () => end({}));
    if (element instanceof HTMLImageElement) {
      element.addEventListener('load', () =>
        end({ width: element.naturalWidth, height: element.naturalHeight }),
      );
    } else {
      element.preload = 'metadata';
      element.addEventListener('loadedmetadata', () =>
        end({ seconds: element.duration, ...frameOf(element) }),
      );
    }
    element.src = url;
  });
}

const frameOf = (element: HTMLMediaElement): MediumFacts =>
  element instanceof HTMLVideoElement ? { width: element.videoWidth, height: element.videoHeight } : {};

async function bytesOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  if (url.startsWith('data:')) {
    const data = url.slice(url.indexOf(',') + 1);
    return /^data:[^,]*;base64,/i.test(url)
      ? Math.floor((data.replace(/=+$/, '').length * 3) / 4)
      : data.length;
  }
  if (url.startsWith('blob:')) return (await (await fetch(url, { signal })).blob()).size;
  // A link of another server is signed for GET alone.
  if (new URL(url).origin !== location.origin) return undefined;
  const answer = await fetch(url, {
    method: 'HEAD',
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
  });
  const length = answer.ok ? answer.headers.get('content-length') : null;
  return length === null ? undefined : Number(length);
}
