// Numbers and orders without `Intl`: a browser reads its tables when they are first asked for, which takes a slow laptop longer
// than drawing a page does.

/** A whole number with its thousands apart, such as «12,345». */
export const grouped = (whole: number) => String(whole).replace(/\B(?=(\d{3})+$)/g, ',');

/** A count of things, such as «1 file» and «1,250 files». */
export const many = (count: number, one: string, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;

/** An amount of money, such as «1,250 ct». */
export const cents = (amount: number) => `${grouped(amount)} ct`;

/** Earlier before later: a time has as many places of a second as it needs, and its end is no sign that comes after them. */
export const byTime = (a: string, b: string) => byText(a.replace('Z', ''), b.replace('Z', ''));

/** Sorts texts that machines made: times and ids. */
export const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const partsOf = (name: string) => name.split(/(\d+)/);

/** Without its leading zeros a longer number is a larger one, however long. */
const plainly = (digits: string) => digits.replace(/^0+(?=\d)/, '');
const byNumber = (a: string, b: string) => a.length - b.length || byText(a, b);

/** Sorts names as people count: «agent 2» comes before «agent 10». */
export function byName(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const [one = '', other = ''] = [left[at], right[at]];
    // Every second part is a number.
    const order = at % 2 === 1 ? byNumber(plainly(one), plainly(other)) : byText(one, other);
    if (order !== 0) return order;
  }
  return left.length - right.length || byText(a, b);
}

/** What a name is sorted by: «Inês» comes before «ines-2». */
export const folded = (name: string) => name.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
