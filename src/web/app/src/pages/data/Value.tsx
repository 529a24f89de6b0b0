import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useContext, type ReactNode } from 'react';
import { collectionReadOptions, recordReadOptions, type Field } from '../../api';
import { Actor } from '../../parts/Actor';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { Tag } from '../../parts/Verdict';
import { titleOf } from './title';
import { Titles } from './useTitles';

/** In the place of a value that is there, and not for its reader. */
export const Withheld = () => <Tag icon="shield">withheld</Tag>;

/** A value of a field, as people read it. What somebody wrote is text, whatever stands in it. */
export function Value({ value, field, short = false }: { value: unknown; field: Field | undefined; short?: boolean }) {
  if (value === undefined || value === null) return <span className={parts.dim}>–</span>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  switch (field?.type) {
    case 'actor':
    case 'team':
      return <Actor id={text} />;
    case 'ref':
      if (!field.to) return <code>{text}</code>;
      return short ? <Titled to={field.to} id={text} /> : <Named to={field.to} id={text} />;
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

function Reference({ to, id, name }: { to: string; id: string; name: ReactNode }) {
  return (
    <Link to="/data/$collection/$id" params={{ collection: to, id }}>
      {name}
    </Link>
  );
}

/** A reference in a list, which has asked for what all of its references lead to. */
function Titled({ to, id }: { to: string; id: string }) {
  const title = useContext(Titles).get(id);
  return <Reference to={to} id={id} name={title ? <Said>{title}</Said> : <code title={id}>…{id.slice(-6)}</code>} />;
}

/** A reference by the key of the record that it leads to, where that may be read. */
function Named({ to, id }: { to: string; id: string }) {
  const of = useQuery({ ...collectionReadOptions({ path: { collection: to } }), retry: false });
  const record = useQuery({ ...recordReadOptions({ path: { collection: to, id } }), retry: false });
  const title = of.data && record.data ? titleOf(record.data, of.data) : id;
  return (
    <>
      <Reference to={to} id={id} name={title === id ? <code>{id}</code> : <Said>{title}</Said>} />
      {record.isError && <span className={parts.dim}> deleted, or not yours to read</span>}
    </>
  );
}
