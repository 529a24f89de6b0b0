import type { Trust as Tier } from '../../api';
import css from './people.module.css';

export const TIERS: Tier[] = ['observe', 'assist', 'standard', 'trusted', 'autonomous'];

/** How far an agent is trusted, as one of five steps. */
export function Trust({ tier }: { tier: Tier }) {
  const at = TIERS.indexOf(tier);
  return (
    <span>
      <span className={css.trust} aria-hidden="true">
        {TIERS.map((one, step) => (
          <i key={one} data-on={step <= at || undefined} />
        ))}
      </span>
      {tier}
    </span>
  );
}
