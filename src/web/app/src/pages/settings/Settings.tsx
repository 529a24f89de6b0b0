import { Card, Page } from '../../parts/Page';
import { Shown } from '../../parts/states';
import { useCompany } from '../../shell/useMe';
import { Company } from './Company';
import { Models } from './Models';
import { Webhooks } from './Webhooks';
import parts from '../../parts/parts.module.css';

export function Settings() {
  const company = useCompany();
  return (
    <Page title="Settings">
      <div className={parts.stack}>
        <Card title="Company">
          <Shown read={company} rows={5}>
            {(data) => <Company company={data} />}
          </Shown>
        </Card>
        <Models />
        <Webhooks />
      </div>
    </Page>
  );
}
