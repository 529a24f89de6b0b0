import { modelReadOptions, type ShownModel } from '../../api';
import { useGuarded } from '../../parts/guard';
import { Card } from '../../parts/Page';
import { Empty, Shown } from '../../parts/states';
import { Table } from '../../parts/Table';
import { State } from '../../parts/Verdict';
import parts from '../../parts/parts.module.css';
import { Said } from '../../parts/Said';
import { grouped } from '../../parts/plain';

/** The models that agents may work with, as the server's settings name them. */
export function Models() {
  const models = useGuarded('model.read', { ...modelReadOptions(), staleTime: 60_000 });
  return (
    <Card flush title="Models">
      <Shown read={models} rows={2}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="key" title="No models">
              Set a provider's key, such as ANTHROPIC_API_KEY, or OK_LLM_CONFIG where the server starts. Until then agents follow plans.
            </Empty>
          ) : (
            <List list={list} />
          )
        }
      </Shown>
    </Card>
  );
}

function List({ list }: { list: ShownModel[] }) {
  return (
    <Table columns={['Model', 'State', 'Provider', 'Context', 'Capabilities', 'Price']}>
      {list.map((one) => (
        <tr key={one.id}>
          <td>
            <Said>{one.id}</Said>
            {one.default_for.length > 0 && <div className={parts.dim}>default for {one.default_for.join(', ')}</div>}
          </td>
          <td>
            <State state={one.available ? 'ready' : 'no key'} />
          </td>
          <td>
            <Said>{one.provider}</Said>
          </td>
          <td>{grouped(one.context)} tokens</td>
          <td>{one.capabilities.join(', ')}</td>
          <td title="Cents for a million tokens: read, written">
            {one.price_in} / {one.price_out}
          </td>
        </tr>
      ))}
    </Table>
  );
}
