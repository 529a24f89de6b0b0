import { createSpotlight } from '@mantine/spotlight';
import { promised } from './idle';

/** What the palette is at, and how it is closed; `openPalette` opens it. */
export const [paletteStore, palette] = createSpotlight();

/** Once somebody has asked for the palette, which is loaded late. */
export const [paletteAsked, ask] = promised();

let isThere = false;
let isAwaited = false;

/** The words for which Enter was pressed before anything was found. */
let entered: string | undefined;

/** What the palette looks for. */
export const query = () => paletteStore.getState().query;

/** Tells the field too: `updateState` alone would change what nobody sees. */
const setQuery = (next: string) => paletteStore.setState((state) => ({ ...state, query: next }));

/** Opens the palette, as soon as it is there. Until its field has the keys, what is typed is kept for it, and does nothing else. */
export function openPalette() {
  ask();
  if (!isAwaited) {
    isAwaited = true;
    window.addEventListener('keydown', keep, true);
    window.addEventListener('pointerdown', turnAway, true);
  }
  if (isThere) palette.open();
}

/** The palette is there, until what is returned is called; it opens where somebody waits for it. */
export function paletteIsThere() {
  isThere = true;
  if (isAwaited) palette.open();
  return () => {
    isThere = false;
  };
}

function awaitNoMore() {
  isAwaited = false;
  window.removeEventListener('keydown', keep, true);
  window.removeEventListener('pointerdown', turnAway, true);
}

/** Whether the palette has got the keys and shows all that was kept for it, or was closed again. */
export function isOver() {
  const field = document.activeElement?.closest<HTMLInputElement>('[data-palette]');
  return field ? field.value === query() : isThere && !paletteStore.getState().opened;
}

function keep(event: KeyboardEvent) {
  if (isOver()) return awaitNoMore();
  event.stopImmediatePropagation();
  if (event.key === 'Escape') {
    event.preventDefault();
    giveUp();
    return;
  }
  const next = afterKey(query(), event);
  if (next === undefined) return;
  event.preventDefault();
  entered = event.key === 'Enter' ? query() : undefined;
  if (next !== query()) setQuery(next);
}

/** Who presses something else before there is a palette does not wait for it any more. */
function turnAway() {
  if (isOver()) awaitNoMore();
  else if (!isThere) giveUp();
}

function giveUp() {
  awaitNoMore();
  entered = undefined;
  // One that is open already clears what it looks for when it has closed.
  if (isThere) palette.close();
  else setQuery('');
}

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'> & { getModifierState?: (key: string) => boolean };

const ELSEWHERE = ['Enter', 'Tab', 'ArrowDown', 'ArrowUp'];

/** What stands in a field with `text` once a key was pressed at its end; nothing where the key is the browser's. */
export function afterKey(text: string, event: Key): string | undefined {
  const { key, ctrlKey, metaKey, altKey } = event;
  const isPlain = !ctrlKey && !metaKey && !altKey;
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'k') return text;
  if (!isPlain && !event.getModifierState?.('AltGraph')) return undefined;
  if (key === 'Backspace') return [...text].slice(0, -1).join('');
  if (ELSEWHERE.includes(key)) return text;
  return [...key].length === 1 ? text + key : undefined;
}

/** Chooses the first of what is listed, where nothing is chosen: what the server finds comes after the last key, when Enter waits for it. */
export function chooseFirst(store = paletteStore) {
  const list = document.getElementById(store.getState().listId);
  if (!list || list.querySelector('[data-selected]')) return;
  list.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}

const chosen = (store: typeof paletteStore) => document.getElementById(store.getState().listId)?.querySelector<HTMLElement>('[data-selected]');

/** Enter: where nothing is listed yet, it is for what is found for these words. What is chosen the palette opens itself. */
export function enter(store = paletteStore) {
  chooseFirst(store);
  entered = chosen(store) ? undefined : store.getState().query;
}

/** Opens what is found, once it is, for the words for which Enter was pressed; `isSearching`: there may be more to come. */
export function openEntered(isSearching: boolean, store = paletteStore) {
  if (entered === undefined) return;
  if (store.getState().query !== entered) {
    entered = undefined;
    return;
  }
  // While the palette is opening there is no list yet; its field gets the keys when there is.
  if (!document.getElementById(store.getState().listId)) return;
  chooseFirst(store);
  const found = chosen(store);
  if (found || !isSearching) entered = undefined;
  found?.click();
}
