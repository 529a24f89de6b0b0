// What a page shows at first is read before it is drawn, so that it is drawn once, and not in parts.

import { isFiltered, NEWS } from './ahead';
import { approvalExplainOptions, approvalReadOptions, inboxListOptions, killListOptions, policyExportOptions, policyReadOptions, queries } from './api';
import { poll } from './live';
import { firstOf } from './pages/approvals/which';
import { newestOptions } from './pages/log/useLog';
import { ownedOptions, runsOptions, tasksOptions } from './pages/work/useWork';
import { actorsOptions } from './parts/Actor';
import { cansOptions } from './parts/guard';
import { headOptions } from './proof/useHead';
import { approvalsOptions, companyOptions, glassOptions, meOptions, waitsFor } from './shell/useMe';

type Reading = readonly [operation: string, read: () => Promise<unknown>];

const FRAME: Reading[] = [
  ['actor.list', () => queries.prefetchInfiniteQuery(actorsOptions())],
  ['event.list', poll],
  ['approval.list', () => queries.prefetchInfiniteQuery(approvalsOptions('mine'))],
  ['run.list', () => queries.prefetchQuery(runsOptions())],
  ['company.read', () => queries.prefetchQuery(companyOptions())],
  ['kill.list', () => queries.prefetchQuery(killListOptions())],
  ['break_glass.list', () => queries.prefetchQuery(glassOptions())],
];

const PAGES: Record<string, Reading[]> = {
  '/': [
    ['policy.read', () => queries.prefetchQuery(policyReadOptions())],
    ['inbox.list', () => queries.prefetchQuery(inboxListOptions({ query: { limit: NEWS } }))],
    ['audit.head', () => queries.prefetchQuery(headOptions())],
  ],
  '/log': [['event.list', () => queries.prefetchQuery(newestOptions({}))]],
  '/policy': [['policy.export', () => queries.prefetchQuery(policyExportOptions())]],
  '/tasks': [['task.list', () => queries.prefetchQuery(tasksOptions())]],
};

const owned = (me: string | undefined): Reading => ['task.list', async () => me && queries.prefetchQuery(ownedOptions(me))];

/** The address of the approval that is open from the beginning, once it has been read. */
async function openApproval(me: string | undefined): Promise<string | undefined> {
  const read = queries.getQueryData(approvalsOptions('mine').queryKey);
  const mine = read?.pages.flatMap(({ rows }) => rows).filter((approval) => waitsFor(approval, me)) ?? [];
  const id = firstOf(mine);
  if (!id) return undefined;
  queries.setQueryData(approvalReadOptions({ path: { id } }).queryKey, mine[0]);
  await queries.prefetchQuery(approvalExplainOptions({ path: { id } }));
  return `/approvals/${id}`;
}

/** Reads what `page` begins with, as far as the reader may, and says where it leads at once. The addresses are those that were asked ahead. */
export async function readFirst(page: Pick<Location, 'pathname' | 'search'>): Promise<string | undefined> {
  const [me, cans] = await Promise.all([queries.fetchQuery(meOptions()).catch(() => undefined), queries.fetchQuery(cansOptions()).catch(() => undefined)]);
  const may = (operation: string) => cans?.get(operation)?.decision === 'allow';
  const first = [...(isFiltered(page) ? [] : (PAGES[page.pathname] ?? [])), ...FRAME, owned(me?.id)];
  await Promise.allSettled(first.filter(([operation]) => may(operation)).map(([, read]) => read()));
  return page.pathname === '/approvals' && page.search === '' ? openApproval(me?.id) : undefined;
}
