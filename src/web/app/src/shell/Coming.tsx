import { Loading } from '../parts/states';
import parts from '../parts/parts.module.css';

/** Stands where a page will, while its script takes long to come. */
export function Coming() {
  return (
    <div className={parts.page}>
      <div className={parts.card}>
        <Loading rows={6} what="the page is loading" />
      </div>
    </div>
  );
}
