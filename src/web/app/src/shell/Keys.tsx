import { Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Kbd } from '../parts/Page';
import { mod, PAGES } from './pages';
import css from './shell.module.css';
import { isTyping } from './typing';

/** «?» shows which keys there are. */
export function Keys() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === '?' && !isTyping(event)) setOpen(true);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
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
        <span>next and previous approval, or row of the log</span>
        <span>
          <Kbd>→</Kbd> <Kbd>←</Kbd>
        </span>
        <span>open and close a group of the log</span>
        <span>
          <Kbd>a</Kbd> <Kbd>r</Kbd>
        </span>
        <span>approve, reject: writes the note</span>
        <span>
          <Kbd>Esc</Kbd>
        </span>
        <span>leave a field, close what is open</span>
      </div>
    </Modal>
  );
}
