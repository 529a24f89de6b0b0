import { lazy, Suspense, useState } from 'react';
import { useLocation } from '@tanstack/react-router';
import { useLive } from '../live';
import { Avatar } from '../parts/Actor';
import { Go } from '../parts/Go';
import { Icon, Mark } from '../parts/icons';
import { Kbd } from '../parts/Page';
import { whenIdle } from './idle';
import { mod, PAGES } from './pages';
import { openPalette } from './paletteStore';
import css from './shell.module.css';
import { useCompany, useKills, useMe, usePending } from './useMe';
import { useMine } from '../pages/work/useWork';
import { Said } from '../parts/Said';

const WhoMenu = lazy(() => whenIdle(() => import('./WhoMenu')));

export function Nav({ close }: { close?: () => void }) {
  const { pathname } = useLocation();
  const company = useCompany();
  const pending = usePending();
  const waiting = pending.data?.length ?? 0;
  const orMore = pending.hasMore ? '+' : '';
  const { questions, todo } = useMine();
  const engaged = useKills().data?.length ?? 0;
  return (
    <>
      <div className={css.brand}>
        <Mark />
        <Said>{company.data?.name ?? 'ok'}</Said>
      </div>
      <button type="button" className={css.search} onClick={openPalette}>
        <Icon name="search" size={14} />
        <span>Search or do…</span>
        <Kbd>{mod}K</Kbd>
      </button>
      <nav className={css.nav} aria-label="Pages">
        {PAGES.map(({ to, name, icon }) => (
          <Go key={to} to={to} isActive={pathname === to || (to !== '/' && pathname.startsWith(`${to}/`))} onClick={close}>
            <Icon name={icon} />
            {name}
            {to === '/approvals' && waiting > 0 && <b aria-label={`${waiting}${orMore} wait for you`}>{`${waiting}${orMore}`}</b>}
            {to === '/ask' && questions.length > 0 && <b aria-label={`${questions.length} wait for your answer`}>{questions.length}</b>}
            {to === '/tasks' && todo.length > 0 && (
              <b data-tone="plain" aria-label={`${todo.length} are yours`}>
                {todo.length}
              </b>
            )}
            {to === '/kill' && engaged > 0 && (
              <b data-tone="deny" aria-label={`${engaged} engaged`}>
                {engaged}
              </b>
            )}
          </Go>
        ))}
      </nav>
      <div className={css.foot}>
        <Pulse />
        <Who close={close} />
      </div>
    </>
  );
}

function Pulse() {
  const { state, lastSeq } = useLive();
  const words = { starting: 'connecting…', live: `live, event ${lastSeq}`, lost: 'no connection', refused: 'the log is not yours to read' };
  return (
    <div className={css.pulse} data-state={state} role="status">
      <i />
      {words[state]}
    </div>
  );
}

/** Who is signed in; what they may choose there is loaded once the page stands. */
function Who({ close }: { close?: () => void }) {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  if (!me) return null;
  const face = (
    <button type="button" className={css.who} onClick={() => setOpen(true)}>
      <Avatar id={me.id} actor={me} />
      <span>
        <Said>{me.name || me.id}</Said>
        <small>{me.role}</small>
      </span>
    </button>
  );
  return (
    <Suspense fallback={face}>
      <WhoMenu isOpen={isOpen} setOpen={setOpen} close={close}>
        {face}
      </WhoMenu>
    </Suspense>
  );
}
