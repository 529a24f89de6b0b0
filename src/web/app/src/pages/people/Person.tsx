import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { actorReadOptions, actorTrust, actorUpdate, type Role, type ShownActor, type Trust as Tier } from '../../api';
import { Actor, Avatar, nameOf, offered, useActors } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Facts } from '../../parts/Page';
import { Yaml } from '../../parts/PolicyText';
import { Shown } from '../../parts/states';
import { State, Tag } from '../../parts/Verdict';
import { When } from '../../parts/When';
import { DelegationTable, useDelegations } from './Delegations';
import { Offboard, revoked } from './Offboard';
import css from './people.module.css';
import parts from '../../parts/parts.module.css';
import { TokenTable } from './Tokens';
import { TIERS, Trust } from './Trust';
import { Said } from '../../parts/Said';
import { entitle } from '../../parts/visible';

export function Person() {
  const { id } = useParams({ from: '/people/$id' });
  const actor = useQuery({ ...actorReadOptions({ path: { id } }), retry: false });
  useEffect(() => {
    entitle(actor.data?.name || id);
  }, [actor.data?.name, id]);
  return (
    <div className={parts.page}>
      {!actor.data && <h1 className={parts.vh}>{id}</h1>}
      <Shown read={actor}>{(data) => <Somebody actor={data} />}</Shown>
    </div>
  );
}

function Somebody({ actor }: { actor: ShownActor }) {
  const isTeam = actor.kind === 'team';
  const isAgent = actor.kind === 'agent' || actor.kind === 'outside_agent';
  const navigate = useNavigate();
  return (
    <>
      <header className={parts.hero}>
        <Avatar id={actor.id} actor={actor} size="lg" />
        <div>
          <h1>
            <Said>{nameOf(actor, actor.id)}</Said>
          </h1>
          <div className={parts.meta}>
            <code>{actor.id}</code>
            <span>{isTeam ? 'team' : isAgent ? actor.kind.replace('_', ' ') : actor.role}</span>
            {actor.status !== 'active' && <State state={actor.status} />}
            {(actor.stopped_by ?? []).map((scope) => (
              <Tag key={scope} tone="deny" icon="power">
                stopped: {scope}
              </Tag>
            ))}
          </div>
        </div>
        <div className={parts.actions}>
          <Button component={Link} to="/explain" search={{ actor: actor.id } as never} variant="default" leftSection={<Icon name="help" size={14} />}>
            What may they do?
          </Button>
          {actor.kind === 'agent' && actor.status === 'active' && (
            <Do op="agent.ask" target={actor.id} variant="default" onClick={() => void navigate({ to: '/ask', search: { agent: actor.id } })} leftSection={<Icon name="bot" size={14} />}>
              Ask
            </Do>
          )}
          {actor.status === 'active' && <Offboard actor={actor} />}
        </div>
      </header>
      <div className={parts.grid}>
        <div className={parts.stack}>
          <Card title="About" aside={actor.status === 'active' ? <Edit actor={actor} /> : undefined}>
            <About actor={actor} isAgent={isAgent} isTeam={isTeam} />
          </Card>
          {!isTeam && <TokenTable holder={actor.id} />}
          {!isTeam && <Acting id={actor.id} />}
        </div>
        <div className={parts.stack}>
          {isAgent && actor.status === 'active' && <Raise actor={actor} />}
          <Together title="Members" ids={actor.members ?? []} />
          <Together title="Leads" ids={actor.leads ?? []} />
          <Together title="Agents" ids={actor.agents ?? []} />
          {actor.definition && (
            <Card title="Definition">
              <Yaml value={actor.definition} />
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

function About({ actor, isAgent, isTeam }: { actor: ShownActor; isAgent: boolean; isTeam: boolean }) {
  const of: [string, React.ReactNode][] = [];
  if (!isTeam && !isAgent) of.push(['role', actor.role]);
  if (isAgent) of.push(['trust', <Trust key="t" tier={actor.trust} />]);
  if (actor.owner) of.push(['owner', <Actor key="o" id={actor.owner} />]);
  if (actor.team) of.push([isTeam ? 'part of' : 'team', <Actor key="m" id={actor.team} />]);
  if (actor.lead) of.push(['lead', <Actor key="l" id={actor.lead} />]);
  if (actor.skills.length > 0) of.push(['skills', actor.skills.join(', ')]);
  of.push(['since', <When key="w" at={actor.created_at} />]);
  return <Facts of={of} />;
}

function Together({ title, ids }: { title: string; ids: string[] }) {
  if (ids.length === 0) return null;
  return (
    <Card title={title}>
      <div className={css.list}>
        {ids.map((id) => (
          <Actor key={id} id={id} />
        ))}
      </div>
    </Card>
  );
}

function Acting({ id }: { id: string }) {
  const delegations = useDelegations();
  const own = (delegations.data ?? []).filter(({ from, to }) => from === id || to === id);
  if (own.length === 0) return null;
  return (
    <Card flush title="Delegations">
      <DelegationTable list={own} />
    </Card>
  );
}

const ROLES: Role[] = ['member', 'lead', 'steward', 'auditor', 'admin'];

function Edit({ actor }: { actor: ShownActor }) {
  const [isOpen, setOpen] = useState(false);
  const { all } = useActors();
  const [fields, setFields] = useState({ name: actor.name, role: actor.role, team: actor.team ?? '', lead: actor.lead ?? '', owner: actor.owner ?? '' });
  const { act, busy } = useAct();
  const isTeam = actor.kind === 'team';
  const isAgent = actor.kind === 'agent' || actor.kind === 'outside_agent';
  const teams = offered(all, ({ kind, id }) => kind === 'team' && id !== actor.id);
  const people = offered(all, ({ kind, status }) => kind === 'person' && status === 'active');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = {
      ...(fields.name !== actor.name ? { name: fields.name } : {}),
      ...(fields.role !== actor.role ? { role: fields.role } : {}),
      ...(fields.team !== (actor.team ?? '') ? (fields.team ? { team: fields.team } : { no_team: true }) : {}),
      ...(isTeam && fields.lead !== (actor.lead ?? '') ? (fields.lead ? { lead: fields.lead } : { no_lead: true }) : {}),
      ...(fields.owner && fields.owner !== actor.owner ? { owner: fields.owner } : {}),
    };
    if (Object.keys(body).length === 0) return setOpen(false);
    await act((headers) => actorUpdate({ path: { id: actor.id }, body, headers, throwOnError: true }), ({ issued_revoked, still_leads }) => `Changed${revoked(issued_revoked)}${still_leads?.length ? `; still leads ${still_leads.join(', ')}, and decides for it` : ''}`);
    setOpen(false);
  };
  return (
    <>
      <Do op="actor.update" target={actor.id} variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        Change
      </Do>
      <FormDialog title={`Change ${actor.id}`} isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Change" busy={busy}>
        <TextInput label="Name" value={fields.name} onChange={(event) => setFields({ ...fields, name: event.currentTarget.value })} />
        {actor.kind === 'person' && <Select label="Role" data={ROLES} allowDeselect={false} value={fields.role} description={actor.role === 'admin' && fields.role !== 'admin' ? 'tokens that they issued for others are revoked' : undefined} onChange={(role) => setFields({ ...fields, role: (role as Role) ?? actor.role })} />}
        <Select label="Team" data={teams} searchable clearable value={fields.team || null} onChange={(team) => setFields({ ...fields, team: team ?? '' })} />
        {isTeam && <Select label="Lead" data={people} searchable clearable value={fields.lead || null} onChange={(lead) => setFields({ ...fields, lead: lead ?? '' })} />}
        {isAgent && <Select label="Owner" data={people} searchable allowDeselect={false} value={fields.owner || null} onChange={(owner) => setFields({ ...fields, owner: owner ?? '' })} />}
      </FormDialog>
    </>
  );
}

function Raise({ actor }: { actor: ShownActor }) {
  const [tier, setTier] = useState<Tier>(actor.trust);
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await act((headers) => actorTrust({ path: { id: actor.id }, body: { tier, reason: reason.trim() }, headers, throwOnError: true }), `${actor.id} is trusted as ${tier}`)) setReason('');
  };
  return (
    <Card title="Trust">
      <form onSubmit={(event) => void submit(event)} className={parts.form}>
        <Select label="Tier" data={TIERS} allowDeselect={false} value={tier} onChange={(value) => setTier((value as Tier) ?? actor.trust)} />
        <TextInput label="Why" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required />
        <Do op="actor.trust" target={actor.id} input={{ tier, reason: 'x' }} type="submit" variant="default" loading={busy} disabled={tier === actor.trust || !reason.trim()}>
          {TIERS.indexOf(tier) < TIERS.indexOf(actor.trust) ? 'Lower' : 'Raise'}
        </Do>
      </form>
    </Card>
  );
}
