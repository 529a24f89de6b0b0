import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { PAGE } from '../ahead';
import { meReadOptions, companyReadOptions, killListOptions, approvalList, type ShownApproval } from '../api';
import { useGuarded, useGuardedPages } from '../parts/guard';

export const useMe = () => useQuery({ ...meReadOptions(), staleTime: 60_000 }).data;
export const useCompany = () => useGuarded('company.read', { ...companyReadOptions(), staleTime: 60_000 });
export const useKills = () => useGuarded('kill.list', { ...killListOptions(), refetchInterval: 15_000 });

/** Whether somebody may still decide: they are named for a kind that is not complete, and have not decided yet. */
export function waitsFor(approval: ShownApproval, me: string | undefined): boolean {
  if (!me || approval.status !== 'pending' || approval.decisions.some(({ by }) => by === me)) return false;
  return approval.approvers.some((need) => need.held.length < need.threshold && need.any_of.includes(me));
}

export type Show = 'mine' | 'all' | 'asked';

const QUERIES: Record<Show, { status?: 'pending'; mine?: boolean; asked?: boolean }> = { mine: { status: 'pending', mine: true }, asked: { asked: true }, all: {} };

/** The approvals of one of the three lists, as far as they have been read. */
export function useApprovals(show: Show) {
  const me = useMe()?.id;
  const { data: read, ...rest } = useGuardedPages<ShownApproval>('approval.list', [{ _id: 'approvalListPages', show }], async (cursor) => {
    const { data, response } = await approvalList({ query: { ...QUERIES[show], limit: PAGE, cursor }, throwOnError: true });
    return { rows: data, next: response.headers.get('x-next-cursor') };
  });
  const data = useMemo(() => (show === 'mine' ? read?.filter((approval) => waitsFor(approval, me)) : read), [read, show, me]);
  return { ...rest, data };
}

/** What waits for the signed-in person: every page knows of the first ones. */
export const usePending = () => useApprovals('mine');
