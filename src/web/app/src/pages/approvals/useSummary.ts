import type { ShownApproval } from '../../api';
import { nameOf, useActors } from '../../parts/Actor';
import { useRuns, useTasks } from '../work/useWork';
import { isAsk } from '../work/words';

/** What an approval is about, in one line: in the place of a run's or a task's id stands what people call it. */
export function useSummary(): (approval: Pick<ShownApproval, 'summary' | 'resource'>) => string {
  const { byId } = useActors();
  const runs = useRuns().data;
  const tasks = useTasks().data;
  const words = (id: string) => {
    const run = runs?.find((one) => one.id === id);
    const task = tasks?.find((one) => one.id === (run?.task ?? id));
    if (task && !isAsk(task)) return run ? `the run on «${task.title}»` : `the task «${task.title}»`;
    if (run) return `the run of ${nameOf(byId.get(run.agent), run.agent)}`;
    return id.startsWith('run_') ? 'a run' : id.startsWith('chg_') ? 'a change' : id;
  };
  return ({ summary, resource }) => (/^(run|tsk|chg)_/.test(resource) ? summary.replaceAll(resource, () => words(resource)) : summary);
}
