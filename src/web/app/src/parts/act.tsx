// Doing something: ahead of it what the gate would say, afterwards what it said.

import { Anchor, Button, type ButtonProps } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useRef, useState, type MouseEvent, type ReactNode } from 'react';
import { policyExplain, queries, Refused, type Explained } from '../api';
import { useMe } from '../shell/useMe';
import { useStopped } from '../stopped';
import { DECIDES } from './meant';
import css from './parts.module.css';
import { refusedOperation, sentence } from './states';
import { Aside, ESCAPES_ALONE, Tip } from './Tip';

type May = Pick<Explained, 'decision' | 'reason' | 'approvals'>;

/** What the gate would answer the signed-in person. Unknown until it has said so, and where it does not tell. */
export function useMay(op: string, target?: string, input?: unknown, enabled = true): May | undefined {
  const reason = useStopped();
  const { data } = useQuery({ ...mayOptions(op, target, input), enabled: enabled && reason === undefined });
  return reason === undefined ? data : { decision: 'deny', reason, approvals: [] };
}

export const mayOptions = (op: string, target?: string, input?: unknown) =>
  queryOptions({
    queryKey: [{ _id: 'policyExplain', op, target, input }],
    queryFn: async () => (await policyExplain({ body: { op, ...(target ? { target } : {}), ...(input === undefined ? {} : { input }) }, throwOnError: true })).data as Explained,
    staleTime: 60_000,
    retry: false,
  });

const NONE: readonly string[] = [];

/** What a change has made old is read anew within this many milliseconds, or is not waited for. */
const SHOWN_WITHIN_MS = 2_000;

const rest = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

type Answer<T> = { data?: T; response?: Response };

const isWaiting = (data: unknown): data is { approval: string; message: string } =>
  typeof data === 'object' && data !== null && (data as { error?: string }).error === 'needs_approval';

/** What is wrong with a form: by the name of its field. */
export type Wrong = Record<string, string>;

/** Each problem begins with the field that it is about: those of these fields, and whether that is all of them. */
export function wrongFields(error: unknown, fields: readonly string[]): { wrong: Wrong; isAll: boolean } {
  const problems = error instanceof Refused && error.status === 422 ? (error.problems.length > 0 ? error.problems : [error.message]) : [];
  const found = problems.map((problem) => /^(\w+)[\w.[\]]*: (.*)$/s.exec(problem)).filter((one) => one !== null && fields.includes(one[1] ?? ''));
  return { wrong: Object.fromEntries(found.map((one) => [one?.[1], one?.[2]])) as Wrong, isAll: problems.length > 0 && found.length === problems.length };
}

/**
 * Runs a change and tells how it ended. A call that waits for people is told with the way to it; a refusal with its
 * reason. Answers the result only when it was carried out; `asked` is the approval that the last one waits for. What is wrong with one of `fields` is for the form to show.
 */
export function useAct(fields: readonly string[] = NONE) {
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<Wrong>({});
  const [asked, setAsked] = useState<string>();
  // One key for one intent: a second click while the first is on its way, or not yet to be seen, does nothing.
  const running = useRef(false);
  const act = useCallback(async function act<T>(call: (headers: { 'Idempotency-Key': string }) => Promise<Answer<T>>, done?: ReactNode | ((data: Exclude<T, { error: string }>) => ReactNode)): Promise<Exclude<T, { error: string }> | undefined> {
    if (running.current) return undefined;
    running.current = true;
    setBusy(true);
    setWrong({});
    setAsked(undefined);
    try {
      const { data, response } = await call({ 'Idempotency-Key': crypto.randomUUID() });
      if (response?.status === 202 && isWaiting(data)) {
        const { approval } = data;
        setAsked(approval);
        notifications.show({
          color: 'yellow',
          title: 'Waits for approval',
          message: (
            <Anchor component={Link} to={`/approvals/${approval}`} size="sm">
              See who decides
            </Anchor>
          ),
          autoClose: 12_000,
        });
        return undefined;
      }
      const answer = data as Exclude<T, { error: string }>;
      const message = typeof done === 'function' ? done(answer) : done;
      if (message) notifications.show({ color: 'teal', message });
      return answer;
    } catch (error) {
      const found = wrongFields(error, fields);
      setWrong(found.wrong);
      if (!found.isAll) tell(error);
      return undefined;
    } finally {
      // As long as what is shown is that of before, it is not to be done once more.
      void Promise.race([queries.invalidateQueries(), rest(SHOWN_WITHIN_MS)]).then(() => {
        running.current = false;
        setBusy(false);
      });
    }
  }, [fields]);
  return { act, busy, wrong, asked };
}

export function tell(error: unknown) {
  if (error instanceof Refused && error.status === 401) return;
  // The first problem may stand in the message already.
  const problems = error instanceof Refused ? error.problems.filter((problem) => !error.message.includes(problem)).join('; ') : '';
  const operation = error instanceof Refused && error.status === 403 ? refusedOperation(error.message) : undefined;
  notifications.show({
    color: 'red',
    title: error instanceof Refused && error.status === 403 ? 'Refused' : 'That did not work',
    message: (
      <>
        {sentence(error)} {problems}{' '}
        {operation && (
          <Anchor component={Link} to="/explain" search={{ op: operation } as never} size="sm">
            What would change this?
          </Anchor>
        )}
      </>
    ),
    autoClose: 10_000,
  });
}

type Doing = {
  op: string;
  target?: string;
  input?: unknown;
  children: ReactNode;
  /** Asks the gate only once somebody reaches for it: for buttons of which a list has one in each row. */
  late?: boolean;
  onClick?: () => void;
  type?: 'submit';
  disabled?: boolean;
  loading?: boolean;
} & ButtonProps;

/** A button for an operation: where the gate would refuse, pressing it says why; where people come first, it says so. */
export function Do({ op, target, input, children, late = false, ...button }: Doing) {
  const [isAsked, setAsked] = useState(!late);
  const [isShown, setShown] = useState(false);
  const me = useMe()?.id;
  const may = useMay(op, target, input, isAsked);
  const isDenied = may?.decision === 'deny';
  const kinds = may?.decision === 'needs_approval' ? may.approvals.map((need) => need.kind).join(' and ') : undefined;
  // What only opens a dialog is never under way.
  const decides = button.loading === undefined ? {} : DECIDES;
  const ask = () => setAsked(true);
  const press = async (event: MouseEvent) => {
    if (isDenied) event.preventDefault();
    // A finger has not been over the button before it presses it.
    const answer = may ?? (late ? await queries.fetchQuery(mayOptions(op, target, input)).catch(() => undefined) : undefined);
    if (answer?.decision === 'deny') setShown(true);
    else button.onClick?.();
  };
  const inside = (
    <Button {...button} {...decides} onMouseEnter={ask} onFocus={ask} aria-disabled={isDenied || undefined} data-disabled={isDenied || button.disabled || undefined} onClick={(event: MouseEvent) => void press(event)}>
      {children}
      {kinds && !late && <small className={css.asks}>asks {kinds}</small>}
    </Button>
  );
  const why = isDenied ? sentence(new Error(may.reason)) : '';
  return (
    <Aside
      label="Why not"
      isOpen={isDenied && isShown}
      setOpen={setShown}
      about={
        <Tip label={why || `takes the approval of ${kinds}`} isOff={isShown || !(why || kinds)}>
          {inside}
        </Tip>
      }
    >
      <p>{why}</p>
      <Anchor component={Link} to="/explain" search={{ actor: me, op, target } as never} size="sm" {...ESCAPES_ALONE}>
        What would change this?
      </Anchor>
    </Aside>
  );
}
