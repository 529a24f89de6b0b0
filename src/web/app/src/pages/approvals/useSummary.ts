import type { ShownApproval } from '../../api';
import { nameOf, useActors } from '../../parts/Actor';
import { useRuns } from '../work/useWork';

/** What an approval is about, in one line: in the place of a run's or a task's id stands what people call it. */
export function useSummary(): (approval: Pick<ShownApproval, 'summary' | 'resource' | 'title'>) => string {
  const { byId } = useActors();
  const runs = useRuns().data;
  const words = (id: string, title?: string) => {
    const run = runs?.find((one) => one.id === id);
    if (id.startsWith('run_')) return title ? `the run on «${title}»` : run ? `the run of ${nameOf(byId.get(run.agent), run.agent)}` : 'a run';
    if (id.startsWith('tsk_')) return title ? `the task «${title}»` : 'a task';
    return title ? `the change «${title}»` : 'a change';
  };
  return ({ summary, resource, title }) => (/^(run|tsk|chg|scp)_/.test(resource) ? summary.replaceAll(resource, () => words(resource, title ?? undefined)) : title ? `${summary} («${title}»)` : summary);
}
