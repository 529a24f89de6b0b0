// What an operation is about, where the gate cannot tell without it.

import { Refused } from '../../api';

/** Of what kinds it must be, if that is what is missing. */
export function missingTarget(error: unknown): string[] | undefined {
  const problem = error instanceof Refused && error.status === 422 ? error.problems[0] : undefined;
  return /^target: \S+ needs a target: (.+)$/.exec(problem ?? '')?.[1]?.split(' or ');
}

/** By kind: what is entered, where that is not an id. */
const ENTRIES: Record<string, string> = {
  KillSwitch: 'global, actor:kai, team:support or tool:mail.send, by what the switch stops',
  Company: 'company',
};

const wordsOf = (kind: string) => kind.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

/** What is entered for a thing of this kind. */
export const entryOf = (kind: string) => ENTRIES[kind] ?? `the id of ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${wordsOf(kind)}`;
