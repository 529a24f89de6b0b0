import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { collectionReadOptions, viewListOptions, viewReadOptions, type Figure, type OpenedShownView, type ShownCollection, type ShownView } from '../../api';
import { useGuarded } from '../../parts/guard';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import parts from '../../parts/parts.module.css';
import css from './data.module.css';
import { figureField, hiddenOf, lengths, nameOf } from './filter';
import { Hidden } from './Hidden';
import { Value, Withheld } from './Value';
import { Said } from '../../parts/Said';

/** The records of one look. */
const MOST = 200;

export function ViewPage() {
  const { id } = useParams({ from: '/views/$id' });
  const view = useQuery({ ...viewReadOptions({ path: { id }, query: { limit: MOST } }), retry: false });
  const collection = view.data?.query.collection ?? '';
  const of = useQuery({ ...collectionReadOptions({ path: { collection } }), enabled: collection !== '', retry: false });
  const lead = collection && (
    <>
      A view of{' '}
      <Link to="/data/$collection" params={{ collection }}>
        <Said>{of.data?.title || collection}</Said>
      </Link>
      , with what you may read
    </>
  );
  return (
    <Page wide title={view.data?.title || id} lead={lead} actions={<Link to="/data">All data</Link>}>
      <Card flush>
        <Shown read={view} rows={8}>
          {(opened) => <Found opened={opened} of={of.data} />}
        </Shown>
      </Card>
    </Page>
  );
}

function Found({ opened, of }: { opened: OpenedShownView; of: ShownCollection | undefined }) {
  const { records = [], figures = [], problems = [] } = opened;
  if (problems.length > 0) {
    return (
      <Empty icon="shield" title="You cannot ask what this view asks">
        {problems.join('; ')}
      </Empty>
    );
  }
  if (records.length + figures.length === 0) return <Empty icon="data" title="Nothing that you may read" />;
  if (opened.layout.kind === 'bars') return <Bars opened={opened} of={of} />;
  const rows = records.length > 0 ? records.map((record) => record.fields) : figures.map((figure) => ({ ...figure.group, ...valuesOf(figure) }));
  return (
    <>
      <Table columns={opened.columns.map((name) => titleOf(name, of))}>
        {rows.map((row, at) => (
          <tr key={records[at]?.id ?? at}>
            {opened.columns.map((name, place) => (
              <td key={name}>
                {place > 0 && records[at]?.withheld?.includes(name) ? <Withheld /> : <Cell value={row[name]} name={name} of={of} id={place === 0 ? records[at]?.id : undefined} />}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {of && records.length > 0 && <Hidden names={hiddenOf(of, opened.query.fields)} />}
      {records.length >= MOST && <p className={parts.cut}>The first {MOST} are shown.</p>}
    </>
  );
}

function Cell({ value, name, of, id }: { value: unknown; name: string; of: ShownCollection | undefined; id: string | undefined }) {
  const field = id === undefined ? figureField(name, of) : { type: 'text' as const };
  const shown = <Value short value={value} field={value === TOO_LARGE ? undefined : field} />;
  if (id === undefined || !of) return shown;
  return (
    <Link to="/data/$collection/$id" params={{ collection: of.name, id }}>
      {value === undefined ? id : shown}
    </Link>
  );
}

const TOO_LARGE = 'too large';

/** The figures of a group; what no number holds is told in words. */
function valuesOf({ values, too_large = [] }: Figure): Record<string, unknown> {
  return { ...values, ...Object.fromEntries(too_large.map((name) => [name, TOO_LARGE])) };
}

/** A bar for each group, as long as its first figure. */
function Bars({ opened, of }: { opened: OpenedShownView; of: ShownCollection | undefined }) {
  const by = opened.query.group_by?.[0] ?? '';
  const figure = [...(opened.query.measures ?? []), ...(opened.query.metrics ?? [])][0] ?? '';
  const figures = opened.figures ?? [];
  const rows = figures.map((one) => ({ group: one.group, value: valuesOf(one)[figure] }));
  const long = lengths(rows.map(({ value }) => value));
  return (
    <Table columns={[titleOf(by, of), titleOf(figure, of), { hidden: 'bar' }]}>
      {rows.map(({ group, value }, at) => (
        <tr key={at}>
          <td>
            <Value short value={group[by]} field={figureField(by, of)} />
          </td>
          <td>
            <Value value={value} field={value === TOO_LARGE ? undefined : figureField(figure, of)} />
          </td>
          <td className={css.bars} aria-hidden>
            <div className={css.bar} style={{ width: `${long[at] ?? 0}%` }} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const MEASURES: Record<string, string> = { sum: 'sum', avg: 'average', min: 'least', max: 'most' };

function titleOf(name: string, of: ShownCollection | undefined): string {
  const meant = [...(of?.semantics.metrics ?? []), ...(of?.semantics.dimensions ?? [])].find((one) => one.name === name);
  if (meant) return meant.title || name.replaceAll('_', ' ');
  const [, how, field] = /^(sum|avg|min|max):(.*)$/.exec(name) ?? [];
  return how && field ? `${nameOf(field, of?.fields[field])}, ${MEASURES[how] ?? how}` : nameOf(name, of?.fields[name]);
}

/** The views of all data, or those of one collection, as links. */
export function Views({ collection }: { collection?: string }) {
  const views = useGuarded('view.list', viewListOptions({ query: { collection, limit: 200 } }));
  const list: ShownView[] = views.data ?? [];
  if (list.length === 0) return null;
  const links = list.map((view) => (
    <Link key={view.id} to="/views/$id" params={{ id: view.id }}>
      <Said>{view.title || view.id}</Said>
    </Link>
  ));
  if (collection) return <p className={css.views}>Views: {links}</p>;
  return (
    <Card flush title="Views">
      <Table columns={['View', 'Of', 'For']}>
        {list.map((view, at) => (
          <tr key={view.id}>
            <td>{links[at]}</td>
            <td className={parts.dim}>{view.query.collection}</td>
            <td className={parts.dim}>{view.visibility ?? 'everybody inside'}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
