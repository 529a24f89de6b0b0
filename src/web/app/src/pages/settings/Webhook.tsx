import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { webhookDelete, webhookDeliveriesOptions, webhookReadOptions, webhookRedeliver, webhookRotate, webhookTest, webhookUpdate, type ShownDelivery, type ShownWebhook } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { Modal } from '../../parts/later';
import { Card, Facts } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Secret } from './Webhooks';
import { Said } from '../../parts/Said';
import { entitle } from '../../parts/visible';

export function WebhookPage() {
  const { id } = useParams({ from: '/settings/webhooks/$id' });
  const webhook = useQuery({ ...webhookReadOptions({ path: { id } }), retry: false, refetchInterval: 10_000 });
  useEffect(() => {
    entitle('Webhook');
  }, []);
  return (
    <div className={parts.page}>
      {!webhook.data && <h1 className={parts.vh}>Webhook</h1>}
      <Shown read={webhook}>{(data) => <One webhook={data} />}</Shown>
    </div>
  );
}

function One({ webhook }: { webhook: ShownWebhook }) {
  const { id } = webhook;
  const { act, busy } = useAct();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const path = { path: { id }, throwOnError: true } as const;
  const isOff = webhook.status === 'disabled';
  const rotate = async () => {
    const done = await act((headers) => webhookRotate({ ...path, headers }));
    if (done) setSecret(done.secret);
  };
  const remove = async () => {
    if (await act((headers) => webhookDelete({ ...path, headers }), 'Deleted')) void navigate({ to: '/settings' });
  };
  return (
    <>
      <header className={parts.pageHead}>
        <div>
          <Link to="/settings" className={parts.dim}>
            Settings
          </Link>
          <h1>{webhook.url}</h1>
          <p>
            <State state={webhook.status} /> <Said>{webhook.description}</Said>
          </p>
        </div>
        <div className={parts.actions}>
          <Do op="webhook.test" target={id} variant="default" loading={busy} onClick={() => void act((headers) => webhookTest({ ...path, headers }), 'A test is on its way')}>
            Send a test
          </Do>
          <Do op="webhook.update" target={id} variant="default" loading={busy} onClick={() => void act((headers) => webhookUpdate({ ...path, headers, body: { status: isOff ? 'active' : 'disabled' } }), isOff ? 'On' : 'Off')}>
            {isOff ? 'Switch on' : 'Switch off'}
          </Do>
          <Do op="webhook.rotate" target={id} variant="default" loading={busy} onClick={() => void rotate()}>
            New secret
          </Do>
          <Do op="webhook.delete" target={id} variant="default" loading={busy} onClick={() => void remove()}>
            Delete
          </Do>
        </div>
      </header>
      <div className={parts.grid}>
        <Deliveries id={id} />
        <Card title="About">
          <Facts
            of={[
              ['told of', <code key="e">{webhook.events.join(', ')}</code>],
              ['owner', <Actor key="o" id={webhook.owner} />],
              ['signed', webhook.format],
              ['created', <When key="c" at={webhook.created_at} />],
              ...(webhook.both_until ? [['old secret until', <When key="b" at={webhook.both_until} />] as [string, React.ReactNode]] : []),
            ]}
          />
        </Card>
      </div>
      <Modal opened={!!secret} onClose={() => setSecret(undefined)} title="New secret">
        {secret && <Secret secret={secret} close={() => setSecret(undefined)} />}
      </Modal>
    </>
  );
}

function Deliveries({ id }: { id: string }) {
  const deliveries = useQuery({ ...webhookDeliveriesOptions({ path: { id }, query: { limit: 100 } }), refetchInterval: 5_000, retry: false });
  return (
    <Card flush title="Deliveries">
      <Shown read={deliveries}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="hook" title="Nothing was sent yet" />
          ) : (
            <Table columns={['What', 'State', 'Answer', 'Next try', { hidden: 'actions' }]}>
              {data.map((one) => (
                <Row key={one.id} webhook={id} delivery={one} />
              ))}
            </Table>
          )
        }
      </Shown>
    </Card>
  );
}

function Row({ webhook, delivery }: { webhook: string; delivery: ShownDelivery }) {
  const { act, busy } = useAct();
  const again = () => void act((headers) => webhookRedeliver({ path: { id: webhook, message: delivery.id }, headers, throwOnError: true }), 'It is sent once more');
  return (
    <tr>
      <td>
        <code>{delivery.type}</code>
        <div className={parts.dim} style={{ fontSize: 'var(--t-xs)' }}>
          <When at={delivery.created_at} />, {delivery.attempts} {delivery.attempts === 1 ? 'attempt' : 'attempts'}
        </div>
      </td>
      <td>
        <State state={delivery.state} />
      </td>
      <td>{delivery.http_status ?? delivery.error ?? '–'}</td>
      <td className={parts.dim}>{delivery.next_at ? <When at={delivery.next_at} /> : '–'}</td>
      <td style={{ textAlign: 'right' }}>
        <Do late op="webhook.redeliver" target={webhook} variant="default" size="compact-sm" loading={busy} onClick={again}>
          Send again
        </Do>
      </td>
    </tr>
  );
}
