import { Button, NumberInput, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { companyUpdate, type CompanyAnswer, type OtherSettings, type Recording } from '../../api';
import { useAct, useMay } from '../../parts/act';
import { Select } from '../../parts/later';
import { sentence } from '../../parts/states';
import css from './settings.module.css';

const RECORDINGS = [
  { value: 'refusals', label: 'those that are not yes' },
  { value: 'all', label: 'every one' },
  { value: 'none', label: 'none' },
];

const RECALLS = [
  { value: 'words', label: 'by its words' },
  { value: 'meaning', label: 'by its words and its meaning' },
];

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

type Fields = Omit<CompanyAnswer, 'version' | 'locale' | 'vector_model'>;

const FIELDS: (keyof Fields)[] = ['name', 'timezone', 'hours', 'retention_days', 'approvals', 'decisions', 'budget_cents_month', 'vector_search'];

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What of the settings is to be otherwise. A setting that is as it was is not sent. */
export function changes(before: Fields, after: Fields): Partial<OtherSettings> {
  const differ = (Object.keys(after) as (keyof Fields)[]).filter((name) => !same(before[name], after[name]));
  const changed = Object.fromEntries(differ.map((name) => [name, after[name]]));
  return changed.budget_cents_month === null ? { ...changed, budget_cents_month: undefined, no_budget: true } : changed;
}

const LABELS: Record<keyof Fields, string> = {
  name: 'Name',
  timezone: 'Time zone',
  hours: 'Work begins and ends',
  budget_cents_month: 'Agents may spend',
  retention_days: 'Finished tasks and runs stay in lists for',
  approvals: 'Approvals wait for',
  decisions: 'Decisions for other programs that are recorded',
  vector_search: 'Knowledge is recalled',
};

/** What somebody has written, and what stood there when they began. */
type Edits = { version: number; now: Partial<Fields>; from: Partial<Fields> };

/** The edits once the company was read anew: what was saved, by whomever, is none any more. */
function kept({ now, from }: Edits, before: Fields, version: number): Edits {
  const open = (Object.keys(now) as (keyof Fields)[]).filter((name) => !same(now[name], before[name]));
  const of = (values: Partial<Fields>) => Object.fromEntries(open.map((name) => [name, values[name]])) as Partial<Fields>;
  return { version, now: of(now), from: of(from) };
}

/** The settings that somebody else has changed since one began to write. */
const changedMeanwhile = ({ from }: Edits, before: Fields) => (Object.keys(from) as (keyof Fields)[]).filter((name) => !same(from[name], before[name]));

/** The company's settings, but for its language, which nothing reads. What somebody is writing stays when others change settings; where both change one, it is said. */
export function Company({ company }: { company: CompanyAnswer }) {
  const { name, timezone, hours, retention_days, approvals, decisions, budget_cents_month, vector_search } = company;
  const before: Fields = { name, timezone, hours, retention_days, approvals, decisions, budget_cents_month, vector_search };
  const [edits, setEdits] = useState<Edits>({ version: company.version, now: {}, from: {} });
  if (edits.version !== company.version) setEdits(kept(edits, before, company.version));
  const fields: Fields = { ...before, ...edits.now };
  const { act, busy, wrong } = useAct(FIELDS);
  const at = (field: keyof Fields) => ({ error: wrong[field], errorProps: { role: 'alert' } });
  const may = useMay('company.update');
  const readOnly = may?.decision === 'deny';
  const changed = changes(before, { ...fields, name: fields.name.trim() });
  const overtaken = changedMeanwhile(edits, before).filter((name) => name in changed);
  const set = (some: Partial<Fields>) => {
    const stood = Object.fromEntries((Object.keys(some) as (keyof Fields)[]).map((name) => [name, before[name]])) as Partial<Fields>;
    setEdits({ ...edits, now: { ...edits.now, ...some }, from: { ...stood, ...edits.from } });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act((headers) => companyUpdate({ body: { ...changed, version: company.version } as OtherSettings, headers, throwOnError: true }), 'Changed');
  };
  return (
    <form onSubmit={submit} className={css.form}>
      <TextInput label="Name" {...at('name')} value={fields.name} onChange={(event) => set({ name: event.currentTarget.value })} required readOnly={readOnly} />
      <Select label="Time zone" {...at('timezone')} data={ZONES.includes(fields.timezone) ? ZONES : [fields.timezone, ...ZONES]} searchable allowDeselect={false} value={fields.timezone} onChange={(zone) => set({ timezone: zone ?? fields.timezone })} readOnly={readOnly} />
      <div className={css.pair}>
        <TextInput type="time" label="Work begins" {...at('hours')} description="Monday to Friday" value={fields.hours.from} onChange={(event) => set({ hours: { ...fields.hours, from: event.currentTarget.value } })} required readOnly={readOnly} />
        <TextInput type="time" label="Work ends" description="an SLA counts these hours" value={fields.hours.to} onChange={(event) => set({ hours: { ...fields.hours, to: event.currentTarget.value } })} required readOnly={readOnly} />
      </div>
      <NumberInput label="Agents may spend" {...at('budget_cents_month')} description="in a calendar month; empty for no limit" min={0} suffix=" ct" thousandSeparator="," allowDecimal={false} value={fields.budget_cents_month ?? ''} onChange={(cents) => set({ budget_cents_month: cents === '' ? null : Number(cents) })} readOnly={readOnly} />
      <NumberInput label="Finished tasks and runs stay in lists for" {...at('retention_days')} description="0 keeps them there" min={0} max={36_500} suffix=" days" allowDecimal={false} value={fields.retention_days} onChange={(days) => set({ retention_days: Number(days) || 0 })} readOnly={readOnly} />
      <NumberInput label="Approvals wait for" {...at('approvals')} description="before a request that nobody decided expires" min={1} max={720} suffix=" hours" allowDecimal={false} value={fields.approvals.default_ttl_h} onChange={(hours) => set({ approvals: { default_ttl_h: Number(hours) || 1 } })} readOnly={readOnly} />
      <Select label="Decisions for other programs that are recorded" {...at('decisions')} data={RECORDINGS} allowDeselect={false} value={fields.decisions.record} onChange={(record) => set({ decisions: { record: (record as Recording) ?? 'refusals' } })} readOnly={readOnly} />
      <Select label="Knowledge is recalled" {...at('vector_search')} description={company.vector_model ? `by its meaning, accepted texts and questions are sent to ${company.vector_model}` : 'by its words alone as long as the server has no model for it (embeddings in OK_LLM_CONFIG)'} data={RECALLS} allowDeselect={false} value={fields.vector_search ? 'meaning' : 'words'} onChange={(by) => set({ vector_search: by === 'meaning' })} readOnly={readOnly} />
      {readOnly ? (
        <p className={css.note}>You may not change these: {sentence(new Error(may.reason))}</p>
      ) : (
        <>
          {overtaken.length > 0 && (
            <p role="status" className={css.note}>
              Changed by somebody else meanwhile: {overtaken.map((name) => LABELS[name]).join(', ')}. Save to overwrite that, or reload the page to see it.
            </p>
          )}
          <div>
            <Button type="submit" loading={busy} disabled={Object.keys(changed).length === 0 || !fields.name.trim()}>
              Save
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
