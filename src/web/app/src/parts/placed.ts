type Box = { left: number; top: number; width: number; height: number };
type Size = { width: number; height: number };

/** So far from what it is about, and from the edges of the window. */
const GAP = 6;

/** Where a box of a size stands beside another: in the middle above it or below it, where there is room, and inside of the window. */
export function placed(about: Box, size: Size, room: Size, side: 'above' | 'below'): { left: number; top: number } {
  const above = about.top - size.height - GAP;
  const below = about.top + about.height + GAP;
  const fitsAbove = above >= GAP;
  const fitsBelow = below + size.height + GAP <= room.height;
  const isAbove = side === 'above' ? fitsAbove || !fitsBelow : !fitsBelow && fitsAbove;
  const middle = about.left + about.width / 2 - size.width / 2;
  return { left: Math.max(GAP, Math.min(middle, room.width - size.width - GAP)), top: isAbove ? above : below };
}
