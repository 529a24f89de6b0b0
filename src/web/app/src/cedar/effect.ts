import { tokens } from './tokens';

/** Whether the text of a policy permits or forbids; unknown where it is not shown. */
export function effectOf(text: string | null | undefined): 'permit' | 'forbid' | undefined {
  const words = (text ?? '').split('\n').flatMap(tokens);
  const found = words.find(({ kind, text: word }) => kind === 'keyword' && (word === 'permit' || word === 'forbid'));
  return found?.text as 'permit' | 'forbid' | undefined;
}
