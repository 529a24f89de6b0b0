import { ActionIcon, Anchor, Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { healthReadOptions, isRefused, Unreachable } from '../api';
import { useFollowing, useLive } from '../live';
import { WithActors } from '../parts/Actor';
import { useCan, useGuarded } from '../parts/guard';
import { Icon, Mark } from '../parts/icons';
import { writes } from '../pages/policy/draft';
import { Failed, Loading, sentence } from '../parts/states';
import { typedBy } from '../parts/unsent';
import { When } from '../parts/When';
import { currentSession, onSession } from '../session';
import { look, useStopped } from '../stopped';
import { whenIdle } from './idle';
import { useMissing } from './missing';
import { Nav } from './Nav';
import { openPalette, paletteAsked } from './paletteStore';
import css from './shell.module.css';
import { useFocusKept } from './useFocusKept';
import { usePageKeys } from './usePageKeys';
import { breakGlassOptions, meOptions, useCompany, useFeltKills, useKills, useMe } from './useMe';
import { Said } from '../parts/Said';

const SignIn = lazy(() => import('./SignIn'));
/** A page is as good without the palette: that a server is gone is told otherwise. */
const Extras = lazy(() => whenIdle(() => import('./Extras'), paletteAsked));

export function Shell() {
  const session = useSyncExternalStore(onSession, currentSession);
  if (session.token !== null) return <SignedIn key={session.token} />;
  return (
    <Suspense>
      <SignIn ended={session.ended} />
    </Suspense>
  );
}

function SignedIn() {
  const me = useQuery(meOptions());
  const stopped = useStopped();
  if (me.data) {
    return (
      <WithActors>
        <Frame />
      </WithActors>
    );
  }
  if (me.error && !isRefused(me.error, 401)) {
    const isGone = me.error instanceof Unreachable;
    return (
      <main className={css.door}>
        <div>
          <Mark size={40} />
          <h1>{isGone ? 'The server does not answer' : stopped === undefined ? 'This did not work' : 'You are stopped'}</h1>
          {isGone ? <p>It may be starting. Your token is kept in this tab.</p> : stopped === undefined ? <Failed error={me.error} /> : <p>{sentence(new Error(stopped))} The workspace opens by itself once that has ended.</p>}
          <Button mt="md" onClick={() => void (stopped === undefined ? me.refetch() : look())} loading={me.isFetching}>
            Try again
          </Button>
        </div>
      </main>
    );
  }
  return <Loading />;
}

function Frame() {
  const reads = useCan('event.list');
  useFollowing(reads && reads.decision === 'allow');
  useFeltKills();
  // Somebody may be faster than the palette is loaded: it opens when it is.
  useHotkeys([['mod+K', openPalette]], [], true);
  const [isOpen, setOpen] = useState(false);
  const company = useCompany();
  const { pathname } = useLocation();
  useFocusKept(pathname, 'content');
  usePageKeys();
  return (
    <>
      <a href="#content" className={css.skip}>
        Skip to the page
      </a>
      <div className={css.frame}>
        <aside className={css.side} aria-label="Workspace">
          <Nav />
        </aside>
        <div className={css.main}>
          <div className={css.top} role="region" aria-label="Workspace">
            <ActionIcon variant="subtle" color="gray" onClick={() => setOpen(true)} aria-label="Menu">
              <Icon name="menu" size={20} />
            </ActionIcon>
            <Said>{company.data?.name ?? 'ok'}</Said>
            <ActionIcon variant="subtle" color="gray" onClick={openPalette} aria-label="Search">
              <Icon name="search" size={18} />
            </ActionIcon>
          </div>
          <Banners />
          <main id="content" tabIndex={-1} className={css.content} key={pathname.split('/')[1]}>
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense>
        <Extras isOpen={isOpen} close={() => setOpen(false)} />
      </Suspense>
    </>
  );
}

/** What everybody has to know on whatever page they are. */
function Banners() {
  const live = useLive();
  const kills = useKills().data ?? [];
  const me = useMe();
  const stopped = useStopped();
  const isMissing = useMissing();
  useEffect(() => {
    if (!me) return;
    writes(me.id);
    typedBy(me.id);
  }, [me]);
  const open = (useGuarded('break_glass.list', breakGlassOptions()).data ?? []).find(({ active, holder }) => active && holder === me?.id);
  const health = useQuery({ ...healthReadOptions(), staleTime: 30_000, refetchInterval: 30_000 }).data;
  return (
    <>
      {live.state === 'lost' && (
        <div className={css.banner} role="status">
          <Icon name="alert" />
          <span>The server does not answer. What you see may be old; it is asked again every two seconds.</span>
        </div>
      )}
      {stopped !== undefined && (
        <div className={css.banner} data-tone="deny" role="status">
          <Icon name="power" />
          <span>
            You are stopped: {stopped}. What you see may be old; nothing is sent in your name, and the page looks again by itself.{' '}
            <Anchor component="button" type="button" inherit onClick={() => void look()}>
              Look now
            </Anchor>
          </span>
        </div>
      )}
      {isMissing && (
        <div className={css.banner} role="status">
          <Icon name="alert" />
          <span>
            A part of the workspace could not be loaded. Texts that you have written are kept.{' '}
            <Anchor component="button" type="button" inherit onClick={() => window.location.reload()}>
              Load the page again
            </Anchor>
          </span>
        </div>
      )}
      {health && !health.ok && (
        <div className={css.banner} data-tone="deny" role="status">
          <Icon name="alert" />
          <span>The log cannot be written, so nothing can be changed until it can.</span>
        </div>
      )}
      {kills.length > 0 && (
        <div className={css.banner} data-tone="deny" role="status">
          <Icon name="power" />
          <span>
            {kills.some(({ scope }) => scope === 'global') ? 'Everything is stopped.' : `${kills.length === 1 ? 'A kill switch is' : `${kills.length} kill switches are`} engaged: ${kills.map(({ scope }) => scope).join(', ')}.`}{' '}
            <Link to="/kill">See which</Link>
          </span>
        </div>
      )}
      {open && (
        <div className={css.banner} data-tone="deny" role="status">
          <Icon name="glass" />
          <span>
            The glass is broken: until <When at={open.expires_at} as="stamp" /> you go on without approval for {open.scope.join(', ')}. <Link to="/break-glass">End it</Link>
          </span>
        </div>
      )}
      {health?.dev_auth && (
        <div className={css.banner} role="status">
          <Icon name="alert" />
          <span>Development mode (OK_DEV_AUTH): plain http to loopback addresses is allowed.</span>
        </div>
      )}
    </>
  );
}

