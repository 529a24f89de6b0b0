import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { PAGE } from '../ahead';
import { breakGlassListOptions, meReadOptions, companyReadOptions, killListOptions, approvalList, type ApprovalStatus, type ShownApproval } from '../api';
import { askAnew, touched } from '../live';
import { pagesOptions, useGuarded, useGuardedPages } from '../parts/guard';

export const meOptions = () => ({ ...meReadOptions(), staleTime: 60_000 });
export const companyOptions = () => ({ ...companyReadOptions(), staleTime: 60_000 });
export const breakGlassOptions = () => ({ ...breakGlassListOptions({ query: { limit: 50 } }), staleTime: 30_000 });
export const useMe = () => useQuery(meOptions()).data;
export const useCompany = () => useGuarded('company.read', companyOptions());
export const useKills = () => useGuarded('kill.list', { ...killListOptions(), refetchInterval: 15_000 });

/** Once a kill switch is engaged or released, what it stops is asked for anew: the log does not tell everybody of it. */
export function useFeltKills() {
  const kills = useKills().data;
  const known = kills?.map(({ scope }) => scope).join(' ');
  const before = useRef(known);
  useEffect(() => {
    if (before.current !== undefined && before.current !== known) askAnew(touched('kill_switch'));
    before.current = known;
  }, [known]);
}

/** Whether somebody may still decide: they are named for a kind that is not complete, and have not decided yet. */
export function waitsFor(approval: ShownApproval, me: string | undefined): boolean {
  if (!me || approval.status !== 'pending') return false;
  return approval.approvers.some(({ held, threshold, any_of }) => held.length < threshold && any_of.includes(me) && !held.includes(me));
}

export type Show = 'mine' | 'all' | 'asked';
/** What all approvals can be narrowed to. */
export type Which = { status?: ApprovalStatus; actor?: string; operation?: string };

const QUERIES: Record<Show, { status?: 'pending'; mine?: boolean; asked?: boolean }> = { mine: { status: 'pending', mine: true }, asked: { asked: true }, all: {} };

export const approvalsOptions = (show: Show, which: Which = {}) =>
  pagesOptions<ShownApproval>([{ _id: 'approvalListPages', show, ...which }], async (cursor) => {
    const { data, response } = await approvalList({ query: { ...QUERIES[show], ...which, limit: PAGE, cursor }, throwOnError: true });
    return { rows: data, next: response.headers.get('x-next-cursor') };
  });

/** The approvals of one of the three lists, as far as they have been read. */
export function useApprovals(show: Show, which: Which = {}) {
  const me = useMe()?.id;
  const { data: read, ...rest } = useGuardedPages('approval.list', approvalsOptions(show, which));
  const data = useMemo(() => (show === 'mine' ? read?.filter((approval) => waitsFor(approval, me)) : read), [read, show, me]);
  return { ...rest, data };
}

/** What waits for the signed-in person: every page knows of the first ones. */
export const usePending = () => useApprovals('mine');
