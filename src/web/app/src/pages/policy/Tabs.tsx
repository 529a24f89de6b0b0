import { Link } from '@tanstack/react-router';
import css from './policy.module.css';

export function Tabs() {
  return (
    <nav className={css.tabs} aria-label="Policy">
      <Link to="/policy" activeOptions={{ exact: true, includeSearch: false }}>
        Files
      </Link>
      <Link to="/policy/changes">Changes</Link>
      <Link to="/policy/history">History</Link>
    </nav>
  );
}
