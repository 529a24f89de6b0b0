import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

/** Whether a dialog is open: its button opens it, and so does an address that ends in `?do=…`, until it is closed. */
export function useDialog(name: string): [boolean, (isOpen: boolean) => void] {
  const isAsked = useSearch({ strict: false }).do === name;
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const set = (next: boolean) => {
    setOpen(next);
    if (isAsked && !next) void navigate({ to: '.', search: (before) => ({ ...before, do: undefined }) as never, replace: true });
  };
  return [isOpen || isAsked, set];
}
