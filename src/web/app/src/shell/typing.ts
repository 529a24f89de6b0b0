/** Whether what is typed now is text for a field, or a key of the browser's own. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return event.ctrlKey || event.metaKey || event.altKey || !!target?.closest('input, textarea, select, [contenteditable=true], [role=dialog]');
}
