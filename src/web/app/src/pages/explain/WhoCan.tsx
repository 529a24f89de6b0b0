import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isRefused, policyWhoCan } from '../../api';
import { Actor } from '../../parts/Actor';
import { useCan } from '../../parts/guard';
import { Card } from '../../parts/Page';
import { Empty, Failed, Loading, sentence } from '../../parts/states';
import { Table } from '../../parts/Table';
import { Tag, Verdict } from '../../parts/Verdict';
import parts from '../../parts/parts.module.css';

/** Everybody who may do something, of those whose decisions the reader may have explained. */
export function WhoCan({ op, target }: { op?: string; target?: string }) {
  // Asking for what one may not ask would be recorded as a refusal.
  const can = useCan('policy.who_can');
  const read = useInfiniteQuery({
    queryKey: [{ _id: 'policyWhoCan', op, target }],
    queryFn: async ({ pageParam }) => {
      const { data, response } = await policyWhoCan({ query: { op: op ?? '', limit: 100, ...(target ? { target } : {}), ...(pageParam ? { cursor: pageParam } : {}) }, throwOnError: true });
      return { data, next: response.headers.get('x-next-cursor') };
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled: !!op && !!can && can.decision !== 'deny',
    retry: false,
  });
  if (!op) return <Empty icon="people" title="Who can?">Choose an operation, and what it would be about.</Empty>;
  // It depends on what it would be about, and that is not said yet.
  if (!target && (isRefused(read.error, 422) || isRefused(read.error, 400))) return <Empty icon="people" title="About what?">{sentence(read.error)}</Empty>;
  if (can?.decision === 'deny') return <Empty icon="shield" title="You may not ask who can do something">{sentence(new Error(can.reason))}</Empty>;
  if (read.error) return <Failed error={read.error} retry={() => void read.refetch()} />;
  if (!read.data) return <Loading rows={5} />;
  const all = read.data.pages.flatMap(({ data }) => data);
  return (
    <Card
      flush
      title={
        <>
          Who can <code>{op}</code>
          {target && (
            <>
              {' '}
              about <code>{target}</code>
            </>
          )}
        </>
      }
      aside={<span className={parts.dim}>{all.length}</span>}
    >
      {all.length === 0 ? (
        <Empty icon="x" title="Nobody whose decisions you may have explained">
          Others may still be able to.
        </Empty>
      ) : (
        <Table columns={['Who', 'Answer', 'Takes approval of', { hidden: 'why' }]}>
          {all.map((one) => (
            <tr key={one.actor}>
              <td>
                <Actor id={one.actor} />
              </td>
              <td>
                <Verdict decision={one.decision} />
              </td>
              <td>
                {one.approvals.map((kind) => (
                  <Tag key={kind} tone="wait">
                    {kind}
                  </Tag>
                ))}
              </td>
              <td>
                <Link to="/explain" search={{ actor: one.actor, op, target }}>
                  Why?
                </Link>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {read.hasNextPage && (
        <div style={{ padding: 'var(--s-3)', textAlign: 'center' }}>
          <Button variant="default" loading={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
            More
          </Button>
        </div>
      )}
    </Card>
  );
}
