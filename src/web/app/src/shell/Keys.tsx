import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Kbd } from '../parts/Page';
import { mod, PAGES } from './pages';
import css from './shell.module.css';
import { isTyping } from './typing';

/** «g» and the letter of a page goes there; «?» shows which keys there are. */
export function Keys() {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const begun = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === '?') return setOpen(true);
      const page = Date.now() - begun.current < 1_200 ? PAGES.find(({ key }) => key === event.key) : undefined;
      begun.current = event.key === 'g' ? Date.now() : 0;
      if (page) {
        event.preventDefault();
        void navigate({ to: page.to });
      }
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [navigate]);
  return (
    <Modal opened={isOpen} onClose={() => setOpen(false)} title="Keys">
      <div className={css.keys}>
        <span>
          <Kbd>{mod}K</Kbd>
        </span>
        <span>search, go, do</span>
        {PAGES.map(({ key, name }) => (
          <div key={key} style={{ display: 'contents' }}>
            <span>
              <Kbd>g</Kbd> <Kbd>{key}</Kbd>
            </span>
            <span>{name}</span>
          </div>
        ))}
        <span>
          <Kbd>j</Kbd> <Kbd>k</Kbd>
        </span>
        <span>next and previous approval, or event</span>
        <span>
          <Kbd>a</Kbd> <Kbd>r</Kbd>
        </span>
        <span>approve, reject: writes the note</span>
      </div>
    </Modal>
  );
}
