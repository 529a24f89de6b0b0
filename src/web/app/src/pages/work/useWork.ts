// Reads of tasks and runs that several pages share.

import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { MOST } from '../../ahead';
import { runListOptions, runRead, taskListOptions, type ShownRun, type ShownTask, type TaskStatus } from '../../api';
import { useGuarded } from '../../parts/guard';
import { useMe } from '../../shell/useMe';
import { asks, firstLine, isOver, isTodo, sooner, UNDER_WAY, withOwned } from './words';

export const runsOptions = () => runListOptions({ query: { limit: MOST } });
export const tasksOptions = () => taskListOptions({ query: { limit: MOST } });
/** Tasks of somebody's own. */
export const ownedOptions = (owner: string) => taskListOptions({ query: { owner, limit: MOST } });
export const useRuns = () => useGuarded('run.list', runsOptions());

/** Tasks that stand so, however old they are: the newest of them. */
const standingOptions = (status: TaskStatus) => taskListOptions({ query: { status, limit: MOST } });

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
export function useQuestion(task: ShownTask | undefined): string | undefined {
  return useInput(useRuns().data?.find((one) => task && one.task === task.id && !one.parent)?.id);
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
