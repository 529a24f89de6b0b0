import { lazy, Suspense, useEffect } from 'react';
import type { ShownActor } from '../../api';
import { Do } from '../../parts/act';
import { useDialog } from '../../parts/asked';
import { Icon } from '../../parts/icons';
import { promised, whenIdle } from '../../shell/idle';

/** Whose tokens ended because of who issued them. */
export const revoked = (holders: readonly string[] | undefined) => (holders?.length ? `; tokens that they issued for ${holders.join(', ')} are revoked` : '');

const [isAsked, ask] = promised();
const Leaving = lazy(() => whenIdle(() => import('./Leaving'), isAsked));

export function Offboard({ actor }: { actor: ShownActor }) {
  const [isOpen, setOpen] = useDialog('offboard');
  useEffect(() => {
    if (isOpen) ask();
  }, [isOpen]);
  const verb = actor.kind === 'team' ? 'Remove' : 'Offboard';
  return (
    <>
      <Do op="actor.offboard" target={actor.id} variant="default" onClick={() => setOpen(true)} leftSection={<Icon name="leave" size={14} />}>
        {verb}
      </Do>
      <Suspense>
        <Leaving actor={actor} verb={verb} isOpen={isOpen} close={() => setOpen(false)} />
      </Suspense>
    </>
  );
}
