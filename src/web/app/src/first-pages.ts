// The pages that somebody is likely to open first, or keeps open: what they need is asked for before the program is there.

import type { ReadName } from './ahead';

/** By address: the file that a page begins with, in `pages`, and what it reads beside the frame around every page. */
export const FIRST_PAGES: Record<string, { file: string; reads: ReadName[] }> = {
  '/': { file: 'home/Home', reads: ['policy', 'inbox', 'head', 'key', 'happened'] },
  '/ask': { file: 'work/Ask', reads: [] },
  '/approvals': { file: 'approvals/Approvals', reads: [] },
  '/log': { file: 'log/Log', reads: ['newest', 'happened'] },
  '/people': { file: 'people/People', reads: [] },
  '/policy': { file: 'policy/Policy', reads: ['files'] },
  '/tasks': { file: 'work/Tasks', reads: ['tasks'] },
};
