import { useSearch } from '@tanstack/react-router';
import type { ShownApproval } from '../../api';
import type { Show } from '../../shell/useMe';

export function useShow(): Show {
  return useSearch({ from: '/approvals' }).show ?? 'mine';
}

/** Where the list and one of it stand side by side, the first is open from the beginning. */
export const firstOf = (list: ShownApproval[]): string | undefined => (window.matchMedia('(min-width: 768px)').matches ? list[0]?.id : undefined);
