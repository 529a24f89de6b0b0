import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from '../parts/Page';
import { Empty } from '../parts/states';

export function NotFound() {
  return (
    <Page title="Not here">
      <Empty icon="search" title="There is no such page" action={<Button component={Link} to="/" variant="default">Home</Button>}>
        The address may be mistyped, or from another version.
      </Empty>
    </Page>
  );
}
