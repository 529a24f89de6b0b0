import { Menu, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from '../parts/icons';
import { leave } from './leave';

type Props = { isOpen: boolean; setOpen: (isOpen: boolean) => void; close?: () => void; children: ReactNode };

/** What the signed-in person chooses for themselves, above the button that shows who they are. */
export default function WhoMenu({ isOpen, setOpen, close, children }: Props) {
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu opened={isOpen} onChange={setOpen} width={216} position="top-start" shadow="md">
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name="key" size={14} />}
          onClick={() => {
            close?.();
            void navigate({ to: '/me' });
          }}
        >
          Profile and tokens
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} leftSection={<Icon name={scheme === 'dark' ? 'moon' : 'sun'} size={14} />} rightSection={colorScheme === scheme ? <Icon name="check" size={14} /> : null} onClick={() => setColorScheme(scheme)}>
            {scheme === 'auto' ? 'As the system' : scheme === 'dark' ? 'Dark' : 'Light'}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="leave" size={14} />} onClick={leave}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
