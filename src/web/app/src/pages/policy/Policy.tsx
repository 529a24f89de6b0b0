import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { policyCheck, policyExportOptions, type Checked, type Exported, type Problem2 as Problem } from '../../api';
import { readSchema } from '../../cedar/schema';
import { useCan, useGuarded } from '../../parts/guard';
import { Icon } from '../../parts/icons';
import { Page } from '../../parts/Page';
import { many } from '../../parts/plain';
import { Cedar } from '../../parts/PolicyText';
import { Failed, Shown } from '../../parts/states';
import { Tag } from '../../parts/Verdict';
import { whenIdle } from '../../shell/idle';
import { applied, discard, useDraft, write, type Draft } from './draft';
import { byFolder, Files } from './Files';
import css from './policy.module.css';
import parts from '../../parts/parts.module.css';
import { Propose } from './Propose';
import { Tabs } from './Tabs';

/** The file is there to be read before the editor is, which is as large as all else together. */
const Editor = lazy(() => whenIdle(() => import('./Editor')));
/** As many lines as fill the tallest screen, until the editor takes over. */
const READ = 100;

export function Policy() {
  const exported = useGuarded('policy.export', { ...policyExportOptions(), staleTime: 30_000 });
  const draft = useDraft();
  const changed = Object.keys(draft.files).length;
  return (
    <Page
      title="Policy"
      lead={exported.data ? `Version ${exported.data.version} is in force.${changed > 0 ? ` Your draft changes ${changed} file${changed === 1 ? '' : 's'}.` : ''}` : 'The files that decide.'}
      actions={
        changed > 0 && exported.data ? (
          <>
            <Button variant="default" onClick={() => discarded(discard())}>
              Discard
            </Button>
            <Propose exported={exported.data} draft={draft} />
          </>
        ) : undefined
      }
    >
      <Tabs />
      <Shown read={exported} rows={8}>
        {(data) => <Work exported={data} draft={draft} />}
      </Shown>
    </Page>
  );
}

/** What the server says of the files as they would be, a moment after the last key. */
function useChecked(files: Record<string, string>, enabled: boolean) {
  const [settled] = useDebouncedValue(files, 350);
  const read = useQuery({
    queryKey: ['check', settled],
    queryFn: async ({ signal }) => (await policyCheck({ body: { files: settled }, signal, throwOnError: true })).data,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 30_000,
    retry: false,
    enabled,
  });
  // What was said of the text before the last key is not said of this one.
  return { ...read, isChecking: read.isFetching || settled !== files };
}

/** The parts of a file that its tests leave open. Where there are no tests, that is all of it, and goes without saying. */
const uncovered = (checked: Checked | undefined, file: string): Problem[] => (checked && checked.tests.run > 0 ? (checked.uncovered ?? []).filter((gap) => gap.file === file) : []);

function discarded(undo: () => void) {
  const id = notifications.show({
    message: (
      <>
        The draft was discarded.{' '}
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            undo();
            notifications.hide(id);
          }}
        >
          Undo
        </Button>
      </>
    ),
    autoClose: 15_000,
  });
}

function Work({ exported, draft }: { exported: Exported; draft: Draft }) {
  const search = useSearch({ from: '/policy' });
  const navigate = useNavigate();
  const files = useMemo(() => applied(exported.files, draft), [exported.files, draft]);
  const own = files['schema.cedarschema'] ?? '';
  const schema = useMemo(() => readSchema(exported.schema, own), [exported.schema, own]);
  const can = useCan('policy.check');
  const checked = useChecked(files, can?.decision === 'allow');
  // That tests were left out is told once, below.
  const problems = useMemo(() => [...(checked.data?.problems ?? []), ...(checked.data?.tests.failed ?? []).filter(({ code }) => code !== 'tests_left_out')], [checked.data]);
  const names = Object.keys(files).sort(byFolder);
  const file = search.file && (files[search.file] !== undefined || search.file in draft.files) ? search.file : (names.find((name) => name.endsWith('.cedar')) ?? names[0] ?? '');
  const go = (path: string, line?: number) => void navigate({ to: '/policy', search: { file: path, line } });
  const gaps = useMemo(() => uncovered(checked.data, file), [checked.data, file]);
  const here = useMemo(() => [...problems.filter((problem) => problem.file === file), ...gaps], [problems, gaps, file]);
  const [isListing, setListing] = useState(false);
  // Somebody may go for the text before the editor is there.
  const [isWanted, setWanted] = useState(false);
  return (
    <div className={css.work}>
      <Files names={names} file={file} draft={draft} problems={problems} go={go} base={exported.version} />
      <section className={`${parts.card} ${css.editor}`} aria-label="Editor">
        <div className={css.editorHead}>
          <code>{file}</code>
          {file in draft.files && <Tag tone="accent">changed</Tag>}
          {file in draft.files && (
            <Button size="compact-sm" variant="default" onClick={() => write(exported.version, file, exported.files[file] ?? null, exported.files[file])}>
              As in force
            </Button>
          )}
          {files[file] !== undefined && (
            <Button size="compact-sm" variant="default" onClick={() => write(exported.version, file, null, exported.files[file])}>
              Delete
            </Button>
          )}
        </div>
        {files[file] === undefined ? (
          <p style={{ padding: 'var(--s-5)' }}>The draft deletes this file.</p>
        ) : (
          <Suspense fallback={<Reading file={file} text={files[file]} line={search.line} wants={() => setWanted(true)} />}>
            <Editor file={file} text={files[file]} schema={schema} problems={here} line={search.line} readOnly={false} focus={isWanted} change={(text) => write(exported.version, file, text, exported.files[file])} />
          </Suspense>
        )}
        <Problems problems={isListing ? [...problems, ...gaps] : problems} go={go} />
        {checked.error ? <Failed error={checked.error} /> : can?.decision === 'deny' ? <p className={css.status}>Not checked: {can.reason}.</p> : <Status checked={checked.data} isChecking={checked.isChecking} gaps={gaps.length} isListing={isListing} list={() => setListing(!isListing)} />}
      </section>
    </div>
  );
}

/** A file until it can be edited: from the line that was asked for. */
function Reading({ file, text, line = 1, wants }: { file: string; text: string; line?: number; wants: () => void }) {
  const first = Math.max(1, line - 3);
  const all = text.split('\n');
  const lines = all.slice(first - 1, first - 1 + READ);
  return (
    <div className={css.reading} aria-busy="true" onPointerDown={wants}>
      <Cedar text={lines.join('\n')} first={first} label={`text of ${file}`} />
      {lines.length < all.length && <p className={css.status}>The editor shows all {all.length} lines; it is being loaded.</p>}
    </div>
  );
}

function Problems({ problems, go }: { problems: Problem[]; go: (path: string, line?: number) => void }) {
  if (problems.length === 0) return null;
  const sorted = [...problems].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error')).slice(0, 200);
  return (
    <div className={css.problems} role="log" aria-label="Problems">
      {sorted.map((problem, at) => (
        <button key={at} type="button" className={css.problem} data-severity={problem.severity} onClick={() => go(problem.file, problem.line)}>
          <Icon name={problem.severity === 'error' ? 'x' : 'alert'} size={14} />
          <span>
            {problem.message}
            {problem.help && <small>{problem.help}</small>}
          </span>
          <code>
            {problem.file}:{problem.line}
          </code>
        </button>
      ))}
    </div>
  );
}

/** A bundle whose tests are too many to run here is neither right nor wrong. */
function Verdict({ ok, isWrong, isUntested }: { ok: boolean; isWrong: boolean; isUntested: boolean }) {
  if (ok) {
    return (
      <Tag tone="allow" icon="check">
        can come into force
      </Tag>
    );
  }
  return isWrong ? (
    <Tag tone="deny" icon="x">
      has errors
    </Tag>
  ) : (
    <Tag tone="wait" icon="alert">
      {isUntested ? 'not fully tested' : 'has warnings'}
    </Tag>
  );
}

type Standing = { checked: Checked | undefined; isChecking: boolean; gaps: number; isListing: boolean; list: () => void };

function Status({ checked, isChecking, gaps, isListing, list }: Standing) {
  if (!checked) return <p className={css.status}>checking…</p>;
  const leftOut = checked.tests.failed.filter(({ code }) => code === 'tests_left_out').length;
  const failed = checked.tests.failed.length - leftOut;
  const errors = checked.problems.filter((problem) => problem.severity === 'error').length;
  return (
    <div className={css.status} role="status">
      {isChecking ? (
        <Tag icon="clock">checking…</Tag>
      ) : (
        <Verdict ok={checked.ok} isWrong={errors + failed > 0} isUntested={leftOut > 0} />
      )}
      {errors > 0 ? (
        <span>{errors === 1 ? '1 error' : `${errors} errors`}; the tests were not run</span>
      ) : (
        <>
          <span>{checked.policies} policies</span>
          <span>
            {checked.tests.run} tests, {failed === 0 ? 'all pass' : `${failed} fail`}
          </span>
          {leftOut > 0 && <span>the tests of {many(leftOut, 'file')} are too many to run here</span>}
        </>
      )}
      {checked.coverage !== null && <span>{checked.coverage} % of the policies’ parts are covered</span>}
      {gaps > 0 && (
        <button type="button" className={css.gaps} aria-expanded={isListing} onClick={list}>
          {gaps === 1 ? '1 part of this file is not' : `${gaps} parts of this file are not`}
        </button>
      )}
    </div>
  );
}
