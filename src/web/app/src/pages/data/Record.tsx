import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { collectionReadOptions, recordHistoryOptions, recordReadOptions, recordRefsOptions, type Backlink, type ShownCollection, type ShownRecord } from '../../api';
import { Actor } from '../../parts/Actor';
import { Card, Facts } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { When } from '../../parts/When';
import { nameOf } from './filter';
import { titleOf } from './title';
import { Value, Withheld } from './Value';
import css from './data.module.css';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { entitle } from '../../parts/visible';

export function RecordPage() {
  const { collection, id } = useParams({ from: '/data/$collection/$id' });
  const of = useQuery({ ...collectionReadOptions({ path: { collection } }), retry: false });
  const record = useQuery({ ...recordReadOptions({ path: { collection, id } }), retry: false });
  const title = record.data && of.data ? titleOf(record.data, of.data) : id;
  useEffect(() => {
    entitle(title);
  }, [title]);
  return (
    <div className={parts.page}>
      <header className={parts.pageHead}>
        <div>
          <Link to="/data/$collection" params={{ collection }} className={parts.dim}>
            {of.data?.title || collection}
          </Link>
          <h1>
            <Said>{title}</Said>
          </h1>
        </div>
        <div className={parts.actions}>
          {of.data && !of.data.source && (
            <Link to="/explain" search={{ op: 'record.read', target: id }}>
              Why can I read this?
            </Link>
          )}
        </div>
      </header>
      <Shown read={record}>
        {(found) => (
          <div className={parts.grid}>
            <div className={parts.stack}>
              <Fields record={found} of={of.data} />
              {of.data && !of.data.source && <History collection={collection} id={id} of={of.data} />}
            </div>
            {of.data && !of.data.source && (
              <div className={parts.stack}>
                <About record={found} />
                <Leads collection={collection} id={id} />
              </div>
            )}
          </div>
        )}
      </Shown>
    </div>
  );
}

function Fields({ record, of }: { record: ShownRecord; of: ShownCollection | undefined }) {
  const names = of ? Object.keys(of.fields) : Object.keys(record.fields);
  const withheld = new Set(record.withheld ?? []);
  const shown = (name: string): ReactNode => {
    const field = of?.fields[name];
    if (!withheld.has(name)) return <Value value={record.fields[name]} field={field} />;
    return (
      <>
        <Withheld />{' '}
        <Link to="/explain" search={{ op: 'field.read', target: record.collection, input: JSON.stringify({ collection: record.collection, label: field?.label }) }}>
          Why?
        </Link>
      </>
    );
  };
  return (
    <Card title="Record">
      <Facts of={names.map((name): [string, ReactNode] => [nameOf(name, of?.fields[name]), shown(name)])} />
    </Card>
  );
}

function About({ record }: { record: ShownRecord }) {
  return (
    <Card title="About">
      <Facts
        of={[
          ['id', <code key="i">{record.id}</code>],
          ['version', String(record.version)],
          ['made by', <Actor key="c" id={record.created_by} />],
          ['made', <When key="ca" at={record.created_at} />],
          ['changed by', <Actor key="u" id={record.updated_by} />],
          ['changed', <When key="ua" at={record.updated_at} />],
        ]}
      />
    </Card>
  );
}

function History({ collection, id, of }: { collection: string; id: string; of: ShownCollection | undefined }) {
  const history = useQuery({ ...recordHistoryOptions({ path: { collection, id }, query: { limit: 100 } }), retry: false });
  return (
    <Card flush title="History">
      <Shown read={history}>
        {(list) => (
          <ul className={css.versions}>
            {list.map((version, at) => (
              <li key={version.version}>
                <div className={css.version}>
                  <strong>Version {version.version}</strong>
                  <When at={version.at} />
                  <Actor id={version.by} />
                  {version.run && (
                    <Link to="/runs/$id" params={{ id: version.run }}>
                      in a run
                    </Link>
                  )}
                </div>
                {version.what === 'deleted' ? 'deleted' : <Changed now={version.fields} before={list[at + 1]?.fields ?? {}} of={of} isFirst={at + 1 === list.length} />}
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Card>
  );
}

/** What is otherwise than in the version before. */
function Changed({ now, before, of, isFirst }: { now: Record<string, unknown>; before: Record<string, unknown>; of: ShownCollection | undefined; isFirst: boolean }) {
  const names = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]));
  const withheld = of?.withheld.map((name) => nameOf(name, of.fields[name])) ?? [];
  const isWhole = of !== undefined && withheld.length === 0;
  const unseen = withheld.length > 0 ? `nothing that you may read; withheld: ${withheld.join(', ')}` : 'nothing that you may read';
  if (names.length === 0) return <span className={parts.dim}>{isWhole && !isFirst ? 'nothing: written as it was' : unseen}</span>;
  return (
    <Facts of={names.map((name): [string, ReactNode] => [nameOf(name, of?.fields[name]), <Value key={name} short value={now[name]} field={of?.fields[name]} />])} />
  );
}

function Leads({ collection, id }: { collection: string; id: string }) {
  const links = useQuery({ ...recordRefsOptions({ path: { collection, id } }), retry: false });
  return (
    <Card flush title="Referenced by">
      <Shown read={links} rows={2}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="link" title="Nothing leads here" />
          ) : (
            <Table columns={['What', 'Where']}>
              {list.map((link) => (
                <tr key={`${link.id} ${link.field ?? ''}`}>
                  <td>
                    <To link={link} />
                  </td>
                  <td className={parts.dim}>{link.collection ? `${link.collection}, ${link.field ?? ''}` : 'task'}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
    </Card>
  );
}

function To({ link: { collection, id, title } }: { link: Backlink }) {
  const name = <Said>{title || id}</Said>;
  return collection ? (
    <Link to="/data/$collection/$id" params={{ collection, id }}>
      {name}
    </Link>
  ) : (
    <Link to="/tasks/$id" params={{ id }}>
      {name}
    </Link>
  );
}
