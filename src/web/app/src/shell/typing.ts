/** A list that opens, and in which nobody writes: a letter is nothing to it while it is closed. */
const CLOSED = 'input[readonly]:not([aria-expanded=true])';

/** Fields that take the arrows and the space, and no letters. */
const LETTERLESS = `input[type=radio], input[type=checkbox], ${CLOSED}`;

const isLetter = (key: string) => key.length === 1 && key !== ' ';

/** Whether what is typed now is text for a field, or a key of the browser's own. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target as HTMLElement | null;
  if (target?.closest('[role=dialog]')) return true;
  const field = target?.closest('input, textarea, select, [contenteditable=true]');
  return !!field && !(isLetter(event.key) && field.matches(LETTERLESS));
}

/** Escape leaves a field, so that keys are the page's again; a list that is open below it closes first, a dialog as a whole. */
export function leaveField(event: KeyboardEvent) {
  const target = event.target as HTMLElement | null;
  const field = event.key === 'Escape' && target?.closest<HTMLElement>('input, textarea');
  if (field && field.getAttribute('aria-expanded') !== 'true' && !field.closest('[role=dialog]')) field.blur();
}
