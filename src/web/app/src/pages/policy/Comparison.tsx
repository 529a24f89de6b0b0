import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { Answer, Compared2, Matrix, Term, TextDiff } from '../../api';
import { Actor } from '../../parts/Actor';
import { Card } from '../../parts/Page';
import { Cedar, Diff } from '../../parts/PolicyText';
import { Empty } from '../../parts/states';
import { Table } from '../../parts/Table';
import { Tag, Verdict, type Tone } from '../../parts/Verdict';
import { When } from '../../parts/When';
import css from './policy.module.css';
import parts from '../../parts/parts.module.css';
import { grouped } from '../../parts/plain';

const SHIFTS: Record<string, Tone> = { looser: 'deny', tighter: 'wait', mixed: 'accent', same: 'plain' };
const CHANGES: Record<string, Tone> = { added: 'allow', removed: 'deny', changed: 'accent', moved: 'plain' };

// Of what they are a part: the generated names count up where another noun has a type of that name.
type Impact = NonNullable<Compared2['impact']>;
type Semantic = NonNullable<Compared2['semantic']>;
type Warning = NonNullable<Compared2['warnings']>[number];

// What a warning is in short, and what comes of it.
const TOLD: Record<string, [string, string]> = {
  approvals_unreachable: ['cannot be given', 'What asks for this approval waits until more people may give it.'],
  entities_unfit: ['does not fit', 'Keep these entities anew once the change is in force, or make the attribute optional.'],
};

/** What a change would do: to the text, to the answers, and to the decisions of the log. */
export function Comparison({ of, impact, needs }: { of: { text: TextDiff; terms: Term[]; semantic: Semantic; kept?: string[]; warnings?: Warning[] }; impact?: Impact | null; needs?: string | null }) {
  return (
    <>
      {impact && <ImpactCard impact={impact} />}
      {needs && <NoImpact needs={needs} />}
      <Answers semantic={of.semantic} terms={of.terms} warnings={of.warnings ?? []} />
      <Texts text={of.text} kept={of.kept ?? []} />
    </>
  );
}

export const NoImpact = ({ needs }: { needs: string }) => (
  <Card title="Impact">
    <p>
      No decision was replayed: the impact counts the decisions of everybody, which requires <code>{needs}</code>, and you may not perform it. Everything else is compared.
    </p>
  </Card>
);

function Texts({ text, kept }: { text: TextDiff; kept: string[] }) {
  if (text.policies.length + text.files.length + kept.length === 0) return null;
  return (
    <Card flush title="Text">
      {text.policies.map((one) => (
        <div key={one.id} className={css.block}>
          <header>
            <Tag tone={CHANGES[one.change] ?? 'plain'}>{one.change}</Tag>
            <code>{one.id}</code>
            <span className={parts.dim}>
              {one.effect}, {one.file}:{one.line}
            </span>
          </header>
          {one.diff && <Diff text={one.diff} label={`difference of ${one.id}`} />}
        </div>
      ))}
      {kept.map((file) => (
        <div key={file} className={css.block}>
          <header>
            <Tag>stays</Tag>
            <code>{file}</code>
            <span className={parts.dim}>is left out here and stays in force: {file.startsWith('views/') ? 'a view is removed by a change of its own' : 'a collection is changed by a schema proposal'}</span>
          </header>
        </div>
      ))}
      {text.files.map((one) => (
        <div key={one.path} className={css.block}>
          <header>
            <Tag tone={CHANGES[one.change] ?? 'plain'}>{one.change}</Tag>
            <code>{one.path}</code>
          </header>
          {one.diff && <Diff text={one.diff} label={`difference of ${one.path}`} />}
        </div>
      ))}
    </Card>
  );
}

const MOST_LISTED = 20;

const listed = (names: string[]) => `${names.slice(0, MOST_LISTED).join(', ')}${names.length > MOST_LISTED ? ` and ${grouped(names.length - MOST_LISTED)} more` : ''}`;

function Answers({ semantic, terms, warnings }: { semantic: Semantic; terms: Term[]; warnings: Warning[] }) {
  const moved = semantic.pairs.filter(({ change }) => change !== 'same');
  const isPartial = semantic.cut.length + semantic.unmet.length > 0;
  return (
    <Card flush title="Answers" aside={<span className={parts.dim}>{grouped(semantic.questions)} questions asked on both sides</span>}>
      {moved.length + terms.length === 0 && (
        <Empty icon={isPartial ? 'alert' : 'check'} title={isPartial ? 'No difference was found, but not all was seen' : 'No answer differs'}>
          {semantic.summary}
        </Empty>
      )}
      {warnings.map(({ code, message, file, line }) => (
        <div key={message} className={css.shift}>
          <div>
            <Tag tone="wait">{TOLD[code]?.[0] ?? 'names nobody'}</Tag>
            {message}
          </div>
          <p>
            {file}:{line}. {TOLD[code]?.[1] ?? 'What differs for that name concerns nobody until somebody has it.'}
          </p>
        </div>
      ))}
      {semantic.unmet.length > 0 && (
        <div className={css.shift}>
          <div>
            <Tag tone="wait">not seen</Tag>
            What these change: {listed(semantic.unmet.map(({ policy, part }) => (part ? `${policy} (${part})` : policy)))}
          </div>
          <p>They decided no question that was compared. A test case that shows what they do is compared, too.</p>
        </div>
      )}
      {terms.map((term) => (
        <div key={term.file + term.about} className={css.shift}>
          <div>
            <Tag tone={SHIFTS[term.change] ?? 'plain'}>{term.change}</Tag>
            <strong>{term.about}</strong>
          </div>
          <p>{term.parts.join('; ')}</p>
        </div>
      ))}
      {moved.map((pair) => (
        <div key={pair.operation + pair.actor_kind} className={css.shift}>
          <div>
            <Tag tone={SHIFTS[pair.change] ?? 'plain'}>{pair.change}</Tag>
            <code>{pair.operation}</code> for {pair.actor_kind.replace('_', ' ')}
          </div>
          {pair.witnesses.map((witness) => (
            <div key={witness.test}>
              <p>
                Such as <code>{witness.actor}</code>
                {witness.target && (
                  <>
                    {' '}
                    on <code>{witness.target}</code>
                  </>
                )}
                {witness.given.length > 0 && `, ${witness.given.join(', ')}`}: <Verdict decision={witness.before.decision} /> → <Verdict decision={witness.after.decision} />
              </p>
              <details>
                <summary className={parts.dim}>as a test</summary>
                <Cedar text={witness.test.trimEnd()} label={`test of ${pair.operation} for ${pair.actor_kind}`} />
              </details>
            </div>
          ))}
        </div>
      ))}
    </Card>
  );
}

const KINDS = ['allow', 'needs_approval', 'deny'] as const;
const WORDS = { allow: 'allowed', needs_approval: 'approval', deny: 'denied' };

export type Cell = { before: string; after: string };

/** From an answer to another: how many decisions moved that way. */
export function MatrixTable({ matrix, cell, pick }: { matrix: Matrix; cell?: Cell; pick?: (cell: Cell | undefined) => void }) {
  return (
    <div className={parts.scroll}>
      <table className={css.matrix}>
        <thead>
          <tr>
            <th scope="col">was ↓ would be →</th>
            {KINDS.map((after) => (
              <th key={after} scope="col">
                {WORDS[after]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {KINDS.map((before) => (
            <tr key={before}>
              <th scope="row">{WORDS[before]}</th>
              {KINDS.map((after) => {
                const count = matrix[before][after];
                const isPicked = cell?.before === before && cell.after === after;
                const move = count === 0 || before === after ? undefined : KINDS.indexOf(after) < KINDS.indexOf(before) ? 'looser' : 'tighter';
                return (
                  <td key={after}>
                    <button type="button" data-move={move} aria-pressed={isPicked} disabled={!pick || !move} aria-label={`${WORDS[before]}, would be ${WORDS[after]}: ${grouped(count)}`} onClick={() => pick?.(isPicked ? undefined : { before, after })}>
                      {grouped(count)}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const decisionOf = (answer: Answer) => answer.decision as string;

export function ImpactCard({ impact }: { impact: Impact }) {
  const [cell, setCell] = useState<Cell>();
  const { denominator } = impact;
  const samples = (impact.samples ?? []).filter(({ before, after }) => !cell || (decisionOf(before) === cell.before && decisionOf(after) === cell.after));
  return (
    <Card flush title="Impact" aside={<span className={parts.dim}>{denominator.summary}</span>}>
      <div style={{ padding: 'var(--s-3) var(--s-4)' }}>
        <MatrixTable matrix={impact.matrix} cell={cell} pick={setCell} />
      </div>
      {samples.length > 0 && (
        <Table columns={['Event', 'Who', 'What', 'Was → would be']}>
          {samples.map((sample) => (
            <tr key={sample.seq}>
              <td>
                <Link to="/log/$seq" params={{ seq: String(sample.seq) }}>
                  {sample.seq}
                </Link>
                <div className={parts.dim} style={{ whiteSpace: 'nowrap' }}>
                  <When at={sample.at} />
                </div>
              </td>
              <td>
                <Actor id={sample.actor} />
              </td>
              <td>
                <code>{sample.operation}</code> <span className={parts.dim}>{sample.target}</span>
              </td>
              <td style={{ whiteSpace: 'nowrap' }}>
                <Verdict decision={decisionOf(sample.before)} /> → <Verdict decision={decisionOf(sample.after)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
