import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { knowledgeAccept, knowledgeListOptions, knowledgeReject, knowledgeRetract, knowledgeTextOptions, knowledgeUpload, type DocumentType, type ShownKnowledge } from '../../api';
import { Actor } from '../../parts/Actor';
import { Do, useAct } from '../../parts/act';
import { useGuarded } from '../../parts/guard';
import { Modal } from '../../parts/later';
import { Card } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import { When } from '../../parts/When';
import parts from '../../parts/parts.module.css';
import css from './data.module.css';
import { Said } from '../../parts/Said';

const STANDING = new Set<ShownKnowledge['status']>(['proposed', 'quarantined', 'accepted']);

/** What people and agents have learnt: first what waits for a decision, then what is recalled. */
export function Knowledge() {
  const knowledge = useGuarded('knowledge.list', knowledgeListOptions({ query: { limit: 200 } }));
  return (
    <Card flush title="Knowledge" aside={<Uploading />}>
      <Shown read={knowledge}>
        {(list) => {
          const standing = list.filter(({ status }) => STANDING.has(status));
          const [known, open] = [standing.filter(({ status }) => status === 'accepted'), standing.filter(({ status }) => status !== 'accepted')];
          return standing.length === 0 ? (
            <Empty icon="data" title="Nothing is known yet">
              Anybody proposes, somebody else accepts: <code>ok brain propose-knowledge</code>
            </Empty>
          ) : (
            <Table columns={['What', 'About', 'By', { hidden: 'actions' }]}>
              {[...open, ...known].map((entry) => (
                <Entry key={entry.id} of={entry} />
              ))}
            </Table>
          );
        }}
      </Shown>
    </Card>
  );
}

function Entry({ of }: { of: ShownKnowledge }) {
  return (
    <tr id={of.id}>
      <td>
        <Said>{of.statement ?? 'erased'}</Said> <State state={of.status} />
        {of.document && (
          <div className={parts.dim}>
            document, {of.document.chunks} {of.document.chunks === 1 ? 'passage' : 'passages'}
          </div>
        )}
        {of.status === 'quarantined' && (
          <div className={parts.dim}>
            quarantined: <Said>{of.reasons.join('; ')}</Said>
          </div>
        )}
        {(of.reference || of.origin === 'untrusted') && (
          <div className={parts.dim}>
            {of.origin === 'untrusted' ? 'from outside' : 'from'}
            {of.reference && (
              <>
                : <Said>{of.reference}</Said>
              </>
            )}
          </div>
        )}
      </td>
      <td>
        {of.topics.join(', ') || '–'}
        {of.scope && (
          <div className={parts.dim}>
            for <Actor id={of.scope} plain avatar={false} />
          </div>
        )}
      </td>
      <td>
        <Actor id={of.proposed_by} />
        <div className={parts.dim}>
          <When at={of.created_at} />
          {of.run && (
            <>
              {' '}
              in <Link to="/runs/$id" params={{ id: of.run }}>a run</Link>
            </>
          )}
        </div>
      </td>
      <td>
        {of.document && <Reading of={of} />}
        {of.status === 'accepted' ? <Retracting of={of} /> : !of.document && <Deciding of={of} />}
      </td>
    </tr>
  );
}

/** Picks a file and uploads it: it is read and indexed at once, and then waits for somebody else to accept it. */
function Uploading() {
  const { act, busy } = useAct();
  const input = useRef<HTMLInputElement>(null);
  const upload = async (file: File) => {
    const content_type = typeOf(file.name);
    if (!content_type) {
      notUploaded(`${file.name} is not one of ${Object.keys(TYPES).join(', ')}`);
      return;
    }
    if (file.size > MOST_BYTES) {
      notUploaded(`${file.name} is larger than 10 MiB`);
      return;
    }
    const body = { name: file.name, content_type, content_base64: packed(new Uint8Array(await file.arrayBuffer())) };
    await act((headers) => knowledgeUpload({ body, headers, throwOnError: true }), (entry) => `Uploaded and indexed: it is ${entry.status}`);
  };
  return (
    <>
      <Do op="knowledge.upload" input={{ name: 'x', content_type: 'text/plain', text: 'x' }} size="compact-sm" variant="default" loading={busy} onClick={() => input.current?.click()}>
        Upload a document
      </Do>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="document"
        accept={Object.keys(TYPES).join(',')}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (file) void upload(file);
        }}
      />
    </>
  );
}

/** The largest file that the server reads. */
const MOST_BYTES = 10 << 20;

const notUploaded = (message: string) => notifications.show({ color: 'red', title: 'Not uploaded', message });

const TYPES: Record<string, DocumentType> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

const typeOf = (name: string) => TYPES[name.slice(name.lastIndexOf('.')).toLowerCase()];

/** In Base64, piece by piece: a call takes only so many arguments. */
function packed(bytes: Uint8Array) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** The text of a document; one that waits for a decision is decided where its text is. */
function Reading({ of }: { of: ShownKnowledge }) {
  const [isOpen, setOpen] = useState(false);
  const waits = of.status !== 'accepted';
  return (
    <div className={parts.actions}>
      <Do late op="knowledge.text" target={of.id} variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        {waits ? 'Read and decide' : 'Read'}
      </Do>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={<Said>{of.statement ?? 'A document'}</Said>} size={800}>
        {isOpen && <Whole of={of} waits={waits} end={() => setOpen(false)} />}
      </Modal>
    </div>
  );
}

function Whole({ of, waits, end }: { of: ShownKnowledge; waits: boolean; end: () => void }) {
  const read = useQuery({ ...knowledgeTextOptions({ path: { id: of.id } }), retry: false });
  return (
    <div className={parts.stack}>
      {of.status === 'quarantined' && (
        <p role="alert">
          Quarantined: <Said>{of.reasons.join('; ')}</Said>
        </p>
      )}
      <Shown read={read}>{({ text }) => <pre className={css.document}>{text ?? 'It is erased.'}</pre>}</Shown>
      {waits && <Deciding of={of} end={end} />}
    </div>
  );
}

function Deciding({ of, end }: { of: ShownKnowledge; end?: () => void }) {
  const { act, busy } = useAct();
  const call = { path: { id: of.id }, body: { version: of.version }, throwOnError: true } as const;
  const accept = async () => {
    if (await act((headers) => knowledgeAccept({ ...call, headers }), 'Accepted: it is recalled from now on')) end?.();
  };
  const reject = async () => {
    if (await act((headers) => knowledgeReject({ ...call, headers }), 'Rejected')) end?.();
  };
  return (
    <div className={parts.actions}>
      <Do late op="knowledge.accept" target={of.id} size="compact-sm" loading={busy} onClick={() => void accept()}>
        Accept
      </Do>
      <Do late op="knowledge.reject" target={of.id} variant="default" size="compact-sm" loading={busy} onClick={() => void reject()}>
        Reject
      </Do>
    </div>
  );
}

function Retracting({ of }: { of: ShownKnowledge }) {
  const { act, busy } = useAct();
  const call = { path: { id: of.id }, body: { version: of.version }, throwOnError: true } as const;
  return (
    <div className={parts.actions}>
      <Do late op="knowledge.retract" target={of.id} variant="default" size="compact-sm" loading={busy} onClick={() => void act((headers) => knowledgeRetract({ ...call, headers }), 'Retracted: it is recalled no longer')}>
        Retract
      </Do>
    </div>
  );
}
