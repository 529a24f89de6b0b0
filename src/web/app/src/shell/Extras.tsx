// What the first look at a page does not need: it is loaded right after.

import { Notifications } from '@mantine/notifications';
import { Drawer } from '@mantine/core';
import { Keys } from './Keys';
import { Nav } from './Nav';
import { Palette } from './Palette';
import { keepStrayClicks } from './strays';
import css from './shell.module.css';

keepStrayClicks(window);

export default function Extras({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <>
      <Drawer opened={isOpen} onClose={close} size={272} title="Menu" closeButtonProps={{ 'aria-label': 'close the menu' }}>
        <div className={css.drawer}>
          <Nav close={close} />
        </div>
      </Drawer>
      <Palette />
      <Keys />
      <Notifications position="bottom-right" limit={4} />
    </>
  );
}
