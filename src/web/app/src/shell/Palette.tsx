import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore, type KeyboardEvent } from 'react';
import { collectionListOptions, searchOptions, viewListOptions } from '../api';
import { isWord } from '../pages/data/filter';
import { whereIs } from '../pages/data/hit';
import { useActors } from '../parts/Actor';
import { useGuarded } from '../parts/guard';
import { Icon } from '../parts/icons';
import { useSummary } from '../pages/approvals/useSummary';
import { useMine } from '../pages/work/useWork';
import { leave } from './leave';
import { PAGES } from './pages';
import { placeOf } from './place';
import { ranked } from './ranked';
import { chooseFirst, enter, openEntered, paletteIsThere, paletteStore, query } from './paletteStore';
import { usePending } from './useMe';

const SEARCH = { placeholder: 'Go to, find, do…', 'aria-label': 'search', 'data-palette': true };

const pressed = ({ key, nativeEvent }: KeyboardEvent) => {
  if (key === 'Enter' && !nativeEvent.isComposing) enter();
};

/** Everything that can be gone to or done, by typing a part of its name. */
export function Palette() {
  const typed = useSyncExternalStore(paletteStore.subscribe, query);
  useEffect(paletteIsThere, []);
  const asked = typed.slice(0, 200);
  const [words] = useDebouncedValue(asked, 200);
  const isSought = (text: string) => isWord(text) && text.trim().length > 2;
  const { data: hits, isFetching } = useQuery({ ...searchOptions({ query: { q: words, limit: 8 } }), enabled: isSought(words), retry: false });
  useEffect(() => {
    if (hits && hits.length > 0) chooseFirst();
  }, [hits]);
  const isSearching = isSought(asked) && (words !== asked || isFetching);
  useEffect(() => openEntered(isSearching));
  const opened = () => {
    if (typed) chooseFirst();
    openEntered(isSearching);
  };
  const collections = useGuarded('collection.list', { ...collectionListOptions(), enabled: typed !== '' }).data ?? [];
  const views = useGuarded('view.list', { ...viewListOptions({ query: { limit: 200 } }), enabled: typed !== '' }).data ?? [];
  const navigate = useNavigate();
  const { all } = useActors();
  const { questions, todo } = useMine();
  const pending = usePending().data ?? [];
  const summary = useSummary();
  const { setColorScheme } = useMantineColorScheme();
  const go = (to: string) => () => void navigate({ to });

  const pages: SpotlightActionData[] = PAGES.map(({ to, name, icon, about }) => ({ id: to, label: name, description: about, leftSection: <Icon name={icon} />, onClick: go(to) }));
  const doing: SpotlightActionData[] = [
    { id: 'new-task', label: 'New task', keywords: 'create add', leftSection: <Icon name="plus" />, onClick: () => void navigate({ to: '/tasks', search: { do: 'new' } }) },
    { id: 'add', label: 'Add somebody', description: 'a person, an agent, a team', keywords: 'new create', leftSection: <Icon name="plus" />, onClick: () => void navigate({ to: '/people', search: { do: 'add' } }) },
    { id: 'delegate', label: 'Delegate', description: 'let somebody act on your behalf', keywords: 'new grant', leftSection: <Icon name="link" />, onClick: () => void navigate({ to: '/delegations', search: { do: 'new' } }) },
    { id: 'break-glass', label: 'Break-glass', description: 'go on without approval, for a short time', leftSection: <Icon name="glass" />, onClick: go('/break-glass') },
    { id: 'token', label: 'Issue a token', description: 'for yourself', leftSection: <Icon name="key" />, onClick: go('/me') },
    { id: 'changes', label: 'Policy changes', description: 'proposals and their reviews', leftSection: <Icon name="branch" />, onClick: go('/policy/changes') },
    { id: 'delegations', label: 'Delegations', description: 'who acts for whom', leftSection: <Icon name="link" />, onClick: go('/delegations') },
    { id: 'light', label: 'Light appearance', keywords: 'theme bright day', leftSection: <Icon name="sun" />, onClick: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark appearance', keywords: 'theme night', leftSection: <Icon name="moon" />, onClick: () => setColorScheme('dark') },
    { id: 'leave', label: 'Sign out', keywords: 'log out leave', leftSection: <Icon name="leave" />, onClick: leave },
  ];
  const waiting: SpotlightActionData[] = pending.map((approval) => ({ id: approval.id, label: summary(approval), description: approval.id, leftSection: <Icon name="clock" />, onClick: go(`/approvals/${approval.id}`) }));
  const work: SpotlightActionData[] = [
    ...questions.map(({ id, agent }) => ({ id, label: `Answer ${agent}`, description: id, leftSection: <Icon name="help" />, onClick: go(`/runs/${id}`) })),
    ...todo.map(({ id, title }) => ({ id, label: title, description: id, leftSection: <Icon name="tasks" />, onClick: go(`/tasks/${id}`) })),
  ];
  const agents: SpotlightActionData[] = all
    .filter(({ kind, status }) => kind === 'agent' && status === 'active')
    .map(({ id, name }) => ({ id: `ask-${id}`, label: `Ask ${name || id}`, leftSection: <Icon name="bot" />, onClick: () => void navigate({ to: '/ask', search: { agent: id } }) }));
  const active = all.filter(({ status }) => status === 'active');
  const about: SpotlightActionData[] = active.flatMap(({ id, name, kind }) => [
    { id: `stop-${id}`, label: `Stop ${name || id}`, description: id, keywords: 'kill switch halt', leftSection: <Icon name="power" />, onClick: () => void navigate({ to: '/kill', search: { scope: kind === 'team' ? id : `actor:${id}` } }) },
    { id: `may-${id}`, label: `What may ${name || id} do?`, description: id, keywords: 'explain why', leftSection: <Icon name="help" />, onClick: () => void navigate({ to: '/explain', search: { actor: id } }) },
    { id: `offboard-${id}`, label: `${kind === 'team' ? 'Remove' : 'Offboard'} ${name || id}`, description: id, keywords: 'leave', leftSection: <Icon name="leave" />, onClick: () => void navigate({ to: '/people/$id', params: { id }, search: { do: 'offboard' } }) },
  ]);
  const people: SpotlightActionData[] = all.map(({ id, name, kind, role }) => ({
    id: `actor-${id}`,
    label: name || id,
    description: `${id}, ${kind === 'person' ? role : kind.replace('_', ' ')}`,
    leftSection: <Icon name={kind === 'agent' ? 'bot' : 'people'} />,
    onClick: go(`/people/${encodeURIComponent(id)}`),
  }));
  const records: SpotlightActionData[] = collections.map((one) => ({
    id: `collection-${one.name}`,
    label: one.title || one.name,
    description: `the collection ${one.name}`,
    leftSection: <Icon name="data" />,
    onClick: () => void navigate({ to: '/data/$collection', params: { collection: one.name } }),
  }));
  const seen: SpotlightActionData[] = views.map(({ id, title }) => ({ id: `view-${id}`, label: title || id, description: `the view ${id}`, leftSection: <Icon name="data" />, onClick: go(`/views/${encodeURIComponent(id)}`) }));
  const place = placeOf(asked);
  const named: SpotlightActionData[] = place ? [{ id: 'place', label: place.label, description: 'open it', leftSection: <Icon name="log" />, onClick: go(place.to) }] : [];
  // What the server has found by its words need not have them in its title. What it has found for others must.
  const found: SpotlightActionData[] = (hits ?? []).map(({ kind, collection, id, title, snippet }) => ({
    id: `hit-${id}`,
    label: title || id,
    description: snippet,
    keywords: words === asked ? typed : undefined,
    leftSection: <Icon name={kind === 'task' ? 'tasks' : 'data'} />,
    onClick: () => void navigate(whereIs({ kind, collection, id })),
  }));
  const groups: SpotlightActionGroupData[] = [
    { group: 'Go to', actions: named },
    { group: 'Pages', actions: pages },
    { group: 'Do', actions: doing },
    { group: 'Waits for approval', actions: waiting },
    { group: 'Your work', actions: work },
    { group: 'Data', actions: [...records, ...seen, ...found] },
    { group: 'People', actions: people },
    { group: 'Ask', actions: agents },
    // Of somebody, once they are named and something to do with them.
    { group: 'About somebody', actions: /\S\s+\S/.test(typed) ? about : [] },
  ];
  return (
    <Spotlight
      store={paletteStore}
      attributes={{ content: { 'aria-label': 'Search' } }}
      actions={groups}
      query={typed}
      filter={(query) => ranked(query, groups)}
      shortcut={null}
      // While it faded out, who asks for it again would type into the page.
      transitionProps={{ duration: 0 }}
      limit={12}
      scrollable
      maxHeight={420}
      highlightQuery
      nothingFound="Nothing found"
      searchProps={{ ...SEARCH, leftSection: <Icon name="search" />, onFocus: opened, onKeyDown: pressed }}
    />
  );
}
