import { Button, type MantineSize } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { Modal } from './later';
import css from './parts.module.css';

type Dialog = {
  title: string;
  isOpen: boolean;
  close: () => void;
  submit: (event: FormEvent) => Promise<void>;
  /** What the button says that does it. */
  action: ReactNode;
  busy: boolean;
  disabled?: boolean;
  color?: string;
  size?: MantineSize;
  children: ReactNode;
};

/** A form in a dialog, with the one button that does what it is for. */
export function FormDialog({ title, isOpen, close, submit, action, busy, disabled, color, size, children }: Dialog) {
  return (
    <Modal opened={isOpen} onClose={close} title={title} size={size}>
      <form onSubmit={(event) => void submit(event)} className={css.form}>
        {children}
        <Button type="submit" color={color} loading={busy} disabled={disabled}>
          {action}
        </Button>
      </form>
    </Modal>
  );
}
