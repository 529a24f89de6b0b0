import { Button, Checkbox, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { webhookCreate, webhookListOptions, type ShownWebhook, type Topic } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { Copy } from '../../parts/Copy';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Modal } from '../../parts/later';
import { Card } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import css from './settings.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';

const TOPICS: Topic[] = ['agent.run.completed', 'agent.run.failed', 'agent.gate.pending', 'knowledge.indexed'];

export function Webhooks() {
  const webhooks = useGuarded('webhook.list', { ...webhookListOptions({ query: { limit: 100 } }), refetchInterval: 15_000 });
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      flush
      title="Webhooks"
      aside={
        <Do op="webhook.create" input={{ url: 'https://hooks.example.com/ok', events: ['agent.gate.pending'] }} size="compact-sm" variant="default" onClick={() => setOpen(true)} leftSection={<Icon name="plus" size={13} />}>
          Create
        </Do>
      }
    >
      <Shown read={webhooks} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="hook" title="No webhooks">
              A place outside that is told when a call waits for approval.
            </Empty>
          ) : (
            <List list={data} />
          )
        }
      </Shown>
      <Create isOpen={isOpen} close={() => setOpen(false)} />
    </Card>
  );
}

function List({ list }: { list: ShownWebhook[] }) {
  return (
    <Table columns={['Where', 'State', 'Told of', 'Owner', 'Last delivery']}>
      {list.map((one) => (
        <tr key={one.id}>
          <td>
            <Link to="/settings/webhooks/$id" params={{ id: one.id }}>
              {one.url}
            </Link>
            <div className={parts.dim}>
              <Said>{one.description}</Said>
            </div>
          </td>
          <td>
            <State state={one.status} />
          </td>
          <td>
            <code>{one.events.join(', ')}</code>
          </td>
          <td>
            <Actor id={one.owner} />
          </td>
          <td className={parts.dim}>{one.last_delivery?.at ? <When at={one.last_delivery.at} /> : 'none yet'}</td>
        </tr>
      ))}
    </Table>
  );
}

export function Secret({ secret, close }: { secret: string; close: () => void }) {
  return (
    <div className={css.form}>
      <p>
        <strong>Copy the secret now: it is shown this once.</strong> Messages are signed with it.
      </p>
      <div className={parts.secret}>
        <span>{secret}</span>
        <Copy text={secret} what="the secret" />
      </div>
      <Button variant="default" onClick={close}>
        I have it
      </Button>
    </div>
  );
}

function Create({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const [fields, setFields] = useState({ url: '', description: '', events: ['agent.gate.pending'] });
  const [secret, setSecret] = useState<string>();
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = { url: fields.url.trim(), events: fields.events as Topic[], ...(fields.description.trim() ? { description: fields.description.trim() } : {}) };
    const done = await act((headers) => webhookCreate({ body, headers, throwOnError: true }), 'Created');
    if (done) setSecret(done.secret);
  };
  const end = () => {
    setSecret(undefined);
    close();
  };
  return (
    <Modal opened={isOpen} onClose={end} title="Create a webhook">
      {secret ? (
        <Secret secret={secret} close={end} />
      ) : (
        <form onSubmit={(event) => void submit(event)} className={css.form}>
          <TextInput label="Address" type="url" placeholder="https://example.com/hooks/ok" value={fields.url} onChange={(event) => setFields({ ...fields, url: event.currentTarget.value })} required data-autofocus />
          <TextInput label="What it is for" value={fields.description} onChange={(event) => setFields({ ...fields, description: event.currentTarget.value })} />
          <Checkbox.Group label="Told of" value={fields.events} onChange={(events) => setFields({ ...fields, events })}>
            <div className={parts.stack} style={{ gap: 8, marginTop: 8 }}>
              {TOPICS.map((topic) => (
                <Checkbox key={topic} value={topic} label={topic} />
              ))}
            </div>
          </Checkbox.Group>
          <Button type="submit" loading={busy} disabled={fields.events.length === 0}>
            Create
          </Button>
        </form>
      )}
    </Modal>
  );
}
