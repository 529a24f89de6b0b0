// Times are local and short; the exact one stands beside them.

// A formatter takes longer to make than a page of times to format: each is made when it is first needed.
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
const relative = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' }));
const clock = once(() => new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }));
const day = once(() => new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }));
const date = once(() => new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' }));
const full = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' }));

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Such as «3 minutes ago» and «in 2 days». */
export function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) < 45) return seconds <= 0 ? 'just now' : 'in a moment';
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length * 0.95) return relative().format(Math.round(seconds / length), unit);
  }
  return relative().format(Math.round(seconds / 60), 'minute');
}

/** A time of today as its clock shows it, another with its day, and that of another year with its year. */
export function stamp(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return clock().format(at);
  return `${(at.getFullYear() === now.getFullYear() ? day() : date()).format(at)} ${clock().format(at)}`;
}

export const exact = (at: Date) => full().format(at);
