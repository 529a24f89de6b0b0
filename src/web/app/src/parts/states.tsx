// What stands in the place of something that is not there (yet): loading, failed, refused, empty.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Refused, Unreachable } from '../api';
import { Icon, type IconName } from './icons';
import css from './parts.module.css';

const WIDTHS = ['62%', '88%', '47%', '74%', '55%', '81%'];

export function Loading({ rows = 4, what = 'loading' }: { rows?: number; what?: string }) {
  return (
    <div className={css.cardBody} role="status" aria-label={what}>
      <div className={css.stack}>
        {Array.from({ length: rows }, (_, row) => (
          <div key={row} className={css.bone} style={{ width: WIDTHS[row % WIDTHS.length] }} />
        ))}
      </div>
    </div>
  );
}

export function Empty({ icon = 'inbox', title, children, action }: { icon?: IconName; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={css.empty}>
      <Icon name={icon} size={28} strokeWidth={1.5} />
      <strong>{title}</strong>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

/** A refusal says by its message which operation it was: `policy denied audit.head: …`. */
export const refusedOperation = (message: string) => /^policy denied ([a-z_.]+)/.exec(message)?.[1];

/** Whether something is there no more, or for others alone: the server does not tell which. */
const isGone = (error: unknown) => error instanceof Refused && error.status === 404;

function Absent() {
  return (
    <div role="alert">
      <Empty
        icon="search"
        title="Not there, or for others to see"
        action={
          <Button variant="default" onClick={() => window.history.back()}>
            Go back
          </Button>
        }
      >
        The address may be mistyped, or what it is about has ended.
      </Empty>
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  if (isGone(error)) return <Absent />;
  const isRefusal = error instanceof Refused && error.status === 403;
  const operation = error instanceof Refused ? refusedOperation(error.message) : undefined;
  return (
    <div className={css.failed} data-tone={isRefusal || error instanceof Unreachable ? 'wait' : 'deny'} role="alert">
      <Icon name={isRefusal ? 'shield' : 'alert'} />
      <div>
        <p>{error instanceof Refused && error.problems.length > 0 ? 'This cannot be accepted:' : sentence(error)}</p>
        {error instanceof Refused && error.problems.length > 0 && (
          <ul>
            {error.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
        {operation && (
          <p>
            <Link to="/explain" search={{ op: operation }}>
              What would change this?
            </Link>
          </p>
        )}
        {retry && !isRefusal && (
          <Button size="compact-sm" variant="default" mt={8} onClick={retry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const plain = text.replace(/^(policy denied [a-z_.]+|Failed to deserialize the JSON body into the target type): /, '');
  // A sentence may begin with a name: those keep their letters.
  const isName = /^\S*[._:`/]/.test(plain);
  return `${isName ? plain.charAt(0) : plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.!?]$/.test(plain) ? '' : '.'}`;
}

export type Read<T> = { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };

/** A read of the server, and what is shown of it once it is there. What has gone since is shown no longer. */
export function Shown<T>({ read, rows, children }: { read: Read<T>; rows?: number; children: (data: T) => ReactNode }) {
  if (read.data !== undefined && isGone(read.error)) {
    return (
      <Empty icon="shield" title="Gone, or for others to see">
        It was here a moment ago. What you have done is done.
      </Empty>
    );
  }
  if (read.data !== undefined) return <>{children(read.data)}</>;
  if (read.error) return <Failed error={read.error} retry={() => void read.refetch()} />;
  return <Loading rows={rows} />;
}
