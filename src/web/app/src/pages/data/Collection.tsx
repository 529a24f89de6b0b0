import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { collectionQuery, collectionReadOptions, type ShownCollection, type ShownRecord } from '../../api';
import { Icon } from '../../parts/icons';
import { Select } from '../../parts/later';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table, type Column } from '../../parts/Table';
import { When } from '../../parts/When';
import { columnsOf, comparisons, filterOf, hiddenOf, isOrdered, nameOf, turned, type DataSearch } from './filter';
import { Hidden } from './Hidden';
import { Titles, useTitles } from './useTitles';
import { Value, Withheld } from './Value';
import { Views } from './View';
import css from './data.module.css';
import parts from '../../parts/parts.module.css';

/** The records of one look. */
const MOST = 200;

export function CollectionPage() {
  const { collection } = useParams({ from: '/data/$collection' });
  const read = useQuery({ ...collectionReadOptions({ path: { collection } }), retry: false });
  return (
    <Page
      wide
      title={read.data?.title || collection}
      lead={read.data ? leadOf(read.data) : collection}
      actions={<Link to="/data">All collections</Link>}
    >
      <Shown read={read}>{(of) => <Records of={of} />}</Shown>
    </Page>
  );
}

/** What is special about a collection: where its records are kept. */
const leadOf = ({ name, source }: ShownCollection) => (source ? `Read from ${source.system} (${source.table}): changed there, not here` : name);

type Found = { list: ShownRecord[]; isPartial: boolean };

function Records({ of }: { of: ShownCollection }) {
  const search = useSearch({ from: '/data/$collection' });
  const navigate = useNavigate();
  const set = (next: DataSearch) => void navigate({ to: '/data/$collection', params: { collection: of.name }, search: (before) => ({ ...before, ...next }), replace: true });
  const [filter] = useDebouncedValue(filterOf(search, of.fields), 250);
  const { sort } = search;
  const body = { ...(filter === undefined ? {} : { filter }), ...(sort ? { sort: [sort] } : {}), limit: MOST };
  const records = useQuery({
    queryKey: [{ _id: 'collectionQuery', collection: of.name, body }],
    queryFn: async (): Promise<Found> => {
      const { data, response } = await collectionQuery({ path: { collection: of.name }, body, throwOnError: true });
      return { list: data as ShownRecord[], isPartial: response.headers.get('x-ok-partial') === 'true' };
    },
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <>
      <Views collection={of.name} />
      <Filter of={of} search={search} set={set} />
      <Card flush>
        <Shown read={records} rows={8}>
          {({ list, isPartial }) => (
            <>
              {list.length === 0 ? <Empty icon="data" title="No record that you may read" /> : <Rows of={of} list={list} sort={sort} set={set} />}
              <Hidden names={hiddenOf(of)} />
              {isPartial && <p className={parts.cut}>Not all: of another system at most 5,000 rows are read, and rows that do not fit are left out. Filter to see others.</p>}
            </>
          )}
        </Shown>
      </Card>
    </>
  );
}

type Setting = { search: DataSearch; set: (next: DataSearch) => void };

function Filter({ of, search: { field, op, value = '' }, set }: { of: ShownCollection } & Setting) {
  const seen = Object.entries(of.fields).filter(([name, one]) => !of.withheld.includes(name) && one.label !== 'personal' && one.type !== 'json');
  const chosen = field ? of.fields[field] : undefined;
  const ways = chosen ? comparisons(chosen.type) : [];
  const choices = chosen?.type === 'flag' ? ['true', 'false'] : chosen?.options?.length ? chosen.options : undefined;
  return (
    <div className={parts.bar}>
      <Select aria-label="field" placeholder="Filter by a field" clearable data={seen.map(([name, one]) => ({ value: name, label: nameOf(name, one) }))} value={field ?? null} onChange={(next) => set({ field: next ?? undefined, op: undefined, value: undefined })} leftSection={<Icon name="search" size={14} />} />
      {chosen && ways.length > 1 && <Select aria-label="comparison" data={ways} value={op ?? ways[0]?.value ?? null} allowDeselect={false} onChange={(next) => set({ op: next ?? undefined })} />}
      {chosen && choices && <Select aria-label="value" placeholder="Any" clearable data={choices} value={value || null} onChange={(next) => set({ value: next ?? undefined })} />}
      {chosen && !choices && <TextInput aria-label="value" placeholder={chosen.type === 'date' ? '2026-01-31' : 'Value'} value={value} onChange={(event) => set({ value: event.currentTarget.value || undefined })} />}
    </div>
  );
}

function Rows({ of, list, sort, set }: { of: ShownCollection; list: ShownRecord[]; sort: string | undefined; set: (next: DataSearch) => void }) {
  const names = columnsOf(of.key, of.fields, of.withheld);
  const titles = useTitles(of, list);
  const columns = names.map((name) => column(of, name, sort, () => set({ sort: turned(sort, name) })));
  return (
    <Titles value={titles}>
      <Table columns={of.source ? columns : [...columns, 'Changed']}>
        {list.map((record) => (
          <tr key={record.id}>
            {names.map((name, at) => (
              <td key={name}>
                {at === 0 ? (
                  <Link to="/data/$collection/$id" params={{ collection: of.name, id: record.id }}>
                    {record.fields[name] === undefined ? record.id : <Value short value={record.fields[name]} field={{ type: 'text' }} />}
                  </Link>
                ) : (
                  record.withheld?.includes(name) ? <Withheld /> : <Value short value={record.fields[name]} field={of.fields[name]} />
                )}
              </td>
            ))}
            {!of.source && (
              <td className={parts.dim} style={{ whiteSpace: 'nowrap' }}>
                <When at={record.updated_at} />
              </td>
            )}
          </tr>
        ))}
      </Table>
      {list.length >= MOST && <p className={parts.cut}>The first {MOST} are shown: filter to see others.</p>}
    </Titles>
  );
}

function column(of: ShownCollection, name: string, sort: string | undefined, turn: () => void): Column {
  const field = of.fields[name];
  const label = nameOf(name, field);
  if (!field || !isOrdered(field.type) || field.label === 'personal') return label;
  const way = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const head = (
    <button type="button" className={css.sort} onClick={turn}>
      {label}
      {way !== 'none' && <Icon name="down" size={12} style={way === 'ascending' ? { transform: 'rotate(180deg)' } : undefined} />}
    </button>
  );
  return { name, head, sort: way };
}
