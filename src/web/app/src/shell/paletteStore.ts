import { createSpotlight } from '@mantine/spotlight';

/** What the palette is at, and how it is opened. */
export const [paletteStore, palette] = createSpotlight();

/** Chooses the first of what is listed, where nothing is chosen: what the server finds comes after the last key, when Enter waits for it. */
export function chooseFirst(store = paletteStore) {
  const list = document.getElementById(store.getState().listId);
  if (!list || list.querySelector('[data-selected]')) return;
  list.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}
