import { queries } from '../api';
import { signOut } from '../session';

export function leave() {
  signOut('signed-out');
  queries.clear();
}
