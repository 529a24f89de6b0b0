import { Button, JsonInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type FormEvent } from 'react';
import { OPERATIONS } from '../../api/operations.gen';
import { policyExplain, type AllExplained, type Explained } from '../../api';
import { mayOptions } from '../../parts/act';
import { offered, useActors } from '../../parts/Actor';
import { Autocomplete, Select } from '../../parts/later';
import { Page } from '../../parts/Page';
import { Empty, Failed, Loading, sentence } from '../../parts/states';
import type { ExplainSearch } from '../../router';
import { useMe } from '../../shell/useMe';
import { All } from './All';
import { Answer } from './Answer';
import css from './explain.module.css';
import { entryOf, missingTarget } from './about';
import { WhoCan } from './WhoCan';
import { Choices } from '../../parts/Choices';

export function Explain() {
  const search = useSearch({ from: '/explain' });
  const navigate = useNavigate();
  const go = (next: ExplainSearch) => void navigate({ to: '/explain', search: next });
  return (
    <Page
      title="Explain"
      lead="What the gate would answer, why, and what would change it. Nothing is done by asking. The address of an answer can be shared."
      actions={
        <Choices
          value={search.mode ?? 'why'}
          aria-label="question"
          onChange={(mode) => go({ ...search, mode: mode === 'who' ? 'who' : undefined })}
          data={[
            { value: 'why', label: 'May somebody?' },
            { value: 'who', label: 'Who can?' },
          ]}
        />
      }
    >
      <Ask key={JSON.stringify(search)} search={search} go={go} />
      <div style={{ marginTop: 'var(--s-5)' }}>{search.mode === 'who' ? <WhoCan op={search.op} target={search.target} /> : <Why search={search} />}</div>
    </Page>
  );
}

function operations() {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const name of Object.keys(OPERATIONS)) {
    const noun = name.split('.')[0] ?? name;
    groups.set(noun, [...(groups.get(noun) ?? []), { value: name, label: name }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

const OPTIONS = operations();

/** The operations, and the one that is asked about where it is none of those that have an address. */
function offeredOperations(asked: string | undefined) {
  return asked === undefined || asked in OPERATIONS ? OPTIONS : [...OPTIONS, { group: 'other', items: [{ value: asked, label: asked }] }];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function Ask({ search, go }: { search: ExplainSearch; go: (next: ExplainSearch) => void }) {
  const me = useMe();
  const { all } = useActors();
  const [asked, setAsked] = useState(search);
  const [isMore, setMore] = useState(!!search.at || !!search.input);
  const people = useMemo(() => offered(all, ({ kind }) => kind !== 'team'), [all]);
  const targets = useMemo(() => ['company', ...all.map(({ id }) => id), 'global', ...all.filter(({ kind }) => kind !== 'team').map(({ id }) => `actor:${id}`)], [all]);
  const set = (next: ExplainSearch) => setAsked((before) => ({ ...before, ...next }));
  const isWho = search.mode === 'who';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (asked.input && !isJson(asked.input)) return;
    go({ ...asked, actor: isWho ? asked.actor : (asked.actor ?? me?.id), mode: search.mode, target: asked.target || undefined, at: /^\d+$/.test(String(asked.at)) ? Number(asked.at) : asked.at || undefined, input: asked.input || undefined });
  };
  return (
    <form onSubmit={submit}>
      <div className={css.ask}>
        {isWho ? (
          <Select label="Who can do" placeholder="an operation" searchable data={OPTIONS} value={asked.op ?? null} onChange={(op) => set({ op: op ?? undefined })} renderOption={({ option }) => <Operation name={option.value} />} required />
        ) : (
          <>
            <Select label="May" searchable data={people} limit={100} value={asked.actor ?? me?.id ?? null} onChange={(actor) => set({ actor: actor ?? undefined })} />
            <Select label="do" placeholder="anything: a list" searchable clearable data={offeredOperations(asked.op)} value={asked.op ?? null} onChange={(op) => set({ op: op ?? undefined })} renderOption={({ option }) => <Operation name={option.value} />} />
          </>
        )}
        <Autocomplete label="about" placeholder="the company, or an id" data={targets} limit={40} value={asked.target ?? ''} onChange={(target) => set({ target })} />
        {isWho && <span />}
        <Button type="submit">Explain</Button>
      </div>
      {!isWho && isMore && (
        <div className={css.more}>
          <TextInput label="as of" placeholder="now; a time, or an event’s number" value={asked.at ?? ''} onChange={(event) => set({ at: event.currentTarget.value })} />
          <JsonInput label="with the input" placeholder='{"tier": "trusted"}' value={asked.input ?? ''} onChange={(input) => set({ input })} validationError="this is not JSON" />
        </div>
      )}
      {!isWho && asked.run && (
        <p className={css.within}>
          as a step of{' '}
          <Link to="/runs/$id" params={{ id: asked.run }}>
            a run
          </Link>
          , as that stands now{' '}
          <Button variant="subtle" size="compact-xs" onClick={() => set({ run: undefined })}>
            outside of it
          </Button>
        </p>
      )}
      {!isWho && !isMore && (
        <Button variant="subtle" size="compact-sm" mt={8} onClick={() => setMore(true)}>
          At another time, or with an input
        </Button>
      )}
    </form>
  );
}

function Operation({ name }: { name: string }) {
  return (
    <div>
      <code>{name}</code>
      <div style={{ fontSize: 'var(--t-xs)', color: 'var(--dim)' }}>{OPERATIONS[name]}</div>
    </div>
  );
}

function Why({ search }: { search: ExplainSearch }) {
  const { actor, op, target, run, at, input } = search;
  const isAsked = !!(actor || op || target);
  const me = useMe()?.id;
  const isOther = !!actor && actor !== me;
  // Of oneself everybody may ask. Of others, asking for what one may not ask would be recorded as a refusal.
  const may = useQuery({ ...mayOptions('policy.explain', actor), enabled: isAsked && isOther && !!me });
  const isDenied = isOther && may.data?.decision === 'deny';
  const answer = useQuery({
    queryKey: [{ _id: 'policyExplain', ...search }],
    queryFn: async () => {
      const when = at === undefined ? {} : { at };
      const body = { ...(actor ? { actor } : {}), ...(op ? { op } : {}), ...(target ? { target } : {}), ...(run ? { run } : {}), ...(input ? { input: JSON.parse(input) as unknown } : {}), ...when };
      return (await policyExplain({ body, throwOnError: true })).data;
    },
    enabled: isAsked && !!me && (!isOther || (!may.isPending && !isDenied)),
    retry: false,
  });
  if (!isAsked) {
    return (
      <Empty icon="help" title="Ask the gate">
        Choose who and what. Without an operation you get everything that somebody may do.
      </Empty>
    );
  }
  if (isDenied) {
    return (
      <Empty icon="shield" title={`You may not ask what ${actor} may do`}>
        {sentence(new Error(may.data?.reason))} What you may do yourself, you may always ask.
      </Empty>
    );
  }
  const kinds = missingTarget(answer.error);
  if (kinds) {
    return (
      <Empty icon="help" title={`What is ${op ?? 'it'} about?`}>
        Enter under «about»: {kinds.map(entryOf).join(', or ')}.
      </Empty>
    );
  }
  if (answer.error) return <Failed error={answer.error} retry={() => void answer.refetch()} />;
  if (!answer.data) return <Loading rows={6} />;
  return 'operations' in answer.data ? <All all={answer.data as AllExplained} /> : <Answer answer={answer.data as Explained} />;
}
