import { useMediaQuery } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ShownRun } from '../../api';
import { Actor } from '../../parts/Actor';
import { Card } from '../../parts/Page';
import { Said } from '../../parts/Said';
import { Empty, Shown } from '../../parts/states';
import { State } from '../../parts/Verdict';
import { VirtualRows } from '../../parts/Virtual';
import { When } from '../../parts/When';
import { useMe } from '../../shell/useMe';
import { MOST } from '../../ahead';
import { useInput, useRuns } from './useWork';
import { isOver, span, standing } from './words';
import css from './work.module.css';
import parts from '../../parts/parts.module.css';
import { cents, grouped } from '../../parts/plain';
import { Choices } from '../../parts/Choices';

type Which = 'mine' | 'open' | 'all';

/** The runs that one may see. */
export function Runs() {
  const me = useMe();
  const runs = useRuns();
  const [which, setWhich] = useState<Which>('all');
  const listed = (runs.data ?? []).filter((run) => which === 'all' || (which === 'mine' ? run.asker === me?.id : !isOver(run.status)));
  return (
    <Card
      flush
      title="Runs"
      aside={
        <Choices
          size="xs"
          value={which}
          aria-label="which runs"
          onChange={setWhich}
          data={[
            { value: 'all', label: 'All' },
            { value: 'mine', label: 'I asked' },
            { value: 'open', label: 'Under way' },
          ]}
        />
      }
    >
      <Shown read={runs} rows={5}>
        {(all) => (
          <>
            {listed.length === 0 ? <Empty icon="bot" title={which === 'open' ? 'No agent is at work' : 'No runs'} /> : <RunRows list={listed} withInput />}
            {all.length >= MOST && <p className={parts.cut}>The newest {grouped(MOST)} were looked through.</p>}
          </>
        )}
      </Shown>
    </Card>
  );
}

const HEIGHT = 58;
/** On a phone, who asked stands below what was asked. */
const HIGHER = 80;

/** Runs as rows; `withInput`, each with what was asked. */
export function RunRows({ list, withInput = false }: { list: ShownRun[]; withInput?: boolean }) {
  const isPhone = useMediaQuery('(max-width: 767px)', false, { getInitialValueInEffect: false });
  return (
    <VirtualRows list={list} height={withInput && isPhone ? HIGHER : HEIGHT} className={list.length > 10 ? css.scroll : undefined}>
      {(run, style) => (
        <Link key={run.id} to="/runs/$id" params={{ id: run.id }} className={css.run} style={style}>
          <span className={css.runOf}>
            <Actor id={run.agent} plain />
            {withInput && <Input of={run} />}
          </span>
          <span className={css.runState}>
            <State state={standing(run)} />
          </span>
          <span className={css.runBy}>
            asked by <Actor id={run.asker} plain avatar={false} /> <When at={run.created_at} />
          </span>
          <span className={css.figures}>
            {run.steps} {run.steps === 1 ? 'step' : 'steps'} · {cents(run.cost_cents)} · {span(run.duration_ms)}
          </span>
        </Link>
      )}
    </VirtualRows>
  );
}

function Input({ of }: { of: ShownRun }) {
  const text = useInput(of.id);
  return text ? <Said className={css.runText}>{text}</Said> : null;
}
