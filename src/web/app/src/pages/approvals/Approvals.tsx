import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { PAGE } from '../../ahead';
import type { ShownApproval } from '../../api';
import { Actor } from '../../parts/Actor';
import { Go } from '../../parts/Go';
import { Empty, Shown } from '../../parts/states';
import { State, Tag } from '../../parts/Verdict';
import { VirtualRows } from '../../parts/Virtual';
import { When } from '../../parts/When';
import { isTyping } from '../../shell/typing';
import { useApprovals, type Show } from '../../shell/useMe';
import css from './approvals.module.css';
import { firstOf, useWhich } from './which';
import { useSummary } from './useSummary';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';
import { entitle } from '../../parts/visible';

const NONE: ShownApproval[] = [];
const Filters = lazy(() => import('./Filters'));

export function Approvals() {
  const { show, which } = useWhich();
  const navigate = useNavigate();
  const { id } = useParams({ strict: false });
  const read = useApprovals(show, which);
  const list = read.data ?? NONE;
  useStepping(list, id, read.more);
  useFirst(list, id);
  useEffect(() => {
    if (!id) entitle('Approvals');
  }, [id]);
  return (
    <div className={css.split} data-split data-open={id ? '' : undefined}>
      <section className={css.list} aria-label="Approvals">
        <div className={css.listHead}>
          {id ? <h2 style={{ fontSize: 'var(--t-xl)' }}>Approvals</h2> : <h1>Approvals</h1>}
          <Choices
            fullWidth
            size="xs"
            value={show}
            aria-label="which approvals"
            onChange={(value) => void navigate({ to: '/approvals', search: { show: value === 'mine' ? undefined : value } })}
            data={[
              { value: 'mine', label: 'Wait for me' },
              { value: 'asked', label: 'I asked' },
              { value: 'all', label: 'All' },
            ]}
          />
          {show === 'all' && (
            <Suspense fallback={<div className={css.filters} />}>
              <Filters />
            </Suspense>
          )}
        </div>
        <Shown read={read} rows={6}>
          {() => (list.length === 0 && !read.hasMore ? <Nothing show={show} isFiltered={Object.values(which).some(Boolean)} /> : <Rows list={list} id={id} which={JSON.stringify({ show, ...which })} more={read.more} />)}
        </Shown>
      </section>
      <section className={css.detail} aria-label="One approval">
        {id ? <Outlet /> : <Empty icon="inbox" title={list.length > 0 ? 'Choose one, or press j' : 'Nothing to decide'} />}
      </section>
    </div>
  );
}

function Nothing({ show, isFiltered }: { show: Show; isFiltered: boolean }) {
  if (isFiltered) return <Empty icon="inbox" title="No approval is like that" />;
  if (show === 'mine') {
    return (
      <Empty icon="check" title="Nothing waits for you">
        What needs your approval appears here as it is asked.
      </Empty>
    );
  }
  return <Empty icon="inbox" title={show === 'asked' ? 'You asked for nothing' : 'No approvals yet'} />;
}

/** Whether it was made or decided with a token that was revoked since. */
const isDoubted = ({ token_revoked_at, approvers }: ShownApproval) => !!token_revoked_at || approvers.some((need) => (need.token_revoked ?? []).length > 0);

function Rows({ list, id, which, more }: { list: ShownApproval[]; id: string | undefined; which: string; more: () => void }) {
  const summary = useSummary();
  const search = useSearch({ from: '/approvals' });
  return (
    <VirtualRows key={which} list={list} height={112} active={id} className={css.scroll} more={more}>
      {(approval, style) => {
        const open = approval.approvers.filter((need) => need.held.length < need.threshold);
        return (
          <Go key={approval.id} to="/approvals/$id" params={{ id: approval.id }} search={search} isActive={approval.id === id} className={css.item} style={style}>
            <span className={css.itemTop}>
              <Actor id={approval.actor} plain />
              <When at={approval.created_at} />
            </span>
            <Said className={css.itemTitle}>{summary(approval)}</Said>
            <span className={css.itemTags}>
              {approval.status === 'pending' ? <Tag tone="wait" icon="clock">{open.map(({ kind }) => kind).join(', ') || 'pending'}</Tag> : <State state={approval.status} />}
              {approval.status === 'pending' && isDoubted(approval) && <Tag tone="deny">a token was revoked</Tag>}
            </span>
          </Go>
        );
      }}
    </VirtualRows>
  );
}

/** When the list is another, its first is open. */
function useFirst(list: ShownApproval[], id: string | undefined) {
  const navigate = useNavigate();
  const first = firstOf(list);
  useEffect(() => {
    if (id || !first) return;
    void navigate({ to: '/approvals/$id', params: { id: first }, search: (before) => before as never, replace: true });
  }, [first, id, navigate]);
}

/** j and k go to the next and the one before. */
function useStepping(list: ShownApproval[], id: string | undefined, more: () => void) {
  const navigate = useNavigate();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || (event.key !== 'j' && event.key !== 'k')) return;
      const at = list.findIndex((approval) => approval.id === id);
      const next = list[event.key === 'j' ? at + 1 : Math.max(0, at - 1)];
      if (at + PAGE / 2 > list.length) more();
      // The list goes where the row is, not back to where it was.
      if (next) void navigate({ to: '/approvals/$id', params: { id: next.id }, search: (before) => before as never, resetScroll: false });
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [list, id, navigate, more]);
}
