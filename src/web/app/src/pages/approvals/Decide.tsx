import { Button, Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { approvalDecide, approvalWithdraw, queries, type ShownApproval } from '../../api';
import { tell, useAct, useMay } from '../../parts/act';
import { DECIDES } from '../../parts/meant';
import { NotSent } from '../../parts/NotSent';
import { Kbd } from '../../parts/Page';
import { sentence } from '../../parts/states';
import { useUnsent } from '../../parts/unsent';
import { isTyping } from '../../shell/typing';
import { mod } from '../../shell/pages';
import { useMe, waitsFor } from '../../shell/useMe';
import css from './approvals.module.css';
import parts from '../../parts/parts.module.css';

type Verdict = 'approve' | 'reject';

const noteOn = ({ id }: ShownApproval) => `note on ${id}`;

/** Approve or reject with a note, also without a mouse: a or r, the note, Ctrl+Enter. */
export function Decide({ approval, next }: { approval: ShownApproval; next?: () => void }) {
  const me = useMe();
  const isOpen = approval.status === 'pending' || approval.status === 'approved';
  const may = useMay('approval.decide', approval.id, undefined, isOpen);
  if (!isOpen) {
    return <NotSent what={noteOn(approval)} noun="note" why={`This has ended (${approval.status}) before you decided.`} className={css.decide} />;
  }
  const isMine = waitsFor(approval, me?.id);
  if (isMine && may?.decision !== 'deny') return <Answer approval={approval} next={next} />;
  const own = approval.decisions.find(({ by }) => by === me?.id);
  // What a kill switch kept from counting counts again: whoever has agreed completes it by agreeing once more.
  const isComplete = approval.status === 'pending' && approval.approvers.every(({ held, threshold }) => held.length >= threshold);
  if (own && isComplete && may?.decision === 'allow') return <Answer approval={approval} next={next} />;
  const mayReject = (approval.status === 'approved' ? !approval.run : !!own) && may?.decision === 'allow';
  const why = whyNot(approval, me?.id, may?.reason);
  if (mayReject && approval.actor !== me?.id) return <Answer approval={approval} next={next} rejects={why} />;
  return (
    <div className={css.decide}>
      <p className={parts.dim}>{why}</p>
      {approval.actor === me?.id && <Withdraw approval={approval} />}
    </div>
  );
}

function whyNot(approval: ShownApproval, me: string | undefined, reason: string | undefined): string {
  if (approval.status === 'approved') {
    if (approval.run) return 'It is approved, and its run carries it out. Whoever may cancel the run stops it.';
    return approval.actor === me ? 'It is approved: repeat the call to carry it out.' : 'It is approved, and is carried out when its requester repeats the call. Until then it can be rejected.';
  }
  if (approval.decisions.some(({ by }) => by === me)) return 'You have approved this, and can still reject it. It waits for the others below.';
  if (approval.actor === me) return 'You asked for this: others decide it.';
  return reason && reason !== 'a policy permits it' ? sentence(new Error(reason)) : 'It does not wait for you: those below decide it.';
}

function Withdraw({ approval }: { approval: ShownApproval }) {
  const { act, busy } = useAct();
  return (
    <div>
      <Button {...DECIDES} variant="default" loading={busy} onClick={() => void act((headers) => approvalWithdraw({ path: { id: approval.id }, headers, throwOnError: true }), 'Withdrawn')}>
        Withdraw
      </Button>
    </div>
  );
}

/** What a decision has come to; what has become stale is told otherwise. */
function outcome({ status, summary, approvers }: ShownApproval): string | undefined {
  switch (status) {
    case 'stale':
      return undefined;
    case 'pending':
      return `Your approval counts; still needed: ${stillNeeded(approvers)}. ${summary}`;
    case 'used':
      return `Approved and carried out: ${summary}`;
    default:
      return `${status === 'approved' ? 'Approved' : 'Rejected'}: ${summary}`;
  }
}

/** `security: sam or tom`, of each kind that is not given yet. */
function stillNeeded(approvers: ShownApproval['approvers']): string {
  const open = approvers.filter(({ held, threshold }) => held.length < threshold);
  return open.map(({ kind, any_of, held }) => `${kind}: ${any_of.filter((id) => !held.includes(id)).join(' or ') || 'nobody can give it'}`).join('; ');
}

/** `rejects`: why no is all that can still be said. */
function Answer({ approval, next, rejects }: { approval: ShownApproval; next?: () => void; rejects?: string }) {
  const [note, setNote] = useUnsent(noteOn(approval));
  const [verdict, setVerdict] = useState<Verdict>();
  const [isSilent, setSilent] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { act, busy } = useAct();
  const [isLeft, setLeft] = useState(false);
  const isBusy = busy || isLeft;

  const decide = async (decision: Verdict) => {
    if (isLeft) return;
    // Who is rejected wants to know why: without a word it takes a second press.
    if (decision === 'reject' && !note.trim() && !isSilent) {
      setSilent(true);
      setVerdict('reject');
      field.current?.focus();
      return;
    }
    const done = await act(
      (headers) => approvalDecide({ path: { id: approval.id }, body: { decision, ...(note.trim() ? { note: note.trim() } : {}) }, headers, throwOnError: true }),
      outcome,
    );
    if (done?.status === 'stale') tell(new Error(`Nothing was done: ${done.stale}`));
    if (done) setNote('');
    if (!done || !next) return;
    // Until the next one is open, nothing more is decided here.
    setLeft(true);
    await queries.invalidateQueries({}, { cancelRefetch: false });
    next();
  };

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || (event.key !== 'r' && (event.key !== 'a' || rejects))) return;
      event.preventDefault();
      setVerdict(event.key === 'a' ? 'approve' : 'reject');
      field.current?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [rejects]);

  return (
    <div className={css.decide}>
      {rejects && <p className={parts.dim}>{rejects}</p>}
      <Textarea
        ref={field}
        label="Note"
        description="the requester and the log keep it"
        error={isSilent && !note.trim() ? 'Say why, or reject once more to do so without a reason.' : undefined}
       
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void decide(verdict ?? (rejects ? 'reject' : 'approve'));
        }}
      />
      <div className={css.buttons}>
        {!rejects && (
          <Button {...DECIDES} color="teal" variant={verdict === 'reject' ? 'default' : 'filled'} loading={isBusy} onClick={() => void decide('approve')}>
            Approve
          </Button>
        )}
        <Button {...DECIDES} color="red" variant={verdict === 'reject' ? 'filled' : 'default'} loading={isBusy} onClick={() => void decide('reject')}>
          Reject
        </Button>
        <span className={`${parts.dim} ${parts.hideSmall}`}>
          {!rejects && (
            <>
              <Kbd>a</Kbd> or{' '}
            </>
          )}
          <Kbd>r</Kbd>, then <Kbd>{mod}Enter</Kbd>
        </span>
      </div>
    </div>
  );
}
