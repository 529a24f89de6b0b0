import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { PAGES } from './pages';
import { isTyping, leaveField } from './typing';

/** So long after «g» a letter names a page. */
const NAMED_WITHIN_MS = 1_200;

/** «g» and the letter of a page goes there; Escape leaves a field. */
export function usePageKeys() {
  const navigate = useNavigate();
  const begun = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      const page = Date.now() - begun.current < NAMED_WITHIN_MS ? PAGES.find(({ key }) => key === event.key) : undefined;
      begun.current = event.key === 'g' ? Date.now() : 0;
      if (page) {
        event.preventDefault();
        void navigate({ to: page.to });
      }
    };
    window.addEventListener('keydown', press);
    // Before the field's own list has closed.
    window.addEventListener('keydown', leaveField, true);
    return () => {
      window.removeEventListener('keydown', press);
      window.removeEventListener('keydown', leaveField, true);
    };
  }, [navigate]);
}
