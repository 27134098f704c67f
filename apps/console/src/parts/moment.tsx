import { useEffect, useState } from 'react';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const steps = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A time relative to now. Hovering shows the absolute time. */
export function Moment({ at }: { at: string }) {
  const nowMs = useNow(10_000);
  return (
    <time dateTime={at} title={absolute.format(new Date(at))}>
      {relativeTo(nowMs, Date.parse(at))}
    </time>
  );
}

export function relativeTo(nowMs: number, atMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return unit === 'second' && Math.abs(seconds) < 10
    ? 'just now'
    : relative.format(Math.round(seconds / size), unit);
}

/** The current time, updated at the given interval. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
