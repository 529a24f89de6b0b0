import { Go } from '../../parts/Go';
import { isRefused, policyReadOptions } from '../../api';
import { useLive } from '../../live';
import { useGuarded } from '../../parts/guard';
import { Icon, type IconName } from '../../parts/icons';
import { Card } from '../../parts/Page';
import { sentence } from '../../parts/states';
import { When } from '../../parts/When';
import { useHead } from '../../proof/useHead';
import { useKills } from '../../shell/useMe';
import css from './home.module.css';
import { grouped } from '../../parts/plain';

function Line({ icon, tone, title, children }: { icon: IconName; tone: string; title: React.ReactNode; children: React.ReactNode }) {
  return (
    <>
      <Icon name={icon} data-tone={tone} />
      <div>
        <strong>{title}</strong>
        <small>{children}</small>
      </div>
    </>
  );
}

/** Whether gate and log are well. What is said of the log was found out in this browser. */
export function Health() {
  const policy = useGuarded('policy.read', { ...policyReadOptions(), staleTime: 30_000 });
  const kills = useKills();
  const live = useLive();
  const engaged = kills.data?.length ?? 0;
  return (
    <Card title="Gate and log">
      <div className={css.health}>
        {live.state === 'lost' ? (
          <Line icon="alert" tone="deny" title="The gate does not answer">
            it is asked again every two seconds
          </Line>
        ) : policy.data ? (
          <Line icon="shield" tone="allow" title={<>Version {policy.data.version} of the policies is in force</>}>
            {policy.data.policies} policies, since <When at={policy.data.applied_at} />
          </Line>
        ) : (
          <Line icon="shield" tone="plain" title="The gate decides">
            {isRefused(policy.error, 403) ? 'Each call is decided by policies. You may not read which ones are in force.' : policy.error ? sentence(policy.error) : '…'}
          </Line>
        )}
        <Head />
        <Line icon="power" tone={engaged ? 'deny' : 'allow'} title={engaged ? `${engaged} kill switch${engaged > 1 ? 'es' : ''} engaged` : 'Nothing is stopped'}>
          <Go to="/kill">Kill switches</Go>
        </Line>
      </div>
    </Card>
  );
}

function Head() {
  const head = useHead();
  if (head.data) {
    const { size, at, grew, problem, rekeyed } = head.data;
    if (problem) {
      return (
        <Line icon="alert" tone="deny" title="The log does not verify">
          {problem}
        </Line>
      );
    }
    return (
      <Line icon="check" tone="allow" title={<>Log verified up to event {size}</>}>
        <When at={at} />, by this browser{grew ? `: signature, and that it continues the ${grouped(grew)} events seen before` : ': signature'}
        {rekeyed ? `. Since event ${rekeyed + 1} another key signs, which whoever owns the machine put in the place of the lost one` : ''}
      </Line>
    );
  }
  if (isRefused(head.error, 403)) {
    return (
      <Line icon="check" tone="plain" title="The log is signed">
        {sentence(head.error)}
      </Line>
    );
  }
  return (
    <Line icon="check" tone="plain" title="The log">
      {head.error ? sentence(head.error) : 'verifying…'}
    </Line>
  );
}
