import { Button, NumberInput, Select, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { companyUpdate, type CompanyAnswer, type Recording } from '../../api';
import { useAct, useMay } from '../../parts/act';
import { Card, Page } from '../../parts/Page';
import { sentence, Shown } from '../../parts/states';
import { useCompany } from '../../shell/useMe';
import css from './settings.module.css';
import { Webhooks } from './Webhooks';
import parts from '../../parts/parts.module.css';

export function Settings() {
  const company = useCompany();
  return (
    <Page title="Settings">
      <div className={parts.stack}>
        <Card title="Company">
          <Shown read={company} rows={5}>
            {(data) => <Company key={data.version} company={data} />}
          </Shown>
        </Card>
        <Webhooks />
      </div>
    </Page>
  );
}

const RECORDINGS = [
  { value: 'refusals', label: 'those that are not yes' },
  { value: 'all', label: 'every one' },
  { value: 'none', label: 'none' },
];

/** Only settings that something reads are shown here. Who changed them meanwhile is not overwritten. */
function Company({ company }: { company: CompanyAnswer }) {
  const [fields, setFields] = useState({ name: company.name ?? '', hours: company.approvals?.default_ttl_h ?? 72, record: company.decisions?.record ?? 'refusals' });
  const { act, busy } = useAct();
  const may = useMay('company.update');
  const isDenied = may?.decision === 'deny';
  const isSame = fields.name === company.name && fields.hours === company.approvals?.default_ttl_h && fields.record === company.decisions?.record;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name: fields.name.trim(), approvals: { default_ttl_h: fields.hours }, decisions: { record: fields.record }, version: company.version };
    void act((headers) => companyUpdate({ body, headers, throwOnError: true }), 'Changed');
  };
  return (
    <form onSubmit={submit} className={css.form}>
      <TextInput label="Name" value={fields.name} maxLength={100} onChange={(event) => setFields({ ...fields, name: event.currentTarget.value })} required readOnly={isDenied} />
      <NumberInput label="Approvals wait for" description="hours, before a request that nobody decided ends" min={1} max={8760} suffix=" hours" value={fields.hours} onChange={(hours) => setFields({ ...fields, hours: Number(hours) || 1 })} readOnly={isDenied} />
      <Select label="Decisions for other programs that are recorded" data={RECORDINGS} allowDeselect={false} value={fields.record} onChange={(record) => setFields({ ...fields, record: (record as Recording) ?? 'refusals' })} readOnly={isDenied} />
      {isDenied ? (
        <p className={css.note}>You may not change these: {sentence(new Error(may.reason))}</p>
      ) : (
        <div>
          <Button type="submit" loading={busy} disabled={isSame || !fields.name.trim()}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
