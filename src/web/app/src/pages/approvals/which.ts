import { useSearch } from '@tanstack/react-router';
import type { ApprovalStatus, ShownApproval } from '../../api';
import type { Show, Which } from '../../shell/useMe';

export const STATES = ['pending', 'approved', 'used', 'stale', 'rejected', 'cancelled', 'expired'] as const satisfies readonly ApprovalStatus[];

/** Which approvals an address asks for. Only «All» is filtered. */
export type ApprovalSearch = { show?: 'all' | 'asked' } & Which;

export function useWhich(): { show: Show; which: Which } {
  const { show = 'mine', status, actor, operation } = useSearch({ from: '/approvals' });
  return { show, which: show === 'all' ? { status, actor, operation } : {} };
}

/** Where the list and one of it stand side by side, the first is open from the beginning. */
export const firstOf = (list: ShownApproval[]): string | undefined => (window.matchMedia('(min-width: 768px)').matches ? list[0]?.id : undefined);
