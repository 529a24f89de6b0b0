import { Button, Textarea, TextInput } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type FormEvent } from 'react';
import { kill, runListOptions, type Engaged } from '../../api';
import { Actor, offered, useActors } from '../../parts/Actor';
import { Do, useAct, useMay } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Page } from '../../parts/Page';
import { Empty, sentence, Shown } from '../../parts/states';
import { When } from '../../parts/When';
import { useGuarded } from '../../parts/guard';
import { many } from '../../parts/plain';
import { teamsOf } from '../../parts/teams';
import { useKills, useMe } from '../../shell/useMe';
import css from './kill.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';

const KINDS = ['actor', 'team', 'tool', 'global'] as const;
type Kind = (typeof KINDS)[number];

export function Kill() {
  const { scope } = useSearch({ from: '/kill' });
  const kills = useKills();
  return (
    <Page
      title="Kill switches"
      lead="Stops somebody, a team, a tool or everything at once: every operation of theirs is refused until it is released."
      actions={
        <Button component={Link} to="/break-glass" variant="default" leftSection={<Icon name="glass" size={14} />}>
          Break-glass
        </Button>
      }
    >
      <div className={parts.grid}>
        <Card flush title="Engaged now">
          <Shown read={kills}>
            {(engaged) =>
              engaged.length === 0 ? (
                <Empty icon="check" title="Nothing is stopped">
                  Switches that you may not see are not listed.
                </Empty>
              ) : (
                engaged.map((one) => <Switch key={one.scope} engaged={one} />)
              )
            }
          </Shown>
        </Card>
        <Card title="Stop something">
          <Engage key={scope} />
        </Card>
      </div>
    </Page>
  );
}

function Scope({ scope }: { scope: string }) {
  const [kind, ...rest] = scope.split(':');
  const id = rest.join(':');
  if (kind === 'actor') return <Actor id={id} />;
  if (kind === 'team') return <Actor id={id.startsWith('team:') ? id : `team:${id}`} />;
  return <strong>{scope === 'global' ? 'Everything' : scope}</strong>;
}

/** How many runs a kill switch holds, of those that the reader may see. */
function useHeld(scope: string): number {
  const { byId } = useActors();
  const runs = useGuarded('run.list', runListOptions({ query: { status: 'held', limit: 1000 } })).data ?? [];
  const [kind, id = ''] = scope.split(/:(.*)/s);
  const isIn = (one: string) => kind === 'global' || (kind === 'actor' && one === id) || (kind === 'team' && teamsOf(one, byId).includes(`team:${id.replace(/^team:/, '')}`));
  return runs.filter(({ agent, asker }) => isIn(agent) || isIn(asker)).length;
}

function Switch({ engaged }: { engaged: Engaged }) {
  const [isOpen, setOpen] = useState(false);
  const held = useHeld(engaged.scope);
  return (
    <div className={css.switch}>
      <span className={css.off}>
        <Icon name="power" size={20} />
      </span>
      <div>
        <div>
          <Scope scope={engaged.scope} /> <span className={parts.dim}>({engaged.scope})</span>
        </div>
        <div>{engaged.reason ? <Said>«{engaged.reason}»</Said> : 'without a reason'}</div>
        <p>
          by <Actor id={engaged.by} avatar={false} />, <When at={engaged.at} />; stops {engaged.holds} {engaged.holds === 1 ? 'person or agent' : 'people and agents'}
          {held > 0 && `, holds ${many(held, 'run')}`}
        </p>
      </div>
      <div>
        <Do op="kill" target={engaged.scope} input={{ off: true }} variant="default" onClick={() => setOpen(true)}>
          Release
        </Do>
        <Release scope={engaged.scope} isOpen={isOpen} close={() => setOpen(false)} />
      </div>
    </div>
  );
}

function Release({ scope, isOpen, close }: { scope: string; isOpen: boolean; close: () => void }) {
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await act((headers) => kill({ body: { scope, off: true, reason: reason.trim() }, headers, throwOnError: true }), `${scope} is released`);
    close();
  };
  return (
    <FormDialog title={`Release ${scope}`} isOpen={isOpen} close={close} submit={submit} action="Release" busy={busy} disabled={!reason.trim()}>
      <Textarea label="Why is it safe again?" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required data-autofocus />
    </FormDialog>
  );
}

function Engage() {
  const { all, byId } = useActors();
  const me = useMe();
  // An address may name whom to stop.
  const [asked, of = ''] = useSearch({ from: '/kill' }).scope?.split(/:(.*)/s) ?? [];
  const [kind, setKind] = useState<Kind>(KINDS.find((one) => one === asked) ?? 'actor');
  const [id, setId] = useState(of && kind === 'team' ? `team:${of}` : of);
  const [reason, setReason] = useState('');
  const { act, busy } = useAct();
  const scope = kind === 'global' ? 'global' : id ? `${kind}:${kind === 'team' ? id.replace(/^team:/, '') : id}` : '';
  const may = useMay('kill', scope, { off: false, reason: 'x' }, scope !== '');
  const choices = useMemo(() => offered(all, (actor) => (actor.kind === 'team') === (kind === 'team')), [all, kind]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => kill({ body: { scope, reason: reason.trim() }, headers, throwOnError: true }), `${scope === 'global' ? 'Everything' : scope} is stopped`);
    if (done) {
      setId('');
      setReason('');
    }
  };
  const isDenied = may?.decision === 'deny';
  const stopsMe = me !== undefined && scope !== 'global' && [me.id, ...teamsOf(me.id, byId)].includes(id);
  return (
    <form onSubmit={(event) => void submit(event)} className={parts.form}>
      <Choices
        fullWidth
        value={kind}
        aria-label="what to stop"
        onChange={(value) => {
          setKind(value);
          setId('');
        }}
        data={[
          { value: 'actor', label: 'Somebody' },
          { value: 'team', label: 'A team' },
          { value: 'tool', label: 'A tool' },
          { value: 'global', label: 'All' },
        ]}
      />
      {(kind === 'actor' || kind === 'team') && <Select label={kind === 'actor' ? 'Who' : 'Which team'} placeholder="Choose" searchable limit={100} data={choices} value={id || null} onChange={(value) => setId(value ?? '')} required />}
      {kind === 'tool' && <TextInput label="Which tool" placeholder="its name" value={id} onChange={(event) => setId(event.currentTarget.value)} required />}
      {kind === 'global' && <p className={parts.dim}>Everybody’s operations are refused until it is released. Those who may release it still can.</p>}
      {stopsMe && !isDenied && <p role="alert">This stops you, too: an admin whom it does not stop has to release it.</p>}
      <Textarea label="Why" description="everybody who is stopped reads it" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required />
      {isDenied && <p role="alert" style={{ color: 'var(--deny)' }}>You may not: {sentence(new Error(may.reason))}</p>}
      <Button type="submit" color="red" loading={busy} disabled={!scope || !reason.trim() || isDenied} leftSection={<Icon name="power" />}>
        Stop {kind === 'global' ? 'everything' : ''}
      </Button>
    </form>
  );
}
