// Where something is done in the workspace, so that whoever may do it with approval can go and ask for it.

const PLACES: [RegExp, (target: string) => string][] = [
  [/^actor\.(add|hire)$/, () => '/people'],
  [/^actor\./, (target) => `/people/${encodeURIComponent(target)}`],
  [/^agent\.ask$/, (target) => `/ask?agent=${encodeURIComponent(target)}`],
  [/^task\.create$/, () => '/tasks'],
  [/^task\./, (target) => `/tasks/${target}`],
  [/^(run|budget)\./, (target) => `/runs/${target}`],
  [/^change\./, (target) => `/policy/changes/${target}`],
  [/^policy\.propose$/, () => '/policy'],
  [/^kill$/, () => '/kill'],
  [/^token\./, () => '/me'],
  [/^delegation\./, () => '/delegations'],
  [/^(company|webhook)\./, () => '/settings'],
];

/** The page on which an operation is done; none where there is none, or it takes something to be done to. */
export function whereDone(operation: string, target: string): string | undefined {
  const place = PLACES.find(([begins]) => begins.test(operation))?.[1];
  const path = place?.(target);
  return path?.endsWith('/company') ? undefined : path;
}
