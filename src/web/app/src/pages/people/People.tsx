import { Button, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type FormEvent } from 'react';
import { actorAdd, type Actor as Record, type ActorKind, type Role } from '../../api';
import { Avatar, nameOf, offered, useActors } from '../../parts/Actor';
import { Go } from '../../parts/Go';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { State } from '../../parts/Verdict';
import { VirtualRows } from '../../parts/Virtual';
import css from './people.module.css';
import { Trust } from './Trust';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { byName, folded, grouped } from '../../parts/plain';
import { Choices } from '../../parts/Choices';
import { useDialog } from '../../parts/asked';

/** What somebody may add. */
const NEW = [
  { value: 'person', label: 'A person' },
  { value: 'agent', label: 'An agent' },
  { value: 'team', label: 'A team' },
] as const;

const KINDS = [
  { value: '', label: 'All' },
  { value: 'person', label: 'People' },
  { value: 'agent', label: 'Agents' },
  { value: 'team', label: 'Teams' },
];

const isFound = (actor: Record, text: string) => folded([actor.id, actor.name, actor.role, actor.team ?? '', ...actor.skills].join(' ')).includes(folded(text));

export function People() {
  const { kind = '', q = '' } = useSearch({ from: '/people' });
  const navigate = useNavigate();
  const actors = useActors();
  const [isOpen, setOpen] = useDialog('add');
  const listed = useMemo(() => actors.all.filter((actor) => (!kind || actor.kind === kind || (kind === 'agent' && actor.kind === 'outside_agent')) && isFound(actor, q)).sort(order), [actors.all, kind, q]);
  const set = (next: { kind?: string; q?: string }) => void navigate({ to: '/people', search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <Page
      title="People"
      lead="Everybody who acts here: people, agents, and the teams that they are in."
      actions={
        <>
          <Button component={Link} to="/delegations" variant="default" leftSection={<Icon name="link" size={14} />}>
            Delegations
          </Button>
          <Do op="actor.add" onClick={() => setOpen(true)} leftSection={<Icon name="plus" size={14} />}>
            Add
          </Do>
        </>
      }
    >
      <div className={parts.bar}>
        <TextInput placeholder="Name, id, team, skill" aria-label="find somebody" value={q} onChange={(event) => set({ q: event.currentTarget.value || undefined })} leftSection={<Icon name="search" size={14} />} />
        <Choices data={KINDS} value={kind} aria-label="kind" onChange={(value) => set({ kind: value || undefined })} />
      </div>
      <Card flush>
        <div className={css.headRow}>
          <span>Name</span>
          <span>Role or trust</span>
          <span>Team or owner</span>
          <span>Skills</span>
        </div>
        <Shown read={{ data: actors.isPending || actors.error ? undefined : listed, error: actors.error, isPending: actors.isPending, refetch: actors.refetch }} rows={8}>
          {(list) => (
            <>
              {list.length === 0 ? <Empty icon="people" title="Nobody like that" /> : <Rows key={`${kind} ${q}`} list={list} />}
              {actors.isCut && <p className={parts.cut}>The newest {grouped(actors.all.length)} were looked through.</p>}
            </>
          )}
        </Shown>
      </Card>
      <Add isOpen={isOpen} close={() => setOpen(false)} />
    </Page>
  );
}

/** Who is there before who has left, then by name. */
function order(a: Record, b: Record): number {
  if (a.status !== b.status) return a.status === 'active' ? -1 : 1;
  return byName(folded(nameOf(a, a.id)), folded(nameOf(b, b.id)));
}

function Rows({ list }: { list: Record[] }) {
  const { byId } = useActors();
  const name = (id: string | null | undefined) => (id ? nameOf(byId.get(id), id) : '');
  return (
    <VirtualRows list={list} height={52} className={css.scroll}>
      {(actor, style) => (
        <Go key={actor.id} to="/people/$id" params={{ id: actor.id }} className={css.row} style={style}>
          <span className={css.who}>
            <Avatar id={actor.id} actor={actor} />
            <span className={css.name}>
              <Said>{nameOf(actor, actor.id)}</Said>
              <small>{actor.id}</small>
            </span>
          </span>
          <span>{actor.status === 'offboarded' ? <State state="offboarded" /> : actor.kind === 'agent' || actor.kind === 'outside_agent' ? <Trust tier={actor.trust} /> : actor.kind === 'team' ? 'team' : actor.role}</span>
          <span className={css.name}>
            <Said style={{ fontWeight: 400 }}>{actor.kind === 'team' ? (actor.lead ? `led by ${name(actor.lead)}` : '') : name(actor.team ?? actor.owner)}</Said>
          </span>
          <span className={css.name}>
            <small>{actor.skills.join(', ')}</small>
          </span>
        </Go>
      )}
    </VirtualRows>
  );
}

const ROLES: Role[] = ['member', 'lead', 'steward', 'auditor', 'admin'];

function Add({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { all } = useActors();
  const [kind, setKind] = useState<ActorKind>('person');
  const [fields, setFields] = useState({ id: '', name: '', role: 'member' as Role, team: '', owner: '' });
  const { act, busy } = useAct();
  const teams = offered(all, (actor) => actor.kind === 'team');
  const people = offered(all, (actor) => actor.kind === 'person' && actor.status === 'active');
  const set = (next: Partial<typeof fields>) => setFields((before) => ({ ...before, ...next }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const id = kind === 'team' && !fields.id.startsWith('team:') ? `team:${fields.id}` : fields.id;
    const body = {
      id,
      kind,
      ...(fields.name.trim() ? { name: fields.name.trim() } : {}),
      ...(kind === 'person' ? { role: fields.role } : {}),
      ...(fields.team ? { team: fields.team } : {}),
      ...(kind === 'agent' && fields.owner ? { owner: fields.owner } : {}),
    };
    if (await act((headers) => actorAdd({ body, headers, throwOnError: true }), `${id} is added`)) {
      setFields({ id: '', name: '', role: 'member', team: '', owner: '' });
      close();
    }
  };
  return (
    <FormDialog title="Add somebody" isOpen={isOpen} close={close} submit={submit} action="Add" busy={busy}>
      <Choices fullWidth value={kind} aria-label="kind" onChange={setKind} data={NEW} />
      <TextInput label="Id" description="small letters, digits, dots and dashes; it never changes" value={fields.id} onChange={(event) => set({ id: event.currentTarget.value })} required leftSection={kind === 'team' ? <span style={{ fontSize: 12 }}>team:</span> : undefined} leftSectionWidth={kind === 'team' ? 52 : undefined} data-autofocus />
      <TextInput label="Name" value={fields.name} onChange={(event) => set({ name: event.currentTarget.value })} />
      {kind === 'person' && <Select label="Role" data={ROLES} value={fields.role} onChange={(role) => set({ role: (role as Role) ?? 'member' })} allowDeselect={false} />}
      {kind === 'agent' && <Select label="Owner" description="answers for the agent" data={people} searchable value={fields.owner || null} onChange={(owner) => set({ owner: owner ?? '' })} required />}
      <Select label={kind === 'team' ? 'Part of the team' : 'Team'} data={teams} searchable clearable value={fields.team || null} onChange={(team) => set({ team: team ?? '' })} />
    </FormDialog>
  );
}
