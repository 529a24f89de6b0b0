/** Whether what is typed now is text for a field, or a key of the browser's own. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return event.ctrlKey || event.metaKey || event.altKey || !!target?.closest('input, textarea, select, [contenteditable=true], [role=dialog]');
}

/** Escape leaves a field, so that keys are the page's again; a list that is open below it closes first, a dialog as a whole. */
export function leaveField(event: KeyboardEvent) {
  const target = event.target as HTMLElement | null;
  const field = event.key === 'Escape' && target?.closest<HTMLElement>('input, textarea');
  if (field && field.getAttribute('aria-expanded') !== 'true' && !field.closest('[role=dialog]')) field.blur();
}
