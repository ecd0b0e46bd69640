import { type ReactElement, useEffect, useState } from 'react';
import type { Payment } from '../../../src/core/api/payment.ts';
import { callPath } from '../client.ts';
import { Button } from '../kit/button.tsx';
import { Icon } from '../kit/icon.tsx';
import { groupedAmount, Money } from '../kit/money.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card, Page } from '../kit/page.tsx';
import { Pagination } from '../kit/pagination.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Link } from '../link.tsx';
import { keepList } from '../money/lastList.ts';
import { NewPaymentDialog } from '../money/newPayment.tsx';
import { restMs } from '../money/openPayment.ts';
import { PaymentBadges } from '../money/paymentBadges.tsx';
import { type Filters, filtersIn, PaymentFilters, pageSize, useSetFilter } from '../money/paymentFilters.tsx';
import { nameOf } from '../money/paymentText.ts';
import { hrefIn, navigate, useEnvironment, usePageLocation } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const columns: readonly Column<Payment>[] = [
  {
    head: 'Amount',
    cell: payment => (
      // The link covers the whole row. In screen readers, its label tells payments of the same amount apart.
      <Link
        to={`/payments/${payment.id}`}
        className="row-link"
        aria-label={`${groupedAmount(payment.amount)} ${payment.currency}, ${nameOf(payment)}`}
      >
        <Money amount={payment.amount} currency={payment.currency} />
      </Link>
    ),
  },
  { head: 'Status', cell: payment => <PaymentBadges payment={payment} /> },
  { head: 'Order', cell: ({ externalId }) => <span className="clamped">{externalId ?? '—'}</span> },
  {
    head: 'Description',
    cell: ({ id, description }) => (
      <span className="two-lines">
        {description !== null && <span className="clamped">{description}</span>}
        <code className="muted">{id}</code>
      </span>
    ),
  },
  { head: 'Network', cell: ({ network }) => networkName(network) },
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

const NoPayments = ({ filters }: { filters: Filters }): ReactElement => {
  if (Object.keys(filters).length === 0)
    return <Empty title="No payments yet">Payments appear here when your server creates them.</Empty>;
  return (
    <Empty title="No matching payments">
      {filters.search === undefined
        ? 'Change or clear the filters.'
        : 'Search looks for part of an order ID, description or metadata value in the newest 10,000 payments. IDs, addresses and transactions must be complete.'}
    </Empty>
  );
};

const List = ({ filters, offset }: { filters: Filters; offset: number }): ReactElement => {
  const set = useSetFilter();
  const page = useAnswer(
    'GET /payments',
    { query: { ...filters, limit: pageSize, offset } },
    { keepsPrevious: true, everyMs: () => restMs },
  );
  return (
    <Answer of={page} lines={12}>
      {({ data, pagination, searched }) => (
        <>
          {data.length === 0 && pagination.total === 0 ? (
            <NoPayments filters={filters} />
          ) : (
            <>
              <Table caption="Payments" rows={data} keyOf={({ id }) => id} columns={columns} />
              <Pagination {...pagination} what="payments" onMove={to => set('offset', to === 0 ? '' : String(to))} />
            </>
          )}
          {searched !== null && (
            <p className="muted">
              Searched the newest {groupedAmount(String(searched))} payments. Choose dates to search older ones.
            </p>
          )}
        </>
      )}
    </Answer>
  );
};

const Payments = (): ReactElement => {
  const { query } = usePageLocation();
  const environment = useEnvironment();
  const [isCreating, setCreating] = useState(false);
  const [mayCreate, mayExport] = [useMay('payments.create'), useMay('payments.export')];
  const { filters, offset } = filtersIn(query);
  const networks = useAnswer('GET /networks');
  const kept = query.toString();
  useEffect(() => keepList(environment, new URLSearchParams(kept)), [environment, kept]);
  return (
    <Page
      title="Payments"
      actions={
        <>
          {mayExport &&
            (filters.search === undefined ? (
              <CsvLink filters={filters} />
            ) : (
              <p className="actions-note">Search results cannot be exported. Clear the search to export.</p>
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
        <List filters={filters} offset={offset} />
      </Card>
      <NewPaymentDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onMade={({ id }) => navigate(hrefIn(environment, `/payments/${id}`))}
      />
    </Page>
  );
};

export default Payments;
