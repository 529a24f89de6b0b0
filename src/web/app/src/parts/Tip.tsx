// What appears beside something: in the browser's top layer, so that nothing cuts it off.

import { useEffect, useId, useLayoutEffect, useRef, useState, type FocusEvent, type ReactNode, type RefObject } from 'react';
import css from './parts.module.css';
import { placed } from './placed';

/** A text waits so long for a pointer that only passes by. */
const DELAY_MS = 250;

const controlIn = (around: RefObject<HTMLElement | null>) => around.current?.querySelector('button, a');

/** Shows a box beside the control inside of `around`, and keeps it there while the page is scrolled. */
function useBeside(box: RefObject<HTMLElement | null>, around: RefObject<HTMLElement | null>, side: 'above' | 'below') {
  useLayoutEffect(() => {
    const shown = box.current;
    const about = controlIn(around);
    if (!shown || !about) return;
    const place = () => {
      // Without the bars of the window, which would hide an edge.
      const { clientWidth: width, clientHeight: height } = document.documentElement;
      const { left, top } = placed(about.getBoundingClientRect(), shown.getBoundingClientRect(), { width, height }, side);
      Object.assign(shown.style, { left: `${left}px`, top: `${top}px` });
    };
    const show = () => {
      shown.showPopover();
      place();
    };
    let later = 0;
    try {
      show();
    } catch {
      // While a browser closes one box it shows no other: the keys have just gone back to a control that has a text.
      later = requestAnimationFrame(show);
    }
    window.addEventListener('scroll', place, { capture: true, passive: true });
    window.addEventListener('resize', place);
    return () => {
      cancelAnimationFrame(later);
      window.removeEventListener('scroll', place, { capture: true });
      window.removeEventListener('resize', place);
      if (shown.matches(':popover-open')) shown.hidePopover();
    };
  }, [box, around, side]);
}

/** A short text about `children`, for as long as somebody points at it or has come to it by key. */
export function Tip({ label, isOff = false, children }: { label: string; isOff?: boolean; children: ReactNode }) {
  const around = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef(0);
  const id = useId();
  const isShown = isOpen && !isOff;
  const hide = () => {
    window.clearTimeout(waiting.current);
    setOpen(false);
  };
  useEffect(() => () => window.clearTimeout(waiting.current), []);
  useEffect(() => {
    const about = controlIn(around);
    if (!isShown || !about) return;
    about.setAttribute('aria-describedby', id);
    return () => about.removeAttribute('aria-describedby');
  }, [isShown, id]);
  return (
    // What is pointed at is the control inside; this only hears of it.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <span
      ref={around}
      className={css.around}
      onPointerEnter={() => (waiting.current = window.setTimeout(() => setOpen(true), DELAY_MS))}
      onPointerLeave={hide}
      onFocus={({ target }) => target.matches(':focus-visible') && setOpen(true)}
      onBlur={hide}
      onKeyDown={({ key }) => key === 'Escape' && hide()}
    >
      {children}
      {isShown && <Text id={id} around={around} label={label} />}
    </span>
  );
}

function Text({ id, around, label }: { id: string; around: RefObject<HTMLElement | null>; label: string }) {
  const box = useRef<HTMLSpanElement>(null);
  useBeside(box, around, 'above');
  return (
    <span ref={box} id={id} role="tooltip" popover="manual" className={css.tip}>
      {label}
    </span>
  );
}

/** Escape on a control with this closes what is beside it, and not the dialog that it is in. */
export const ESCAPES_ALONE = { 'data-mantine-stop-propagation': 'true' };

type Beside = { label: string; isOpen: boolean; setOpen: (isOpen: boolean) => void; about: ReactNode; children: ReactNode };

/** A small dialog beside what it is about: it has the keys as long as it is open, and is gone once somebody leaves it. */
export function Aside({ label, isOpen, setOpen, about, children }: Beside) {
  const around = useRef<HTMLSpanElement>(null);
  return (
    <span ref={around} className={css.around}>
      {about}
      {isOpen && (
        <Dialog label={label} around={around} close={() => setOpen(false)}>
          {children}
        </Dialog>
      )}
    </span>
  );
}

function Dialog({ label, around, close, children }: { label: string; around: RefObject<HTMLElement | null>; close: () => void; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useBeside(box, around, 'below');
  useEffect(() => box.current?.querySelector<HTMLElement>('a, button')?.focus(), []);
  const left = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (relatedTarget && !currentTarget.contains(relatedTarget as Node)) close();
  };
  return (
    // It hears where the keys go.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div ref={box} role="dialog" aria-label={label} popover="auto" className={css.dialog} onBlur={left} onToggle={({ newState }) => newState === 'closed' && close()}>
      {children}
    </div>
  );
}
