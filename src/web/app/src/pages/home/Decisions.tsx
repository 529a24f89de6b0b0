import { useLive } from '../../live';
import { Card } from '../../parts/Page';
import { When } from '../../parts/When';
import css from './home.module.css';

const KINDS = [
  ['allow', 'allowed', 'var(--allow-line)'],
  ['needs_approval', 'waited', 'var(--wait-line)'],
  ['deny', 'denied', 'var(--deny-line)'],
] as const;

const BARS = 28;

/** The newest decisions, the oldest on the left: how many of each slice were allowed, waited, were denied. */
export function Decisions() {
  const { events } = useLive();
  const decided = events.filter(({ decision }) => decision !== 'system').slice(-BARS * 8);
  const size = Math.max(1, Math.ceil(decided.length / BARS));
  const slices = Array.from({ length: Math.ceil(decided.length / size) }, (_, at) => decided.slice(at * size, (at + 1) * size));
  const count = (of: typeof decided, kind: string) => of.filter(({ decision }) => decision === kind).length;
  return (
    <Card title="Decisions">
      {decided.length === 0 ? (
        <p style={{ color: 'var(--dim)' }}>None yet.</p>
      ) : (
        <svg className={css.bars} viewBox={`0 0 ${Math.max(14, slices.length) * 10} 84`} preserveAspectRatio="none" role="img" aria-label={`the newest ${decided.length} decisions`}>
          {slices.map((slice, at) => {
            let top = 84;
            return KINDS.map(([kind, , fill]) => {
              const height = (count(slice, kind) / size) * 84;
              top -= height;
              return height > 0 ? <rect key={`${at}${kind}`} x={at * 10 + 1} width={8} y={top + 0.75} height={Math.max(1, height - 1.5)} rx={1.5} fill={fill} /> : null;
            });
          })}
        </svg>
      )}
      {decided[0] && (
        <p className={css.since}>
          The newest {decided.length}, since <When at={decided[0].at} as="stamp" />
        </p>
      )}
      <div className={css.legend}>
        {KINDS.map(([kind, word, colour]) => (
          <span key={kind}>
            <i style={{ background: colour }} />
            <b>{count(decided, kind)}</b> {word}
          </span>
        ))}
      </div>
    </Card>
  );
}
