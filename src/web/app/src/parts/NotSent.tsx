import { Button } from '@mantine/core';
import { Copy } from './Copy';
import { Said } from './Said';
import { useUnsent } from './unsent';
import css from './parts.module.css';

/** What somebody still wrote when another was quicker: theirs to copy, until they discard it. */
export function NotSent({ what, noun, why, className = css.stack }: { what: string; noun: string; why: string; className?: string }) {
  const [text, write] = useUnsent(what);
  if (text.trim() === '') return null;
  return (
    <div className={className} role="status">
      <p>
        {why} Your {noun} was not sent: «<Said>{text.trim()}</Said>»
      </p>
      <div className={css.meta}>
        <Copy text={text.trim()} what={`the ${noun}`} />
        <Button variant="default" size="compact-sm" onClick={() => write('')}>
          Discard
        </Button>
      </div>
    </div>
  );
}
