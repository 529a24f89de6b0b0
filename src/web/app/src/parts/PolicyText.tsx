// Cedar as text to read: coloured, numbered, with the lines marked on which an answer hangs.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tokens } from '../cedar/tokens';
import { Icon } from './icons';
import css from './parts.module.css';
import { Tag } from './Verdict';
import { visible } from './visible';
import { yaml } from './yaml';

export type Marks = Map<number, 'ok' | 'fail'>;

export function Cedar({ text, first = 1, marks, label = 'policy text' }: { text: string; first?: number; marks?: Marks; label?: string }) {
  return (
    // A wide text is scrolled, also with the keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <code className={css.code} tabIndex={0} role="region" aria-label={label}>
      {text.split('\n').map((line, at) => (
        <span key={at} data-mark={marks?.get(first + at)}>
          <i>{first + at}</i>
          <b>
            {tokens(line).map((one, index) =>
              one.kind ? (
                <em key={index} data-t={one.kind}>
                  {visible(one.text)}
                </em>
              ) : (
                visible(one.text)
              ),
            )}
          </b>
        </span>
      ))}
    </code>
  );
}

type Shown = { id: string; effect?: string; reason?: string | null; title?: string | null; file?: string; line?: number; text?: string | null };

/** A policy with its place and its text, as far as the reader may export the policies. */
export function Policy({ policy, marks, children }: { policy: Shown; marks?: Marks; children?: ReactNode }) {
  const about = policy.reason ?? policy.title;
  return (
    <div className={css.policy}>
      <div className={css.policyHead}>
        <Icon name="policy" size={14} />
        <code>{policy.id}</code>
        {policy.effect && <Tag tone={policy.effect === 'permit' ? 'allow' : 'deny'}>{policy.effect}</Tag>}
        {policy.file && (
          <span data-place>
            <Link to="/policy" search={{ file: policy.file, line: policy.line }}>
              {policy.file}:{policy.line}
            </Link>
          </span>
        )}
      </div>
      {about && <p className={css.policyReason}>{about}</p>}
      {children}
      {policy.text && <Cedar text={policy.text} first={policy.line ?? 1} marks={marks} label={`text of ${policy.id}`} />}
    </div>
  );
}

export function Diff({ text, label = 'difference' }: { text: string; label?: string }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={css.diff} tabIndex={0} role="region" aria-label={label}>
      {visible(text)
        .replace(/\n$/, '')
        .split('\n')
        .map((line, at) => (
          <span key={at} data-l={line.charAt(0)}>
            {line || ' '}
          </span>
        ))}
    </pre>
  );
}

export const Json = ({ value }: { value: unknown }) => <pre className={css.json}>{visible(JSON.stringify(value, null, 2))}</pre>;

export const Yaml = ({ value }: { value: unknown }) => <pre className={css.json}>{visible(yaml(value))}</pre>;
