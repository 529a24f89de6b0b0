// Numbers and orders without `Intl`: a browser reads its tables when they are first asked for, which takes a slow laptop longer
// than drawing a page does.

/** A whole number with its thousands apart, such as «12,345». */
export const grouped = (whole: number) => String(whole).replace(/\B(?=(\d{3})+$)/g, ',');

/** Sorts texts that machines made: times, ids, names of files. */
export const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** What a name is sorted by: «Inês» comes before «ines-2». */
export const folded = (name: string) => name.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
