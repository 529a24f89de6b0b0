import type { IconName } from '../parts/icons';

export const PAGES: { to: string; name: string; icon: IconName; key: string; about: string }[] = [
  { to: '/', name: 'Home', icon: 'home', key: 'h', about: 'what waits for you, what happened' },
  { to: '/ask', name: 'Ask', icon: 'bot', key: 'q', about: 'ask an agent, and follow what it does' },
  { to: '/tasks', name: 'Tasks', icon: 'tasks', key: 't', about: 'what is to be done, by people and agents' },
  { to: '/data', name: 'Data', icon: 'data', key: 'b', about: 'the company’s own records' },
  { to: '/approvals', name: 'Approvals', icon: 'inbox', key: 'a', about: 'calls that wait for people to approve or reject them' },
  { to: '/log', name: 'Log', icon: 'log', key: 'l', about: 'every event, and its proof' },
  { to: '/explain', name: 'Explain', icon: 'help', key: 'e', about: 'why something is allowed or not' },
  { to: '/policy', name: 'Policy', icon: 'policy', key: 'p', about: 'files, changes, history' },
  { to: '/people', name: 'People', icon: 'people', key: 'd', about: 'people, agents, teams' },
  { to: '/kill', name: 'Kill switches', icon: 'power', key: 'k', about: 'stop somebody, a team or everything' },
  { to: '/settings', name: 'Settings', icon: 'settings', key: 's', about: 'company and webhooks' },
];

/** The key that comes before a letter in a shortcut. */
export const mod = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl ';
