import { queries } from '../api';
import { forgetUnsent } from '../parts/unsent';
import { signOut } from '../session';

export function leave() {
  forgetUnsent();
  signOut('signed-out');
  queries.clear();
}
