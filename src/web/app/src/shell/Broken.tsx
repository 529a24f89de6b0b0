import { Button } from '@mantine/core';
import { Page } from '../parts/Page';
import { Failed } from '../parts/states';

export function Broken({ error, reset }: { error: unknown; reset?: () => void }) {
  // After an update of the server, the parts of a page that was open before are no longer there.
  const isOld = error instanceof Error && /dynamically imported module|Importing a module/i.test(error.message);
  return (
    <Page title={isOld ? 'There is a newer workspace' : 'This page broke'}>
      {isOld ? <p>The server was updated, or does not answer. Load the page again.</p> : <Failed error={error} retry={reset} />}
      <Button mt="md" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Page>
  );
}
