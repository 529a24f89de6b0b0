// Controls that open something. Until what they open is loaded, they look as they will, and remember whether they were reached.

import { TextInput, type AutocompleteProps, type ModalProps, type SelectProps } from '@mantine/core';
import { useDeferredValue, useState, useSyncExternalStore, type FocusEvent } from 'react';
import { whenIdle } from '../shell/idle';
import { chosenIn } from './chosen';
import { Icon } from './icons';

type Controls = typeof import('./controls');

let loaded: Controls | undefined;
let isAsked = false;
const listeners = new Set<() => void>();

function load() {
  if (isAsked) return;
  isAsked = true;
  void whenIdle(() => import('./controls')).then((controls) => {
    loaded = controls;
    for (const listener of listeners) listener();
  });
}

function onLoaded(listener: () => void) {
  listeners.add(listener);
  load();
  return () => listeners.delete(listener);
}

const useControls = () => useSyncExternalStore(onLoaded, () => loaded);

export function Modal(props: ModalProps) {
  const controls = useControls();
  return controls && <Opening of={controls} {...props} />;
}

/** A dialog remembers where the keys were when it opens, and not when it is drawn at once as open. */
function Opening({ of, opened, ...props }: { of: Controls } & ModalProps) {
  const isDrawn = useDeferredValue(true, false);
  return <of.Modal {...props} opened={opened && isDrawn} />;
}

type Reached = 'focus' | 'press' | undefined;

/** Whether somebody has come to a control that is not there yet. */
function useReached() {
  const [reached, setReached] = useState<Reached>();
  return {
    reached,
    /** The keys stay where they are once the control takes the place of what stood for it. */
    keys: { autoFocus: reached !== undefined },
    marks: {
      onFocus: () => setReached((before) => before ?? 'focus'),
      onPointerDown: () => setReached('press'),
      onBlur: ({ currentTarget }: FocusEvent) => currentTarget.isConnected && setReached(undefined),
    },
  };
}

const ROLE = { role: 'combobox', 'aria-haspopup': 'listbox', 'aria-expanded': false, readOnly: true } as const;

export function Select(props: SelectProps) {
  const controls = useControls();
  const { reached, keys, marks } = useReached();
  if (controls) return <controls.Select {...props} {...keys} defaultDropdownOpened={reached === 'press'} />;
  const { label, description, placeholder, required, leftSection, data, value, readOnly, error, w, 'aria-label': name } = props;
  const given = { label, description, placeholder, required, leftSection, error, w, 'aria-label': name };
  return <TextInput {...given} {...(readOnly ? { readOnly } : ROLE)} {...marks} size="sm" value={chosenIn(data, value)} rightSection={<Icon name="choose" size={14} />} rightSectionPointerEvents="none" pointer={!readOnly} />;
}

export function Autocomplete(props: AutocompleteProps) {
  const controls = useControls();
  const { keys, marks } = useReached();
  if (controls) return <controls.Autocomplete {...props} {...keys} />;
  const { label, placeholder, value, onChange } = props;
  return <TextInput {...{ label, placeholder, value }} {...marks} onChange={(event) => onChange?.(event.currentTarget.value)} />;
}
