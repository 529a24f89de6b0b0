// Whether a click was meant for what it hits: a page may have put something else under the pointer just before.

/** What has come under a pointer that rests is looked at so long before it takes a click. */
const SETTLES_MS = 700;

/** A hand that rests is not quite still, and a finger comes down near to where it was. */
const NEAR_PX = 12;

type Place = { x: number; y: number };
/** `on`: what decides something there, if anything does. */
type Hit = Place & { on: unknown; at: number };

const isNear = (one: Place, other: Place) => Math.hypot(one.x - other.x, one.y - other.y) <= NEAR_PX;

/** Follows where the pointer is, what is under it, and since when that has been something else than it was. */
export class Pointer {
  private last: Hit | undefined;
  private place: Place | undefined;
  private under: { on: unknown; came: number } = { on: null, came: -Infinity };

  /** It moved, or what is under it did. */
  isOver({ on, at, x, y }: Hit) {
    const rests = !!this.place && isNear(this.place, { x, y });
    if (on !== this.under.on) this.under = { on, came: rests ? at : -Infinity };
    if (!rests) this.place = { x, y };
  }

  /** Whether a click counts; `clicks`: how many the browser counts in a row at this place. What decides something takes the first of a double click alone. */
  counts(hit: Hit, clicks: number): boolean {
    const { last, under } = this;
    const follows = !!last && isNear(last, hit) && hit.at - last.at < SETTLES_MS;
    const isNew = under.on === hit.on && hit.at - under.came < SETTLES_MS;
    const isStray = hit.on !== null && (clicks > 1 || isNew || (follows && last.on !== hit.on));
    this.place = { x: hit.x, y: hit.y };
    // More clicks in a row are still for what the first was for.
    this.last = follows && isStray ? { ...hit, on: last.on } : hit;
    return !isStray;
  }
}

const decidesAt = (event: Event) => (event.target instanceof Element ? event.target.closest('[data-decides]') : null);

/** Keeps stray clicks from what decides something, on every page. Keys have no place: what they press has the focus, and what comes anew has not. */
export function keepStrayClicks(from: Window) {
  const pointer = new Pointer();
  const hit = (event: MouseEvent): Hit => ({ on: decidesAt(event), at: event.timeStamp, x: event.clientX, y: event.clientY });
  for (const type of ['pointerover', 'pointermove'] as const) {
    from.addEventListener(type, (event) => event.pointerType === 'mouse' && pointer.isOver(hit(event)), { capture: true, passive: true });
  }
  const click = (event: MouseEvent) => {
    const isPress = event.isTrusted && event.detail > 0;
    if (!isPress || pointer.counts(hit(event), event.detail)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  from.addEventListener('click', click, { capture: true });
}
