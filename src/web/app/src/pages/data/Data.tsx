import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { collectionListOptions, searchOptions, type SearchHit, type ShownCollection } from '../../api';
import { useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Card, Page } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import parts from '../../parts/parts.module.css';
import { isWord, nameOf } from './filter';
import { whereIs } from './hit';
import { Knowledge } from './Knowledge';
import { Proposals } from './Proposals';
import { Views } from './View';
import { Said } from '../../parts/Said';

export function Data() {
  const { q = '' } = useSearch({ from: '/data' });
  const navigate = useNavigate();
  const set = (text: string) => void navigate({ to: '/data', search: { q: text || undefined }, replace: true });
  return (
    <Page title="Data" lead="The company’s own records and what it knows, as far as the policies let you read them.">
      <div className={parts.bar}>
        <TextInput placeholder="Words in records, knowledge and tasks" aria-label="search the data" value={q} onChange={(event) => set(event.currentTarget.value)} leftSection={<Icon name="search" size={14} />} />
      </div>
      <div className={parts.stack}>
        {q.trim() !== '' && <Hits q={q} />}
        <Views />
        <Collections />
        <Proposals />
        <Knowledge />
      </div>
    </Page>
  );
}

function Hits({ q }: { q: string }) {
  const [words] = useDebouncedValue(q, 250);
  const hits = useQuery({ ...searchOptions({ query: { q: words.slice(0, 200), limit: 50 } }), enabled: isWord(words), retry: false });
  if (!isWord(words)) return <Card><Empty icon="search" title="Type a word" /></Card>;
  return (
    <Card flush title="Found">
      <Shown read={hits}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="search" title="Nothing that you may read has these words" />
          ) : (
            <Table columns={['What', 'Where', 'Text']}>
              {list.map((hit) => (
                <tr key={hit.id}>
                  <td>
                    <HitLink hit={hit} />
                  </td>
                  <td className={parts.dim}>{hit.collection ?? hit.kind}</td>
                  <td>
                    <Said>{hit.snippet}</Said>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
    </Card>
  );
}

function HitLink({ hit }: { hit: SearchHit }) {
  return (
    <Link {...whereIs(hit)}>
      <Said>{hit.title || hit.id}</Said>
    </Link>
  );
}

function Collections() {
  const collections = useGuarded('collection.list', collectionListOptions());
  return (
    <Card flush title="Collections">
      <Shown read={collections}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="data" title="No collections yet">
              A steward makes one: <code>ok schema propose</code>
            </Empty>
          ) : (
            <Table columns={['Name', 'Fields', 'Key']}>
              {list.map((one) => (
                <Row key={one.name} of={one} />
              ))}
            </Table>
          )
        }
      </Shown>
    </Card>
  );
}

function Row({ of }: { of: ShownCollection }) {
  return (
    <tr>
      <td>
        <Link to="/data/$collection" params={{ collection: of.name }}>
          <Said>{of.title || of.name}</Said>
        </Link>
        {of.title && <div className={parts.dim}>{of.name}</div>}
      </td>
      <td>
        <Said>
          {Object.entries(of.fields)
            .map(([name, field]) => nameOf(name, field))
            .join(', ')}
        </Said>
        {of.withheld.length > 0 && <div className={parts.dim}>withheld from you: {of.withheld.join(', ')}</div>}
      </td>
      <td>{of.key.join(', ') || '–'}</td>
    </tr>
  );
}
