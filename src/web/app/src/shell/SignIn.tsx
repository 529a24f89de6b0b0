import { Button, PasswordInput } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { queries } from '../api';
import { Mark } from '../parts/icons';
import { readToken, signIn, type Ended } from '../session';
import css from './shell.module.css';
import { entitle } from '../parts/visible';

const WHY: Record<Ended, string> = {
  never: 'Everything here happens in your name, by your token.',
  'signed-out': 'You are signed out. The token is no longer in this browser.',
  'bad-link': 'The link that you followed has no valid token: it may have been cut off. Copy all of it, or paste the token.',
  refused: 'The server no longer accepts your token: it has expired, was revoked, or is of another company. Sign in with another one.',
};

export default function SignIn({ ended }: { ended: Ended }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [ended]);
  useEffect(() => {
    entitle('Sign in');
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = readToken(text);
    if ('problem' in read) {
      field.current?.focus();
      return setProblem(read.problem);
    }
    queries.clear();
    signIn(read.token);
  };
  return (
    <main className={css.door}>
      <div>
        <Mark size={40} />
        <h1>Sign in to ok</h1>
        <p role={ended === 'refused' || ended === 'bad-link' ? 'alert' : undefined}>{WHY[ended]}</p>
        <form onSubmit={submit}>
          <PasswordInput
            label="Token"
            placeholder="ok_…"
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setProblem(undefined);
            }}
            error={problem}
            size="md"
            autoComplete="off"
            ref={field}
            spellCheck={false}
            visibilityToggleButtonProps={{ 'aria-label': 'show the token' }}
          />
          <Button type="submit" size="md">
            Sign in
          </Button>
        </form>
        <details>
          <summary>Where do I get a token?</summary>
          <p>From an admin, or on the machine of this server:</p>
          <pre>ok token issue --for YOUR-ID</pre>
          <p>It stays in the tabs of this browser in which you use the workspace, and is gone when you have closed them. It is never part of an address.</p>
        </details>
      </div>
    </main>
  );
}
