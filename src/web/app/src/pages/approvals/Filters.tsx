import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { OPERATIONS } from '../../api/operations.gen';
import { offered, useActors } from '../../parts/Actor';
import { Select } from '../../parts/later';
import css from './approvals.module.css';
import { STATES, type ApprovalSearch } from './which';

const NAMES = Object.keys(OPERATIONS);

/** The choices, with one that an address names and that is none of them: it is seen, and can be taken back. */
const withChosen = <T,>(choices: (T | string)[], chosen: string | undefined) => (chosen && !choices.some((one) => one === chosen || (one as { value?: string }).value === chosen) ? [chosen, ...choices] : choices);

/** What all approvals are narrowed to; it stands in the address. */
export default function Filters() {
  const navigate = useNavigate();
  const { status, actor, operation } = useSearch({ from: '/approvals' });
  const { all } = useActors();
  const people = useMemo(() => offered(all, ({ kind }) => kind !== 'team'), [all]);
  const set = (next: ApprovalSearch) => {
    // Keys are the list's again.
    (document.activeElement as HTMLElement | null)?.blur();
    void navigate({ to: '/approvals', search: (before) => ({ ...before, ...next }), replace: true });
  };
  return (
    <div className={css.filters}>
      <Select size="xs" placeholder="State" aria-label="state" clearable value={status ?? null} onChange={(value) => set({ status: STATES.find((state) => state === value) })} data={[...STATES]} />
      <Select size="xs" placeholder="Who" aria-label="who asked" clearable searchable limit={50} value={actor ?? null} onChange={(value) => set({ actor: value ?? undefined })} data={withChosen(people, actor)} />
      <Select size="xs" placeholder="Operation" aria-label="operation" clearable searchable limit={50} value={operation ?? null} onChange={(value) => set({ operation: value ?? undefined })} data={withChosen(NAMES, operation)} />
    </div>
  );
}
