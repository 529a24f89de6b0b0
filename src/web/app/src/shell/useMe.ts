import { useQuery } from '@tanstack/react-query';
import { meReadOptions, companyReadOptions, killListOptions, approvalListOptions, type ShownApproval } from '../api';
import { useGuarded } from '../parts/guard';

export const useMe = () => useQuery({ ...meReadOptions(), staleTime: 60_000 }).data;
export const useCompany = () => useGuarded('company.read', { ...companyReadOptions(), staleTime: 60_000 });
export const useKills = () => useGuarded('kill.list', { ...killListOptions(), refetchInterval: 15_000 });

/** So many of those that wait for one are known on every page; the page of approvals has them all. */
export const MOST_PENDING = 100;

export const usePending = () => useGuarded('approval.list', { ...approvalListOptions({ query: { status: 'pending', mine: true, limit: MOST_PENDING } }), refetchInterval: 15_000 });

/** Whether somebody may still decide: they are named for a kind that is not complete, and have not decided yet. */
export function waitsFor(approval: ShownApproval, me: string | undefined): boolean {
  if (!me || approval.status !== 'pending' || approval.decisions.some(({ by }) => by === me)) return false;
  return approval.approvers.some((need) => need.held.length < need.threshold && need.any_of.includes(me));
}
