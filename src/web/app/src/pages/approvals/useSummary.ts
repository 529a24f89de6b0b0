import type { ShownApproval } from '../../api';
import { nameOf, useActors } from '../../parts/Actor';
import { useRuns, useTasks } from '../work/useWork';
import { isAsk } from '../work/words';

/** What an approval is about, in one line: in the place of a run's or a task's id stands what people call it. */
export function useSummary(): (approval: Pick<ShownApproval, 'summary' | 'resource' | 'title'>) => string {
  const { byId } = useActors();
  const runs = useRuns().data;
  const tasks = useTasks().data;
  const words = (id: string, title?: string) => {
    const run = runs?.find((one) => one.id === id);
    const task = tasks?.find((one) => one.id === (run?.task ?? id));
    if (task && !isAsk(task)) return run ? `the run on «${task.title}»` : `the task «${task.title}»`;
    if (run) return `the run of ${nameOf(byId.get(run.agent), run.agent)}`;
    if (id.startsWith('run_')) return 'a run';
    if (!/^(chg|scp)_/.test(id)) return id;
    return title ? `the change «${title}»` : 'a change';
  };
  return ({ summary, resource, title }) => (/^(run|tsk|chg|scp)_/.test(resource) ? summary.replaceAll(resource, () => words(resource, title ?? undefined)) : summary);
}
