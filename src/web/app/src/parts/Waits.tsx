import { Link } from '@tanstack/react-router';
import type { ShownApproval } from '../api';
import { Icon } from './icons';
import css from './parts.module.css';

/** What somebody asked for is not done yet: it says so for as long as it stands, with the way to who decides. */
export function Waits({ approval }: { approval: string }) {
  return (
    <p className={css.waits} role="status">
      <Icon name="clock" />
      <span>
        It waits for approval. <Link to="/approvals/$id" params={{ id: approval }}>See who decides</Link>
      </span>
    </p>
  );
}

/** Of what somebody asked for, the request to do this to that which nobody has decided yet. */
export function waitingFor(asked: ShownApproval[] | undefined, action: string, resource: string): string | undefined {
  return asked?.find((one) => one.status === 'pending' && one.action === action && one.resource === resource)?.id;
}
