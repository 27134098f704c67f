import type { ReactNode } from 'react';
import classes from './models.module.css';
import type { Modality } from './search.ts';

/** A drawing in place of a sample output. The modality sets the motif; the model's ID sets colours and shapes. */
export function ModelMark({ id, modality }: { id: string; modality: Modality }) {
  const next = numbersOf(id);
  const hue = Math.floor(next() * 360);
  const motif = motifs[modality](next);
  return (
    <svg className={classes.mark} viewBox="0 0 320 120" preserveAspectRatio="xMidYMid slice" aria-hidden>
      <rect width="320" height="120" fill={`oklch(0.32 0.075 ${hue})`} />
      <g fill={`oklch(0.72 0.12 ${hue})`} stroke={`oklch(0.8 0.1 ${(hue + 50) % 360})`}>
        {motif}
      </g>
    </svg>
  );
}

type Numbers = () => number;

const motifs: Record<Modality, (next: Numbers) => ReactNode> = {
  // Hills under a sun.
  image: (next) => (
    <>
      <circle cx={60 + next() * 200} cy={30 + next() * 20} r={12 + next() * 8} stroke="none" />
      {[0.35, 0.6, 1].map((opacity, place) => (
        <path key={opacity} d={hill(next, 62 + place * 18)} opacity={opacity * 0.8} stroke="none" />
      ))}
    </>
  ),
  // Frames of a film strip.
  video: (next) => {
    const shift = next() * 24;
    return Array.from({ length: 5 }, (_, place) => (
      <rect
        key={place}
        x={12 + place * 62}
        y={38 + Math.sin(place + shift) * 12}
        width="48"
        height="44"
        rx="6"
        opacity={0.25 + place * 0.16}
        stroke="none"
      />
    ));
  },
  // The bars of a waveform.
  audio: (next) =>
    Array.from({ length: 36 }, (_, place) => {
      const height = 8 + next() * 70 * Math.sin(((place + 1) / 37) * Math.PI);
      return (
        <rect
          key={place}
          x={18 + place * 8}
          y={60 - height / 2}
          width="4"
          height={height}
          rx="2"
          stroke="none"
        />
      );
    }),
  // A wireframe solid.
  '3d': (next) => {
    const turn = 16 + next() * 24;
    return (
      <g fill="none" strokeWidth="2" strokeLinejoin="round">
        <path d={`M160 18 L${160 + 52} ${42 - turn / 8} V86 L160 108 L108 86 V${42 - turn / 8} Z`} />
        <path
          d={`M108 ${42 - turn / 8} L160 ${58 + turn / 4} L212 ${42 - turn / 8} M160 ${58 + turn / 4} V108`}
        />
      </g>
    );
  },
  // Lines of text.
  text: (next) =>
    Array.from({ length: 5 }, (_, place) => (
      <rect
        key={place}
        x="48"
        y={26 + place * 15}
        width={70 + next() * 150}
        height="6"
        rx="3"
        opacity={0.9 - place * 0.13}
        stroke="none"
      />
    )),
  // Points in a space.
  embedding: (next) =>
    Array.from({ length: 24 }, (_, place) => (
      <circle
        key={place}
        cx={48 + next() * 224}
        cy={18 + next() * 84}
        r={2 + next() * 4}
        opacity={0.3 + next() * 0.6}
        stroke="none"
      />
    )),
};

function hill(next: Numbers, top: number): string {
  const heights = Array.from({ length: 4 }, () => top - 14 + next() * 28);
  const [start, one, other, end] = heights;
  return `M0 ${start} C80 ${one} 120 ${one} 180 ${other} S280 ${end} 320 ${end} V120 H0 Z`;
}

/** A random number generator (0 to 1) seeded with the text. */
function numbersOf(text: string): Numbers {
  let state = Array.from(text).reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619),
    2_166_136_261,
  );
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
