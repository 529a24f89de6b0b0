import type { ShownCollection, ShownRecord } from '../../api';

/** What people call a record: its key. */
export function titleOf(record: ShownRecord, of: Pick<ShownCollection, 'key'> | undefined): string {
  const key = (of?.key ?? []).map((name) => record.fields[name]).filter((value) => typeof value === 'string' || typeof value === 'number');
  return key.join(' · ') || record.id;
}
