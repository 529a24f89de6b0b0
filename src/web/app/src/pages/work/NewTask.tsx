import { Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { taskCreate, type Priority } from '../../api';
import { offered, useActors } from '../../parts/Actor';
import { useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { Select } from '../../parts/later';
import { useUnsent } from '../../parts/unsent';
import css from './work.module.css';

const PRIORITIES: Priority[] = ['low', 'normal', 'high', 'urgent'];
const NOTHING = { owner: '', priority: 'normal' as Priority, due: '' };

/** Who can have a task: people and agents who are there. */
export function useOwners() {
  const { all } = useActors();
  return offered(
    all,
    ({ kind, status }) => (kind === 'person' || kind === 'agent') && status === 'active',
    ({ id, name, kind }) => `${name || id}${kind === 'agent' ? ' (agent)' : ''}`,
  );
}

/** Characters, as the server counts them. */
const LONGEST_TITLE = 200;

export function NewTask({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const [title, setTitle] = useUnsent('title of a new task');
  const [goal, setGoal] = useUnsent('goal of a new task');
  const [fields, setFields] = useState(NOTHING);
  const owners = useOwners();
  const navigate = useNavigate();
  const { act, busy } = useAct();
  const set = (next: Partial<typeof fields>) => setFields((before) => ({ ...before, ...next }));
  const excess = [...title.trim()].length - LONGEST_TITLE;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = {
      title: title.trim(),
      priority: fields.priority,
      ...(goal.trim() ? { goal: goal.trim() } : {}),
      ...(fields.owner ? { owner: fields.owner } : {}),
      // A day ends in the evening of whoever names it.
      ...(fields.due ? { due_at: new Date(`${fields.due}T18:00`).toISOString() } : {}),
    };
    const made = await act((headers) => taskCreate({ body, headers, throwOnError: true }), 'The task is created');
    if (!made) return;
    setTitle('');
    setGoal('');
    setFields(NOTHING);
    close();
    void navigate({ to: '/tasks/$id', params: { id: made.id } });
  };
  return (
    <FormDialog title="New task" isOpen={isOpen} close={close} submit={submit} action="Create" busy={busy} disabled={!title.trim() || excess > 0}>
      <TextInput label="Title" description="the log keeps it forever: put personal data in the goal" required error={excess > 0 ? `${excess} characters too long` : undefined} value={title} onChange={(event) => setTitle(event.currentTarget.value)} data-autofocus />
      <Textarea label="Goal" value={goal} onChange={(event) => setGoal(event.currentTarget.value)} />
      <Select label="Owner" placeholder="Nobody yet" data={owners} searchable clearable limit={100} value={fields.owner || null} onChange={(owner) => set({ owner: owner ?? '' })} />
      <div className={css.pair}>
        <Select label="Priority" data={PRIORITIES} allowDeselect={false} value={fields.priority} onChange={(priority) => set({ priority: (priority as Priority) ?? 'normal' })} />
        <TextInput label="Due" type="date" value={fields.due} onChange={(event) => set({ due: event.currentTarget.value })} />
      </div>
    </FormDialog>
  );
}
