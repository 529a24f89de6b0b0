// Controls that open something. Until what they open is loaded, they look as they will, and remember whether they were reached.

import { TextInput, type AutocompleteProps, type ModalProps, type SelectProps } from '@mantine/core';
import { useDeferredValue, useEffect, useEffectEvent, useRef, useState, useSyncExternalStore, type FocusEvent, type KeyboardEvent } from 'react';
import { promised, whenIdle } from '../shell/idle';
import { chosenIn } from './chosen';
import { Icon } from './icons';

type Controls = typeof import('./controls');

let loaded: Controls | undefined;
let isBegun = false;
/** Who reaches for a control does not wait until the page is idle. */
const [reachedFor, reach] = promised();
const listeners = new Set<() => void>();

function load() {
  if (isBegun) return;
  isBegun = true;
  void whenIdle(() => import('./controls'), reachedFor).then((controls) => {
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

type Reached = 'focus' | 'open' | undefined;

const OPENS = ['ArrowDown', 'ArrowUp', 'Enter', ' '];

/** Whether somebody has come to a control that is not there yet, and what they have typed there to search for. */
function useReached() {
  const [reached, setReached] = useState<Reached>();
  const [typed, setTyped] = useState<string>();
  const selected = useRef<[number | null, number | null]>(null);
  const come = (how: Reached) => {
    reach();
    setReached((before) => (before === 'open' ? before : how));
  };
  return {
    reached,
    typed,
    setTyped,
    /** The keys stay where they are once the control takes the place of what stood for it, and so does what is selected there. */
    keys: {
      autoFocus: reached !== undefined,
      ref: (input: HTMLInputElement | null) => {
        if (reached !== undefined && selected.current) input?.setSelectionRange(...selected.current);
        selected.current = null;
      },
    },
    marks: {
      ref: (input: HTMLInputElement | null) => () => {
        selected.current = input && [input.selectionStart, input.selectionEnd];
      },
      onFocus: () => come('focus'),
      onPointerDown: () => come('open'),
      onBlur: ({ currentTarget }: FocusEvent) => {
        if (!currentTarget.isConnected) return;
        setReached(undefined);
        setTyped(undefined);
      },
    },
    /** The keys that open a list open it when it is there. What is typed to search for may have spaces. */
    opens: (searchable: boolean | undefined) => (event: KeyboardEvent) => {
      if (!OPENS.includes(event.key) || (searchable && event.key === ' ')) return;
      event.preventDefault();
      come('open');
    },
  };
}

const ROLE = { role: 'combobox', 'aria-haspopup': 'listbox', 'aria-expanded': false } as const;

export function Select(props: SelectProps) {
  const controls = useControls();
  const { reached, typed, setTyped, keys, marks, opens } = useReached();
  if (controls) {
    const given = { ...props, ...keys, defaultDropdownOpened: reached === 'open' || typed !== undefined };
    return props.searchable ? <Searched of={controls} typed={typed} {...given} /> : <controls.Select {...given} />;
  }
  const { label, description, placeholder, required, disabled, leftSection, data, value, readOnly, searchable, error, w, 'aria-label': name } = props;
  const given = { label, description, placeholder, required, disabled, leftSection, error, w, 'aria-label': name };
  const role = readOnly ? {} : { ...ROLE, onKeyDown: opens(searchable) };
  return (
    <TextInput
      {...given}
      {...role}
      {...marks}
      readOnly={readOnly || !searchable}
      size="sm"
      value={typed ?? chosenIn(data, value)}
      onChange={(event) => setTyped(event.currentTarget.value)}
      rightSection={<Icon name="choose" size={14} />}
      rightSectionPointerEvents="none"
      pointer={!readOnly && !searchable}
    />
  );
}

/** A list that goes on searching for what was typed before it was there: at first it searches for what is chosen. */
function Searched({ of, typed, ...props }: { of: Controls; typed: string | undefined } & SelectProps) {
  const [search, setSearch] = useState(typed ?? chosenIn(props.data, props.value));
  // The list itself begins with searching for what is chosen.
  const goOn = useEffectEvent(() => queueMicrotask(() => typed !== undefined && setSearch(typed)));
  useEffect(() => goOn(), []);
  return <of.Select {...props} searchValue={search} onSearchChange={setSearch} />;
}

export function Autocomplete(props: AutocompleteProps) {
  const controls = useControls();
  const { keys, marks } = useReached();
  if (controls) return <controls.Autocomplete {...props} {...keys} />;
  const { label, placeholder, value, onChange } = props;
  return <TextInput {...{ label, placeholder, value }} {...marks} onChange={(event) => onChange?.(event.currentTarget.value)} />;
}
