import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import type { Problem2 as Problem } from '../../api';
import { Icon } from '../../parts/icons';
import { Modal } from '../../parts/later';
import parts from '../../parts/parts.module.css';
import { write, type Draft } from './draft';
import css from './policy.module.css';
import { byName } from '../../parts/plain';

/** More than so many files are filtered by a part of their names. */
const MANY = 8;

/** Files of the company first, then those of the default pack, then tests. */
export function byFolder(a: string, b: string): number {
  const rank = (name: string) => (name.includes('/') ? (name.startsWith('tests/') ? 2 : 1) : 0);
  return rank(a) - rank(b) || byName(a, b);
}

export function Files({ names, file, draft, problems, go, base }: { names: string[]; file: string; draft: Draft; problems: Problem[]; go: (path: string) => void; base: number }) {
  const [words, setWords] = useState('');
  const deleted = Object.keys(draft.files).filter((name) => draft.files[name] === null);
  const all = [...names, ...deleted];
  const folders = new Map<string, string[]>();
  for (const name of all.filter((one) => one.toLowerCase().includes(words.trim().toLowerCase()))) {
    const folder = name.includes('/') ? name.slice(0, name.indexOf('/')) : 'company';
    folders.set(folder, [...(folders.get(folder) ?? []), name]);
  }
  const mark = (name: string) => {
    const severities = problems.filter((problem) => problem.file === name).map(({ severity }) => severity);
    return severities.includes('error') ? 'error' : name in draft.files ? 'changed' : severities.includes('warning') ? 'warning' : undefined;
  };
  return (
    <nav className={css.files} aria-label="Files">
      {all.length > MANY && <TextInput className={css.filter} size="xs" type="search" placeholder={`Filter ${all.length} files`} aria-label="filter files" value={words} onChange={(event) => setWords(event.currentTarget.value)} />}
      {folders.size === 0 && <p className={parts.dim}>No file is called that.</p>}
      {[...folders].map(([folder, list]) => (
        <div key={folder}>
          <h2>{folder}</h2>
          {list.map((name) => (
            <button key={name} type="button" aria-current={name === file || undefined} onClick={() => go(name)}>
              <span style={{ textDecoration: deleted.includes(name) ? 'line-through' : undefined }}>{name.includes('/') ? name.slice(name.indexOf('/') + 1) : name}</span>
              {mark(name) && <i data-mark={mark(name)} role="img" aria-label={mark(name)} />}
            </button>
          ))}
        </div>
      ))}
      <NewFile base={base} names={names} go={go} />
    </nav>
  );
}

/** Why a file of the bundle cannot have this path. */
export function pathProblem(path: string): string | undefined {
  if (path.startsWith('/')) return 'must be relative: leave out the first /';
  if (path.split('/').some((part) => part === '' || part.startsWith('.'))) return 'must not have empty or hidden parts, nor ..';
  if (!/[.](cedar|yaml)$/.test(path)) return 'must end with .cedar or .yaml';
  return undefined;
}

function NewFile({ base, names, go }: { base: number; names: string[]; go: (path: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const problem = names.includes(name) ? 'a file with this path exists' : pathProblem(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (problem) return;
    write(base, name, name.endsWith('.cedar') ? '// What this is for.\n\n' : '', undefined);
    setOpen(false);
    setName('');
    go(name);
  };
  return (
    <>
      <Button variant="subtle" size="compact-sm" mt={8} leftSection={<Icon name="plus" size={13} />} onClick={() => setOpen(true)}>
        New file
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="New file">
        <form onSubmit={submit} className={parts.form}>
          <TextInput label="Path" placeholder="payments.cedar or tests/payments.yaml" value={name} onChange={(event) => setName(event.currentTarget.value)} error={name && problem} required data-autofocus />
          <Button type="submit" disabled={!name || problem !== undefined}>
            Create
          </Button>
        </form>
      </Modal>
    </>
  );
}
