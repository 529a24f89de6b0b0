import { Icon } from '../../parts/icons';
import { Said } from '../../parts/Said';
import css from './data.module.css';

/** Says that a table has columns which its reader may not see. */
export function Hidden({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <p className={css.hidden}>
      <Icon name="shield" size={14} />
      <span>
        {names.length === 1 ? 'One column is' : `${names.length} columns are`} withheld from you: <Said>{names.join(', ')}</Said>
      </span>
    </p>
  );
}
