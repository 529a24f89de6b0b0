import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { tokenIssue, type IssuedToken } from '../../api';
import { Actor } from '../../parts/Actor';
import { useAct, useMay } from '../../parts/act';
import { Copy } from '../../parts/Copy';
import { Icon } from '../../parts/icons';
import { Card, Facts, Page } from '../../parts/Page';
import { Loading, sentence } from '../../parts/states';
import { useMe } from '../../shell/useMe';
import parts from '../../parts/parts.module.css';
import { TokenTable } from './Tokens';
import { exact } from '../../parts/time';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';

export function Profile() {
  const me = useMe();
  if (!me) return <Loading />;
  return (
    <Page title="Profile" lead="You, and the tokens that act in your name.">
      <div className={parts.grid}>
        <div className={parts.stack}>
          <TokenTable holder={me.id} />
        </div>
        <div className={parts.stack}>
          <Card title="New token">
            <Issue />
          </Card>
          <Card title="You">
            <Facts of={[['name', <Said key="n">{me.name || me.id}</Said>], ['id', <code key="i">{me.id}</code>], ['role', me.role], ...(me.team ? [['team', <Actor key="t" id={me.team} />] as [string, React.ReactNode]] : [])]} />
          </Card>
        </div>
      </div>
    </Page>
  );
}

const DAYS = ['1', '7', '30', '90'];

/** A token of one's own. Its value is shown here once; scopes are set elsewhere, as is said. */
function Issue() {
  const [label, setLabel] = useState('');
  const [days, setDays] = useState('30');
  const [issued, setIssued] = useState<IssuedToken>();
  const { act, busy } = useAct();
  const may = useMay('token.issue', undefined, { label: 'x' });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => tokenIssue({ body: { label: label.trim(), days: Number(days) }, headers, throwOnError: true }));
    if (done) {
      setIssued(done);
      setLabel('');
    }
  };
  if (issued) {
    return (
      <div className={parts.form}>
        <p>
          <strong>Copy it now: it is shown this once.</strong> It is valid until {exact(new Date(issued.expires_at))}.
        </p>
        <div className={parts.secret}>
          <span data-testid="token">{issued.token ?? ''}</span>
          <Copy text={issued.token ?? ''} what="the token" />
        </div>
        <Button variant="default" onClick={() => setIssued(undefined)}>
          I have it
        </Button>
      </div>
    );
  }
  return (
    <form onSubmit={(event) => void submit(event)} className={parts.form}>
      <TextInput label="What is it for?" placeholder="laptop" value={label} onChange={(event) => setLabel(event.currentTarget.value)} required />
      <div>
        <div style={{ fontSize: 'var(--t-sm)', fontWeight: 500, marginBottom: 4 }} id="days">
          Valid for days
        </div>
        <Choices fullWidth value={days} onChange={setDays} data={DAYS} aria-labelledby="days" />
      </div>
      {may?.decision === 'deny' && <p style={{ color: 'var(--deny)' }}>You may not: {sentence(new Error(may.reason))}</p>}
      <Button type="submit" loading={busy} disabled={may?.decision === 'deny'} leftSection={<Icon name="key" size={14} />}>
        Issue
      </Button>
      <p className={parts.dim} style={{ fontSize: 'var(--t-sm)' }}>
        It can do all that you can. A token limited to scopes comes from <code>ok token issue --scope</code> or <code>POST /api/tokens</code>.
      </p>
    </form>
  );
}
