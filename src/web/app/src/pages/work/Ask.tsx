import { Anchor, Button, NumberInput, Textarea } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { agentAsk, meAgentsOptions, type Askable } from '../../api';
import { Avatar, nameOf, useActors } from '../../parts/Actor';
import { useUnsent } from '../../parts/unsent';
import { useAct } from '../../parts/act';
import { useCan, useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Card, Kbd, Page } from '../../parts/Page';
import { Empty, sentence, Shown } from '../../parts/states';
import { Tag } from '../../parts/Verdict';
import { mod } from '../../shell/pages';
import { PlanField } from './Plan';
import { Runs } from './Runs';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';

export function Ask() {
  const agents = useGuarded('me.agents', meAgentsOptions({ query: { limit: 200 } }));
  const may = useCan('agent.ask');
  return (
    <Page title="Ask" lead="Ask an agent for something. It may do what it may do anyhow; each of its steps passes the gate in its own name.">
      <div className={parts.stack}>
        <Card>
          <Shown read={agents} rows={3}>
            {(list) =>
              list.length === 0 ? (
                <Nobody why={may?.decision === 'deny' ? may.reason : undefined} />
              ) : (
                <Form agents={list} />
              )
            }
          </Shown>
        </Card>
        <Runs />
      </div>
    </Page>
  );
}

/** Nobody can be asked: for a reason that is the gate's, or because there is nobody. */
function Nobody({ why }: { why: string | undefined }) {
  if (why !== undefined) {
    return (
      <Empty icon="power" title="You may not ask any agent">
        {sentence(new Error(why))}
      </Empty>
    );
  }
  return (
    <Empty icon="bot" title="There is no agent that you may ask">
      You may ask those that you own, and those of your team.
    </Empty>
  );
}

function Form({ agents }: { agents: Askable[] }) {
  const { agent: named } = useSearch({ from: '/ask' });
  const navigate = useNavigate();
  const [agent, setAgent] = useState(agents.some(({ id }) => id === named) ? named : agents[0]?.id);
  const [text, setText] = useUnsent('question to an agent');
  const [budget, setBudget] = useState<number | string>('');
  const [plan, setPlan] = useUnsent('plan for an agent');
  const [isMore, setMore] = useState(false);
  const { act, busy } = useAct();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!agent || !text.trim()) return;
    const body = { agent, text: text.trim(), plan: plan.trim() || null, ...(budget === '' ? {} : { budget_cents: Number(budget) }) };
    const begun = await act((headers) => agentAsk({ body, headers, throwOnError: true }));
    if (!begun) return;
    setText('');
    setPlan('');
    if ('run' in begun) void navigate({ to: '/runs/$id', params: { id: begun.run } });
  };
  return (
    <form onSubmit={(event) => void submit(event)} className={parts.form}>
      <fieldset className={css.agents}>
        <legend>Which agent?</legend>
        {agents.map((one) => (
          <AgentChoice key={one.id} agent={one} isChosen={one.id === agent} choose={() => setAgent(one.id)} />
        ))}
      </fieldset>
      <Textarea
        ref={field}
        label="What is it to do?"
        required
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
        }}
      />
      {isMore && (
        <div className={css.more}>
          <NumberInput label="Budget" description="in cents; before it is exceeded, the run is held" min={0} allowDecimal={false} value={budget} onChange={setBudget} />
          <PlanField value={plan} set={setPlan} />
        </div>
      )}
      <div className={css.buttons}>
        <Button type="submit" loading={busy} disabled={!agent || !text.trim()} leftSection={<Icon name="send" size={14} />}>
          Ask {nameOf(undefined, agents.find(({ id }) => id === agent)?.name || agent || '')}
        </Button>
        {!isMore && (
          <Anchor component="button" type="button" size="sm" onClick={() => setMore(true)}>
            Budget and plan
          </Anchor>
        )}
        <span className={css.hint}>
          <Kbd>{mod}Enter</Kbd>
        </span>
      </div>
    </form>
  );
}

function AgentChoice({ agent, isChosen, choose }: { agent: Askable; isChosen: boolean; choose: () => void }) {
  const { byId } = useActors();
  return (
    <label className={css.agent} data-chosen={isChosen || undefined}>
      <input type="radio" name="agent" value={agent.id} checked={isChosen} onChange={choose} />
      <Avatar id={agent.id} actor={byId.get(agent.id)} />
      <span>
        <Said>{agent.name || agent.id}</Said>
        <small>{agent.skills.join(', ') || agent.id}</small>
      </span>
      {agent.needs_approval && (
        <Tag tone="wait" icon="clock">
          with approval
        </Tag>
      )}
    </label>
  );
}
