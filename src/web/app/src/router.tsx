import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { DataSearch } from './pages/data/filter';
import type { TaskSearch } from './pages/work/Tasks';
import { NotFound } from './shell/NotFound';
import { Shell } from './shell/Shell';
import { queries } from './api';
import { onceThere } from './live';
import { STATES, type ApprovalSearch } from './pages/approvals/which';
import { newestOptions } from './pages/log/useLog';
import { currentToken } from './session';
import { Broken } from './shell/Broken';
import { Coming } from './shell/Coming';

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined);
const number = (value: unknown) => (Number.isSafeInteger(Number(value)) && value !== '' && value !== undefined ? Number(value) : undefined);

/** Any page can be asked to open one of its dialogs. */
const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, validateSearch: (search: Record<string, unknown>): { do?: string } => ({ do: text(search.do) }) });

const home = createRoute({ getParentRoute: () => root, path: '/', component: lazyRouteComponent(() => onceThere(() => import('./pages/home/Home')), 'Home') });

const ask = createRoute({
  getParentRoute: () => root,
  path: '/ask',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/work/Ask')), 'Ask'),
  validateSearch: (search: Record<string, unknown>): { agent?: string } => ({ agent: text(search.agent) }),
});
const run = createRoute({ getParentRoute: () => root, path: '/runs/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/work/Run')), 'RunPage') });
const tasks = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/work/Tasks')), 'Tasks'),
  validateSearch: (search: Record<string, unknown>): TaskSearch => ({
    view: search.view === 'list' ? 'list' : undefined,
    whose: search.whose === 'mine' || search.whose === 'people' ? search.whose : undefined,
    q: text(search.q),
  }),
});
const task = createRoute({ getParentRoute: () => root, path: '/tasks/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/work/Task')), 'TaskPage') });

const data = createRoute({
  getParentRoute: () => root,
  path: '/data',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/data/Data')), 'Data'),
  validateSearch: (search: Record<string, unknown>): { q?: string } => ({ q: text(search.q) }),
});
const collection = createRoute({
  getParentRoute: () => root,
  path: '/data/$collection',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/data/Collection')), 'CollectionPage'),
  validateSearch: (search: Record<string, unknown>): DataSearch => ({ field: text(search.field), op: text(search.op), value: text(search.value), sort: text(search.sort) }),
});
const view = createRoute({ getParentRoute: () => root, path: '/views/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/data/View')), 'ViewPage') });
const record = createRoute({ getParentRoute: () => root, path: '/data/$collection/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/data/Record')), 'RecordPage') });

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/approvals/Approvals')), 'Approvals'),
  validateSearch: (search: Record<string, unknown>): ApprovalSearch => ({
    show: search.show === 'all' || search.show === 'asked' ? search.show : undefined,
    status: STATES.find((state) => state === search.status),
    actor: text(search.actor),
    operation: text(search.operation),
  }),
});
const approval = createRoute({ getParentRoute: () => approvals, path: '$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/approvals/Detail')), 'Detail') });

export type LogSearch = { type?: string; actor?: string; decision?: string; token?: string };
const log = createRoute({
  getParentRoute: () => root,
  path: '/log',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/log/Log')), 'Log'),
  validateSearch: (search: Record<string, unknown>): LogSearch => ({ type: text(search.type), actor: text(search.actor), decision: text(search.decision), token: text(search.token) }),
  loaderDeps: ({ search: { type, actor, token } }) => ({ type, actor, token }),
  loader: ({ deps }) => {
    if (currentToken()) void queries.prefetchQuery(newestOptions(deps));
  },
});
const entry = createRoute({ getParentRoute: () => log, path: '$seq', component: lazyRouteComponent(() => onceThere(() => import('./pages/log/Entry')), 'Entry') });

export type ExplainSearch = { actor?: string; op?: string; target?: string; run?: string; at?: string | number; input?: string; mode?: 'who' };
const explain = createRoute({
  getParentRoute: () => root,
  path: '/explain',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/explain/Explain')), 'Explain'),
  validateSearch: (search: Record<string, unknown>): ExplainSearch => ({
    actor: text(search.actor),
    op: text(search.op),
    target: text(search.target),
    run: text(search.run),
    at: typeof search.at === 'number' ? search.at : text(search.at),
    input: text(search.input),
    mode: search.mode === 'who' ? 'who' : undefined,
  }),
});

const policy = createRoute({
  getParentRoute: () => root,
  path: '/policy',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/policy/Policy')), 'Policy'),
  validateSearch: (search: Record<string, unknown>): { file?: string; line?: number } => ({ file: text(search.file), line: number(search.line) }),
});
const changes = createRoute({ getParentRoute: () => root, path: '/policy/changes', component: lazyRouteComponent(() => onceThere(() => import('./pages/policy/Changes')), 'Changes') });
const change = createRoute({ getParentRoute: () => root, path: '/policy/changes/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/policy/Change')), 'ChangePage') });
const history = createRoute({ getParentRoute: () => root, path: '/policy/history', component: lazyRouteComponent(() => onceThere(() => import('./pages/policy/History')), 'History') });

const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/people/People')), 'People'),
  validateSearch: (search: Record<string, unknown>): { kind?: string; q?: string } => ({ kind: text(search.kind), q: text(search.q) }),
});
const delegations = createRoute({ getParentRoute: () => root, path: '/delegations', component: lazyRouteComponent(() => onceThere(() => import('./pages/people/Delegations')), 'Delegations') });
const person = createRoute({ getParentRoute: () => root, path: '/people/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/people/Person')), 'Person') });
const me = createRoute({ getParentRoute: () => root, path: '/me', component: lazyRouteComponent(() => onceThere(() => import('./pages/people/Profile')), 'Profile') });

const kill = createRoute({
  getParentRoute: () => root,
  path: '/kill',
  component: lazyRouteComponent(() => onceThere(() => import('./pages/kill/Kill')), 'Kill'),
  validateSearch: (search: Record<string, unknown>): { scope?: string } => ({ scope: text(search.scope) }),
});
const glass = createRoute({ getParentRoute: () => root, path: '/break-glass', component: lazyRouteComponent(() => onceThere(() => import('./pages/break-glass/BreakGlass')), 'BreakGlass') });
const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: lazyRouteComponent(() => onceThere(() => import('./pages/settings/Settings')), 'Settings') });
const webhook = createRoute({ getParentRoute: () => root, path: '/settings/webhooks/$id', component: lazyRouteComponent(() => onceThere(() => import('./pages/settings/Webhook')), 'WebhookPage') });

export const router = createRouter({
  routeTree: root.addChildren([home, ask, run, tasks, task, data, collection, view, record, approvals.addChildren([approval]), log.addChildren([entry]), explain, policy, changes, change, history, people, delegations, person, me, kill, glass, settings, webhook]),
  defaultPreload: 'intent',
  defaultErrorComponent: Broken,
  // Until then the page before stays, which is what most see.
  defaultPendingComponent: Coming,
  defaultPendingMs: 700,
  defaultPendingMinMs: 0,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
