import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { policyApplied, policyDriftOptions, policyPropose, policyReadOptions, type AppliedVersion, type Drift, type LastApplied } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { FormDialog } from '../../parts/FormDialog';
import { useCan, useGuarded } from '../../parts/guard';
import { Card, Facts, Page } from '../../parts/Page';
import { Diff } from '../../parts/PolicyText';
import { Failed, Loading, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { Tag, type Tone } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import { Tabs } from './Tabs';

export function History() {
  return (
    <Page title="Policy" lead="Every version that was in force, and whether what is in force is what the repository declares.">
      <Tabs />
      <div className={parts.grid}>
        <Versions />
        <div className={parts.stack}>
          <DriftCard />
          <SourceCard />
        </div>
      </div>
    </Page>
  );
}

const PAGE = 50;

function Versions() {
  const can = useCan('policy.applied');
  const read = useInfiniteQuery({
    queryKey: [{ _id: 'policyAppliedAll' }],
    queryFn: async ({ pageParam }) => (await policyApplied({ query: { limit: PAGE, ...(pageParam ? { before: pageParam } : {}) }, throwOnError: true })).data,
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const oldest = last.earlier.at(-1)?.version ?? last.version;
      return last.earlier.length > 0 && oldest > 1 ? oldest : undefined;
    },
    enabled: can?.decision === 'allow',
    retry: false,
  });
  const [newest] = read.data?.pages ?? [];
  const all = newest ? once([first(newest), ...(read.data?.pages ?? []).flatMap(({ earlier }) => earlier)]) : [];
  return (
    <Card flush title="Versions">
      {can?.decision === 'deny' ? <Failed error={new Error(can.reason)} /> : read.error ? <Failed error={read.error} retry={() => void read.refetch()} /> : !newest ? <Loading /> : <VersionRows all={all} inForce={newest.version} />}
      {read.hasNextPage && (
        <div style={{ padding: 'var(--s-3)', textAlign: 'center' }}>
          <Button variant="default" loading={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
            Earlier versions
          </Button>
        </div>
      )}
    </Card>
  );
}

const first = ({ version, hash, by, at, change, proposal, commit }: LastApplied): AppliedVersion => ({ version, hash, by, at, change, proposal, commit });
const once = (all: AppliedVersion[]) => [...new Map(all.map((one) => [one.version, one])).values()];

/** Where a version came from that no change brought. */
function origin({ version, by }: AppliedVersion) {
  if (version === 1) return 'the start';
  return by === 'ok' ? 'a newer version of the server' : 'a change of collections';
}

function VersionRows({ all, inForce }: { all: AppliedVersion[]; inForce: number }) {
  return (
    <Table cards columns={['Version', 'By', 'When', 'With', { hidden: 'actions' }]}>
      {all.map((one) => (
        <tr key={one.version}>
          <td>
            <span className={parts.whole}>
              <strong>{one.version}</strong> <code className={parts.dim}>{one.hash.slice(0, 8)}</code>
            </span>
          </td>
          <td>
            <Actor id={one.by} />
          </td>
          <td className={parts.dim}>
            <When at={one.at} />
          </td>
          <td className={parts.sentence}>
            {one.change ? (
              <Link to="/policy/changes/$id" params={{ id: one.change }}>
                a change
              </Link>
            ) : (
              origin(one)
            )}
            {one.commit && (
              <>
                {' '}
                <code>{one.commit.slice(0, 10)}</code>
              </>
            )}
          </td>
          <td style={{ textAlign: 'right' }}>{one.version === inForce ? <Tag tone="allow" icon="check">in force</Tag> : <Back version={one.version} base={inForce} />}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Proposes an earlier version again; it takes the same way into force as any change. */
function Back({ version, base }: { version: number; base: number }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const navigate = useNavigate();
  const { act, busy } = useAct();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act((headers) => policyPropose({ body: { version, reason: reason.trim(), base_version: base }, headers, throwOnError: true }), 'Proposed');
    if (done) void navigate({ to: '/policy/changes/$id', params: { id: done.id } });
  };
  return (
    <>
      <Do op="policy.propose" variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        Roll back
      </Do>
      <FormDialog title={`Roll back to version ${version}`} isOpen={isOpen} close={() => setOpen(false)} submit={submit} action="Propose it" busy={busy}>
        <TextInput label="Why" value={reason} onChange={(event) => setReason(event.currentTarget.value)} required data-autofocus />
      </FormDialog>
    </>
  );
}

const DRIFTS: Record<Drift['status'], [Tone, string]> = {
  in_sync: ['allow', 'What is in force is what the repository declares.'],
  equivalent: ['allow', 'The text differs, but it decides alike.'],
  weaker: ['deny', 'What is in force allows more than the repository declares.'],
  stronger: ['wait', 'What is in force allows less than the repository declares.'],
  unmanaged: ['plain', 'No repository has declared anything: the policies are kept here.'],
};

function DriftCard() {
  const drift = useGuarded('policy.drift', policyDriftOptions());
  return (
    <Card title="Drift">
      <Shown read={drift} rows={2}>
        {(data) => {
          const [tone, text] = DRIFTS[data.status];
          return (
            <div className={parts.form}>
              <p>
                <Tag tone={tone}>{data.status.replace('_', ' ')}</Tag>
              </p>
              <p>
                {text} {data.waits && 'The newest declaration is still on its way into force.'}
              </p>
              {data.declared_change && (
                <Link to="/policy/changes/$id" params={{ id: data.declared_change }}>
                  What was declared last
                </Link>
              )}
              {(data.diff?.policies ?? []).map((one) => (
                <div key={one.id}>
                  <code>{one.id}</code> {one.change}
                  {one.diff && <Diff text={one.diff} label={`drift of ${one.id}`} />}
                </div>
              ))}
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}

function SourceCard() {
  const policy = useGuarded('policy.read', policyReadOptions());
  return (
    <Card title="Source">
      <Shown read={policy} rows={2}>
        {({ source, policies, files, mode }) => (
          <Facts
            of={[
              ['kept in', source.kind === 'workspace' ? 'this workspace' : 'a repository'],
              ...(source.url ? [['repository', <code key="u">{source.url}</code>] as [string, React.ReactNode]] : []),
              ...(source.ref ? [['branch', <code key="r">{source.ref}</code>] as [string, React.ReactNode]] : []),
              ['comes into force', source.auto ? 'by itself, where the policy permits it' : 'when somebody promotes it'],
              ['files', `${files.length}, ${policies} policies`],
              ['mode', mode],
            ]}
          />
        )}
      </Shown>
    </Card>
  );
}
