// What is called as somebody typed comes before what only has it in its name.

import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';

type Action = Pick<SpotlightActionData, 'label' | 'description' | 'keywords'>;

/** How well an action fits what was typed, in small letters: the less, the better; none where it does not. */
export function rank({ label = '', description = '', keywords = '' }: Action, typed: string): number | undefined {
  const name = label.toLowerCase();
  const about = description.toLowerCase();
  // An id stands first in what is told of a person, an approval or a run.
  if (name === typed || about === typed || about.startsWith(`${typed},`)) return 0;
  if (name.startsWith(typed)) return 1;
  if (name.includes(` ${typed}`)) return 2;
  if (name.includes(typed)) return 3;
  const more = `${about} ${[keywords].flat().join(' ').toLowerCase()}`;
  if (more.includes(typed)) return 4;
  // «kill triage»: each word somewhere.
  return typed.split(/\s+/).every((word) => name.includes(word) || more.includes(word)) ? 5 : undefined;
}

/** The groups with what fits, those with the best first. */
export function ranked(query: string, groups: SpotlightActionGroupData[]): SpotlightActionGroupData[] {
  const typed = query.trim().toLowerCase();
  const fitting = groups.flatMap(({ group, actions }) => {
    const found = actions.flatMap((action) => {
      const at = rank(action, typed);
      return at === undefined ? [] : [{ action, at }];
    });
    const [first, ...rest] = found.sort((a, b) => a.at - b.at);
    return first ? [{ group, best: first.at, actions: [first, ...rest].map(({ action }) => action) }] : [];
  });
  return fitting.sort((a, b) => a.best - b.best).map(({ group, actions }) => ({ group, actions }));
}
