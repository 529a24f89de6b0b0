// What a page shows at first is read before it is drawn, so that it is drawn once, and not in parts.

import { firstOf, isLater, NEWS, reads, type ReadName } from './ahead';
import { approvalExplainOptions, approvalReadOptions, inboxListOptions, killListOptions, policyExportOptions, policyReadOptions, queries } from './api';
import { poll } from './live';
import { firstOf as firstWaiting } from './pages/approvals/which';
import { newestOptions } from './pages/log/useLog';
import { ownedOptions, runsOptions, tasksOptions } from './pages/work/useWork';
import { actorsOptions } from './parts/Actor';
import { cansOptions } from './parts/guard';
import { headOptions } from './proof/useHead';
import { approvalsOptions, companyOptions, breakGlassOptions, meOptions, waitsFor } from './shell/useMe';

/** How the program reads each of what was asked ahead, for `me`. */
const READINGS: Record<ReadName, (me: string) => Promise<unknown>> = {
  actors: () => queries.prefetchInfiniteQuery(actorsOptions()),
  happened: poll,
  pending: () => queries.prefetchInfiniteQuery(approvalsOptions('mine')),
  owned: (me) => queries.prefetchQuery(ownedOptions(me)),
  runs: () => queries.prefetchQuery(runsOptions()),
  company: () => queries.prefetchQuery(companyOptions()),
  kills: () => queries.prefetchQuery(killListOptions()),
  breakGlass: () => queries.prefetchQuery(breakGlassOptions()),
  policy: () => queries.prefetchQuery(policyReadOptions()),
  inbox: () => queries.prefetchQuery(inboxListOptions({ query: { limit: NEWS } })),
  head: () => queries.prefetchQuery(headOptions()),
  // With the head.
  key: () => Promise.resolve(),
  newest: () => queries.prefetchQuery(newestOptions({})),
  files: () => queries.prefetchQuery(policyExportOptions()),
  tasks: () => queries.prefetchQuery(tasksOptions()),
};

/** The address of the approval that is open from the beginning, once it has been read. */
async function openApproval(me: string | undefined): Promise<string | undefined> {
  const read = queries.getQueryData(approvalsOptions('mine').queryKey);
  const mine = read?.pages.flatMap(({ rows }) => rows).filter((approval) => waitsFor(approval, me)) ?? [];
  const id = firstWaiting(mine);
  if (!id) return undefined;
  queries.setQueryData(approvalReadOptions({ path: { id } }).queryKey, mine[0]);
  await queries.prefetchQuery(approvalExplainOptions({ path: { id } }));
  return `/approvals/${id}`;
}

/** Reads what `page` begins with, as far as the reader may, and says where it leads at once. The addresses are those that were asked ahead. */
export async function readFirst(page: Pick<Location, 'pathname' | 'search'>): Promise<string | undefined> {
  const [me, cans] = await Promise.all([queries.fetchQuery(meOptions()).catch(() => undefined), queries.fetchQuery(cansOptions()).catch(() => undefined)]);
  if (me) {
    const names = firstOf(page).filter((name) => cans?.get(reads(me.id)[name][0])?.decision === 'allow');
    const begun = names.map((name) => ({ name, read: READINGS[name](me.id).catch(() => undefined) }));
    await Promise.all(begun.filter(({ name }) => !isLater(name, page)).map(({ read }) => read));
  }
  return page.pathname === '/approvals' && page.search === '' ? openApproval(me?.id) : undefined;
}
