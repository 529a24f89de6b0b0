// Where the boxes of a graph stand: a column for each step from who gives first. Small enough to need no library.

type Edge = { id: string; from: string; to: string };
type Node = { id: string; x: number; y: number };

export function layout<E extends Edge>(list: E[], width: number, height: number) {
  const ids = [...new Set(list.flatMap(({ from, to }) => [from, to]))];
  const column = new Map(ids.map((id) => [id, 0]));
  // A circle of delegations ends this: no path is longer than the number of nodes.
  for (let round = 0; round < ids.length; round += 1) {
    let moved = false;
    for (const { from, to } of list) {
      const next = (column.get(from) ?? 0) + 1;
      if (next > (column.get(to) ?? 0) && next < ids.length) {
        column.set(to, next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const filled = new Map<number, number>();
  const nodes: Node[] = ids.map((id) => {
    const at = column.get(id) ?? 0;
    const row = filled.get(at) ?? 0;
    filled.set(at, row + 1);
    return { id, x: 1 + at * (width + 132), y: 1 + row * (height + 28) };
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = list.flatMap((of) => {
    const [from, to] = [byId.get(of.from), byId.get(of.to)];
    return from && to ? [{ of, from, to }] : [];
  });
  const end = (of: (node: Node) => number, size: number) => Math.max(0, ...nodes.map(of)) + size + 2;
  return { nodes, edges, width: end(({ x }) => x, width), height: end(({ y }) => y, height) };
}
