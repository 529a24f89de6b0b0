// Where an id leads that somebody has pasted.

const PLACES: Record<string, (id: string) => string> = {
  apr: (id) => `/approvals/${id}`,
  chg: (id) => `/policy/changes/${id}`,
  run: (id) => `/runs/${id}`,
  tsk: (id) => `/tasks/${id}`,
  whk: (id) => `/settings/webhooks/${id}`,
};

/** The page of what is called so: an event by its number, an approval, a change, a run, a task or a webhook by its id. */
export function placeOf(typed: string): { label: string; to: string } | undefined {
  const name = typed.trim();
  if (/^[1-9][0-9]{0,11}$/.test(name)) return { label: `Event ${name}`, to: `/log/${name}` };
  const [, kind = ''] = /^([a-z]{3})_[0-9A-Z]{26}$/.exec(name) ?? [];
  const place = PLACES[kind];
  return place && { label: name, to: place(name) };
}
