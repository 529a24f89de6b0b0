import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { policyDiff, policyPropose, Refused, type Exported } from '../../api';
import { Do, useAct } from '../../parts/act';
import { useUnsent } from '../../parts/unsent';
import { Modal } from '../../parts/later';
import { Failed, Loading } from '../../parts/states';
import { Waits } from '../../parts/Waits';
import { Comparison } from './Comparison';
import { applied, discard, type Draft } from './draft';
import parts from '../../parts/parts.module.css';

/** What the draft would change, and the proposal of it. */
export function Propose({ exported, draft }: { exported: Exported; draft: Draft }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Compare and propose</Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="What this would change" size={960}>
        {isOpen && <Proposal exported={exported} draft={draft} />}
      </Modal>
    </>
  );
}

/** Of larger bundles only the texts are compared: their answers would take longer than a request may. */
const LARGE = 400_000;

function Proposal({ exported, draft }: { exported: Exported; draft: Draft }) {
  const [reason, setReason] = useUnsent('reason of a proposal');
  const navigate = useNavigate();
  const { act, busy, asked } = useAct();
  const files = applied(exported.files, draft);
  const isLarge = Object.values(files).reduce((sum, text) => sum + text.length, 0) > LARGE;
  const client = useQueryClient();
  const compared = useQuery({
    queryKey: ['diff', draft],
    queryFn: async ({ signal }) => (await policyDiff({ body: { files, ...(isLarge ? { semantic: false } : {}) }, signal, throwOnError: true })).data,
    retry: false,
    staleTime: 60_000,
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // What is still compared would keep the proposal waiting.
    void client.cancelQueries({ queryKey: ['diff'] });
    const done = await act((headers) => policyPropose({ body: { files, reason: reason.trim(), base_version: draft.base || exported.version }, headers, throwOnError: true }), 'Proposed');
    if (!done) return;
    discard();
    setReason('');
    void navigate({ to: '/policy/changes/$id', params: { id: done.id } });
  };
  // What cannot be loaded cannot be proposed either.
  const isAmiss = compared.error instanceof Refused && compared.error.status === 422;
  return (
    <div className={parts.stack}>
      {draft.base !== exported.version && <Failed error={new Error(`version ${exported.version} came into force since you began with version ${draft.base}: look at what it changed first`)} />}
      {compared.error ? <Failed error={compared.error} retry={() => void compared.refetch()} /> : compared.data ? <Comparison of={compared.data} impact={compared.data.impact} needs={compared.data.impact_needs} /> : <Loading rows={6} what="comparing" />}
      {isLarge && <p className={parts.dim}>Answers to made-up questions are not compared here: the bundle is too large. <code>ok policy diff</code> compares them.</p>}
      {compared.error && !isAmiss && <p className={parts.dim}>It can be proposed without the comparison.</p>}
      <form onSubmit={(event) => void submit(event)} className={parts.form}>
        <TextInput label="Why" description="reviewers read it" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required />
        {asked && <Waits approval={asked} />}
        <Do op="policy.propose" type="submit" loading={busy} disabled={!reason.trim() || isAmiss}>
          Propose
        </Do>
      </form>
    </div>
  );
}
