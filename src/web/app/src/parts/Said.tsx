import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { visible } from './visible';

const shown = (child: ReactNode): ReactNode => (typeof child === 'string' ? visible(child) : Array.isArray(child) ? (child as ReactNode[]).map(shown) : child);

/** What somebody wrote: in a direction of its own, and with nothing in it that changes how the rest reads. */
export function Said({ children, ...rest }: ComponentPropsWithoutRef<'bdi'>) {
  return <bdi {...rest}>{shown(children)}</bdi>;
}
