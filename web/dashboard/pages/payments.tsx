import { type ReactElement, useState } from 'react';
import { useAnswer } from '../asking.ts';
import { callPath } from '../client.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Icon } from '../kit/icon.tsx';
import { Money } from '../kit/money.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Pagination } from '../kit/pagination.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { NewPaymentDialog } from '../money/newPayment.tsx';
import { type Filters, filtersIn, PaymentFilters, pageSize, useSetFilter } from '../money/paymentFilters.tsx';
import { restMs, type ShownPayment, shown } from '../money/shownPayment.ts';
import { hrefIn, navigate, useEnvironment, usePlace } from '../place.ts';
import { useMay } from '../session.tsx';

const columns: readonly Column<ShownPayment>[] = [
  {
    head: 'Amount',
    cell: ({ id, amount, currency }) => (
      <Link to={`/payments/${id}`} className="row-link">
        <Money amount={amount} currency={currency} />
      </Link>
    ),
  },
  {
    head: 'Status',
    cell: ({ status, exception }) => (
      <span className="row">
        <StatusBadge status={status} />
        {exception && <StatusBadge status={exception} />}
      </span>
    ),
  },
  { head: 'Network', cell: ({ network }) => network },
  {
    head: 'Payment',
    cell: ({ id, description, externalId }) => (
      <span className="two-lines">
        <span>{description ?? externalId ?? <code>{id}</code>}</span>
        {(description ?? externalId) && <code className="muted">{id}</code>}
      </span>
    ),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, align: 'end' },
];

const CsvLink = ({ filters }: { filters: Filters }): ReactElement => {
  const environment = useEnvironment();
  return (
    <a
      className="button button-plain"
      href={callPath('/payments.csv', { query: filters, environment })}
      download={`payments-${environment}.csv`}
    >
      <Icon name="download" />
      Export CSV
    </a>
  );
};

export default function Payments(): ReactElement {
  const { query } = usePlace();
  const environment = useEnvironment();
  const [isCreating, setCreating] = useState(false);
  const [mayCreate, mayExport] = [useMay('payments.create'), useMay('payments.export')];
  const set = useSetFilter();
  const { filters, offset } = filtersIn(query);
  const networks = useAnswer('GET /networks');
  const page = useAnswer(
    'GET /payments',
    { query: { ...filters, limit: pageSize, offset } },
    { keepsPrevious: true, everyMs: () => restMs },
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Payments"
      actions={
        <>
          {mayExport &&
            (filters.search === undefined ? (
              <CsvLink filters={filters} />
            ) : (
              <p className="actions-note">A search is not exported. Clear it to export by the other filters.</p>
            ))}
          {mayCreate && (
            <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
              New payment
            </Button>
          )}
        </>
      }
    >
      <Card>
        <PaymentFilters networks={networks.data?.data ?? []} />
      </Card>
      <Card>
        <Answer of={page} lines={12}>
          {({ data, pagination }) =>
            data.length === 0 && pagination.total === 0 ? (
              <Empty title={isFiltered ? 'No payment matches' : 'No payments yet'}>
                {isFiltered
                  ? 'Search finds whole ids, addresses, transactions and externalIds.'
                  : 'They appear here as soon as your server asks for one.'}
              </Empty>
            ) : (
              <>
                <Table caption="Payments" rows={data.map(shown)} keyOf={({ id }) => id} columns={columns} />
                <Pagination {...pagination} what="payments" onMove={to => set('offset', to === 0 ? '' : String(to))} />
              </>
            )
          }
        </Answer>
      </Card>
      <NewPaymentDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onMade={({ id }) => navigate(hrefIn(environment, `/payments/${id}`))}
      />
    </Page>
  );
}
