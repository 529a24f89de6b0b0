import { NumberInput, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { breakGlassEnd, breakGlassListOptions, breakGlassOpen, breakGlassReview, type ShownGrant } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Tag } from '../../parts/Verdict';
import { When } from '../../parts/When';
import { useMe } from '../../shell/useMe';
import css from './break-glass.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { Choices } from '../../parts/Choices';

export function BreakGlass() {
  const grants = useGuarded('break_glass.list', { ...breakGlassListOptions({ query: { limit: 200 } }), refetchInterval: 15_000 });
  return (
    <Page title="Break-glass" lead="For a short time, go on without the approvals that your calls would need. Everybody who is skipped is told, each use is recorded, and somebody else reviews it.">
      <div className={parts.grid}>
        <Card flush title="Grants">
          <Shown read={grants}>{(list) => (list.length === 0 ? <Empty icon="glass" title="The glass is whole" /> : list.map((grant) => <Grant key={grant.id} grant={grant} />))}</Shown>
        </Card>
        <Card title="Break the glass">
          <Open />
        </Card>
      </div>
    </Page>
  );
}

function standing(grant: ShownGrant): [tone: 'deny' | 'wait' | 'allow', word: string] {
  if (grant.active) return ['deny', 'open now'];
  if (!grant.review) return ['wait', 'to be reviewed'];
  return grant.review.verdict === 'justified' ? ['allow', 'justified'] : ['deny', 'not justified'];
}

function Grant({ grant }: { grant: ShownGrant }) {
  const me = useMe();
  const { act, busy } = useAct();
  const [tone, word] = standing(grant);
  return (
    <div className={css.item}>
      <div className={css.head}>
        <Actor id={grant.holder} />
        <Tag tone={tone} icon={grant.active ? 'glass' : undefined}>
          {word}
        </Tag>
      </div>
      <p>
        «<Said>{grant.reason}</Said>»
      </p>
      <p className={parts.dim}>
        for <code>{grant.scope.join(', ')}</code>, opened <When at={grant.created_at} />, {grant.active ? 'ends' : 'ended'} <When at={grant.expires_at} />; used {grant.uses === 1 ? 'once' : `${grant.uses} times`}
      </p>
      {grant.review && (
        <p className={parts.dim}>
          <Actor id={grant.review.by} avatar={false} /> reviewed it <When at={grant.review.at} />
          {grant.review.note && (
            <>
              : «<Said>{grant.review.note}</Said>»
            </>
          )}
        </p>
      )}
      <div className={parts.actions}>
        {grant.active && (
          <Do late op="break_glass.end" target={grant.id} variant="default" size="compact-sm" loading={busy} onClick={() => void act((headers) => breakGlassEnd({ path: { id: grant.id }, headers, throwOnError: true }), 'It has ended')}>
            End it
          </Do>
        )}
        {!grant.review && grant.holder !== me?.id && <Review grant={grant} />}
      </div>
    </div>
  );
}

function Review({ grant }: { grant: ShownGrant }) {
  const [isOpen, setOpen] = useState(false);
  const [verdict, setVerdict] = useState<'justified' | 'unjustified'>('justified');
  const [note, setNote] = useState('');
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await act((headers) => breakGlassReview({ path: { id: grant.id }, body: { verdict, ...(note.trim() ? { note: note.trim() } : {}) }, headers, throwOnError: true }), 'Reviewed');
    setOpen(false);
  };
  return (
    <>
      <Do late op="break_glass.review" target={grant.id} variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        Review
      </Do>
      <FormDialog title="Review this grant" isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Review" busy={busy}>
        <Choices
          fullWidth
          aria-label="verdict"
          value={verdict}
          onChange={setVerdict}
          data={[
            { value: 'justified', label: 'It was justified' },
            { value: 'unjustified', label: 'It was not' },
          ]}
        />
        <Textarea label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} data-autofocus />
      </FormDialog>
    </>
  );
}

function Open() {
  const [scope, setScope] = useState('');
  const [reason, setReason] = useState('');
  const [minutes, setMinutes] = useState<number | string>(30);
  const { act, busy } = useAct();
  const operations = scope.split(/[\s,]+/).filter(Boolean);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await act((headers) => breakGlassOpen({ body: { scope: operations, reason: reason.trim(), minutes: Number(minutes) }, headers, throwOnError: true }), 'The glass is broken'))) return;
    setScope('');
    setReason('');
  };
  return (
    <form onSubmit={(event) => void submit(event)} className={parts.form}>
      <TextInput label="For which operations" description="such as actor.offboard, or token.*" required value={scope} onChange={(event) => setScope(event.currentTarget.value)} />
      <Textarea label="Why it cannot wait" description="those who are skipped read it" required value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      <NumberInput label="Minutes" min={1} max={240} allowDecimal={false} value={minutes} onChange={setMinutes} />
      <Do op="break_glass.open" type="submit" color="red" loading={busy} disabled={operations.length === 0 || !reason.trim() || minutes === ''} leftSection={<Icon name="glass" />}>
        Break the glass
      </Do>
    </form>
  );
}
