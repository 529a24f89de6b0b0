// Times are local and short, in the words of the page; the exact one stands beside them.

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const DAY = 86_400;

/** What is counted in, how long each is, and from when on; two months and less are counted in days, two years and less in months. */
const STEPS: [unit: string, seconds: number, from: number][] = [
  ['year', 365.25 * DAY, 730 * DAY],
  ['month', (365.25 / 12) * DAY, 60 * DAY],
  ['day', DAY, 0.95 * DAY],
  ['hour', 3_600, 0.95 * 3_600],
  ['minute', 60, 0],
];

/** Such as «3 minutes ago», «in 2 days» and «in 14 months». */
export function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) < 45) return seconds <= 0 ? 'just now' : 'in a moment';
  const [unit, length] = STEPS.find(([, , from]) => Math.abs(seconds) >= from) ?? (['minute', 60] as const);
  const count = Math.abs(Math.round(seconds / length));
  if (unit === 'day' && count === 1) return seconds < 0 ? 'yesterday' : 'tomorrow';
  const much = `${count || 1} ${unit}${count > 1 ? 's' : ''}`;
  return seconds < 0 ? `${much} ago` : `in ${much}`;
}

const month = (at: Date) => MONTHS[at.getMonth()] ?? '';
const clock = (at: Date) => [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');

/** A time of today as its clock shows it, another with its day, and that of another year with its year. */
export function stamp(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return clock(at);
  const year = at.getFullYear() === now.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${month(at).slice(0, 3)}${year} ${clock(at)}`;
}

/** Such as «Friday, 27 November». */
export const dayOf = (at: Date) => `${DAYS[at.getDay()]}, ${at.getDate()} ${month(at)}`;

let full: Intl.DateTimeFormat | undefined;

/** As whoever reads it writes times. Only for what is not shown at first: see `plain.ts`. */
export const exact = (at: Date) => (full ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })).format(at);
