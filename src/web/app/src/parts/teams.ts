import type { useActors } from './Actor';

/** The teams that somebody is in, from the nearest to the widest. */
export function teamsOf(id: string, byId: ReturnType<typeof useActors>['byId']): string[] {
  const teams: string[] = [];
  const above = (of: string) => byId.get(of)?.team;
  for (let team = above(id); team && !teams.includes(team); team = above(team)) teams.push(team);
  return teams;
}
