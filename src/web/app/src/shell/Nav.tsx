import { Menu, useMantineColorScheme } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { Link, useNavigate } from '@tanstack/react-router';
import { queries } from '../api';
import { useLive } from '../live';
import { Avatar } from '../parts/Actor';
import { Icon, Mark } from '../parts/icons';
import { Kbd } from '../parts/Page';
import { signOut } from '../session';
import { mod, PAGES } from './pages';
import css from './shell.module.css';
import { MOST_PENDING, useCompany, useKills, useMe, usePending, waitsFor } from './useMe';
import { useMine } from '../pages/work/useWork';
import { Said } from '../parts/Said';

export function Nav({ close }: { close?: () => void }) {
  const me = useMe();
  const company = useCompany();
  const pending = usePending().data ?? [];
  const waiting = pending.filter((approval) => waitsFor(approval, me?.id)).length;
  const orMore = pending.length >= MOST_PENDING ? '+' : '';
  const { questions, todo } = useMine();
  const engaged = useKills().data?.length ?? 0;
  return (
    <>
      <div className={css.brand}>
        <Mark />
        <Said>{company.data?.name ?? 'ok'}</Said>
      </div>
      <button type="button" className={css.search} onClick={() => spotlight.open()}>
        <Icon name="search" size={14} />
        <span>Search or do…</span>
        <Kbd>{mod}K</Kbd>
      </button>
      <nav className={css.nav} aria-label="Pages">
        {PAGES.map(({ to, name, icon }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }} onClick={close}>
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
          </Link>
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
  const words = { starting: 'connecting…', live: `live, event ${lastSeq.toLocaleString()}`, lost: 'no connection', refused: 'the log is not yours to read' };
  return (
    <div className={css.pulse} data-state={state} role="status">
      <i />
      {words[state]}
    </div>
  );
}

export function leave() {
  signOut('signed-out');
  queries.clear();
}

function Who({ close }: { close?: () => void }) {
  const me = useMe();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  if (!me) return null;
  return (
    <Menu width={216} position="top-start" shadow="md">
      <Menu.Target>
        <button type="button" className={css.who}>
          <Avatar id={me.id} actor={me} />
          <span>
            <Said>{me.name || me.id}</Said>
            <small>{me.role}</small>
          </span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name="key" size={14} />}
          onClick={() => {
            close?.();
            void navigate({ to: '/me' });
          }}
        >
          Profile and tokens
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} leftSection={<Icon name={scheme === 'dark' ? 'moon' : 'sun'} size={14} />} rightSection={colorScheme === scheme ? <Icon name="check" size={14} /> : null} onClick={() => setColorScheme(scheme)}>
            {scheme === 'auto' ? 'As the system' : scheme === 'dark' ? 'Dark' : 'Light'}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="leave" size={14} />} onClick={leave}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
