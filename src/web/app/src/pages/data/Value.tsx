import { Link } from '@tanstack/react-router';
import type { Field } from '../../api';
import { Actor } from '../../parts/Actor';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';

/** A value of a field, as people read it. What somebody wrote is text, whatever stands in it. */
export function Value({ value, field, short = false }: { value: unknown; field: Field | undefined; short?: boolean }) {
  if (value === undefined || value === null) return <span className={parts.dim}>–</span>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  switch (field?.type) {
    case 'actor':
    case 'team':
      return <Actor id={text} />;
    case 'ref':
      return field.to ? (
        <Link to="/data/$collection/$id" params={{ collection: field.to, id: text }}>
          <code title={text}>{short ? `…${text.slice(-6)}` : text}</code>
        </Link>
      ) : (
        <code>{text}</code>
      );
    case 'time':
      return <When at={text} as="stamp" />;
    case 'date':
      return <span style={{ whiteSpace: 'nowrap' }}>{text}</span>;
    case 'flag':
      return <>{value === true ? 'yes' : 'no'}</>;
    case 'choices':
      return <Said>{Array.isArray(value) ? value.join(', ') : text}</Said>;
    case 'money':
    case 'decimal':
    case 'integer':
      return (
        <span style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
          {text}
          {field.unit ? ` ${field.unit}` : ''}
        </span>
      );
    case 'link':
      return /^https:\/\//.test(text) ? (
        <a href={text} rel="noreferrer noopener" target="_blank">
          {short ? new URL(text).hostname : text}
        </a>
      ) : (
        <Said>{text}</Said>
      );
    case 'json':
      return <code>{short ? text.slice(0, 60) : text}</code>;
    default:
      return <Said style={short ? undefined : { whiteSpace: 'pre-wrap' }}>{short ? text.slice(0, 80) : text}</Said>;
  }
}
