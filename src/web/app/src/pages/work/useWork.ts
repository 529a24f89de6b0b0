// Reads of tasks and runs that several pages share.

import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { MOST } from '../../ahead';
import { runListOptions, runRead, taskList, taskListOptions, type ShownRun, type ShownTask, type TaskStatus } from '../../api';
import { useGuarded } from '../../parts/guard';
import { useMe } from '../../shell/useMe';
import { asks, firstLine, isOver, isTodo, sooner, UNDER_WAY, withOwned } from './words';

export const runsOptions = () => runListOptions({ query: { limit: MOST } });
export const tasksOptions = () => taskListOptions({ query: { limit: MOST } });
/** Tasks of somebody's own. */
export const ownedOptions = (owner: string) => taskListOptions({ query: { owner, limit: MOST } });
export const useRuns = () => useGuarded('run.list', runsOptions());

/** So many pages are looked through for tasks that stand so; the server ends a page when it has looked at enough. */
const PAGES = 10;

/** Tasks that stand so, however old they are. */
const standingOptions = (status: TaskStatus) =>
  queryOptions({
    queryKey: [{ _id: 'taskListStanding', status }],
    queryFn: async () => {
      const found: ShownTask[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < PAGES && cursor !== null && found.length < MOST; page += 1) {
        const { data, response } = await taskList({ query: { status, limit: MOST, cursor }, throwOnError: true });
        found.push(...data);
        cursor = response.headers.get('x-next-cursor');
      }
      return found;
    },
  });

/** The newest tasks, and however old they are, somebody's own and those that are under way. */
export function useTasks() {
  const me = useMe()?.id;
  const newest = useGuarded('task.list', tasksOptions());
  const owned = useGuarded('task.list', { ...ownedOptions(me ?? ''), enabled: !!me }).data;
  const isCut = (newest.data?.length ?? 0) >= MOST;
  const standing = useQueries({ queries: UNDER_WAY.map((status) => ({ ...standingOptions(status), enabled: isCut })), combine: joined });
  const data = useMemo(() => newest.data && withOwned(withOwned(newest.data, owned ?? []), standing), [newest.data, owned, standing]);
  return { ...newest, data };
}

const joined = (reads: { data?: ShownTask[] }[]) => reads.flatMap(({ data }) => data ?? []);

export type Mine = { questions: ShownRun[]; held: ShownRun[]; todo: ShownTask[] };

/** What of the work waits for the signed-in person: questions, runs of theirs that are held, tasks of their own. */
export function useMine(): Mine {
  const me = useMe()?.id;
  const runs = useRuns().data ?? [];
  const tasks = useGuarded('task.list', { ...ownedOptions(me ?? ''), enabled: !!me }).data ?? [];
  return {
    questions: runs.filter((run) => asks(run, me)),
    held: runs.filter((run) => run.asker === me && run.status === 'held' && !isOver(run.status)),
    todo: tasks.filter((task) => isTodo(task, me)).sort(sooner),
  };
}

/** The first line of what an agent was asked, as far as the run that came of it may be seen. */
export function useQuestion(task: ShownTask): string | undefined {
  return useInput(useRuns().data?.find((one) => one.task === task.id && !one.parent)?.id);
}

/** The first line of what a run was asked to do. */
export function useInput(run: string | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ['question', run],
    queryFn: async () => firstLine((await runRead({ path: { id: run ?? '' }, throwOnError: true })).data.input ?? ''),
    enabled: !!run,
    staleTime: Infinity,
    retry: false,
  });
  return data;
}
