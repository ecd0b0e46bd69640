import { type ReactElement, useId, useState } from 'react';
import type { QueryOf } from '../../../src/core/api/dashboardApi.ts';
import type { PayableNetwork } from '../../../src/core/api/moneyApi.ts';
import { paymentStatuses } from '../../../src/core/payment/states.ts';
import { Button } from '../kit/button.tsx';
import { Field, Select } from '../kit/field.tsx';
import { Form, Submit } from '../kit/form.tsx';
import { networkName } from '../kit/networkName.ts';
import { replaceQuery, usePageLocation } from '../pageLocation.ts';
import { issues } from './paymentBadges.tsx';

export type Filters = NonNullable<QueryOf<'GET /payments'>>;
export const pageSize = 25;
const names = ['search', 'status', 'exception', 'currency', 'network', 'from', 'to'] as const;

/** A time on a day in the viewer's time zone; undefined if the day is invalid. */
const timeOf = (day: string, clock: string): string | undefined => {
  const atMs = Date.parse(`${day}T${clock}`);
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString();
};

/** The filters are in the URL, so that a link shows the same list and Back returns to it. */
export const filtersIn = (query: URLSearchParams): { filters: Filters; offset: number } => {
  const given = Object.fromEntries(names.flatMap(name => (query.get(name) ? [[name, query.get(name)!]] : [])));
  const { from, to, ...rest } = given as Record<string, string>;
  const [fromTime, toTime] = [from && timeOf(from, '00:00:00.000'), to && timeOf(to, '23:59:59.999')];
  const offset = Number(query.get('offset') ?? 0);
  return {
    filters: { ...rest, ...(fromTime ? { from: fromTime } : {}), ...(toTime ? { to: toTime } : {}) },
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
};

export const useSetFilter = (): ((name: string, value: string) => void) => {
  const { query } = usePageLocation();
  return (name, value) => {
    const next = new URLSearchParams(query);
    if (value === '') next.delete(name);
    else next.set(name, value);
    // A changed filter starts at the first page.
    if (name !== 'offset') next.delete('offset');
    replaceQuery(next);
  };
};

const spoken = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const anyOr = (options: readonly { value: string; label: string }[]): { value: string; label: string }[] => [
  { value: '', label: 'Any' },
  ...options,
];

const Search = ({ text, onSearch }: { text: string; onSearch: (text: string) => void }): ReactElement => (
  <Form className="filter-search" label="Search" onSubmit={values => onSearch(values.text('search'))}>
    <Field
      key={text}
      label="Search"
      isLabelHidden
      name="search"
      type="search"
      defaultValue={text}
      maxLength={255}
      placeholder="Order, description, ID, address or transaction"
      spellCheck={false}
    />
    <Submit kind="plain">Search</Submit>
  </Form>
);

/** On phones a button opens the filters, so that the payments come first. */
export const PaymentFilters = ({ networks }: { networks: readonly PayableNetwork[] }): ReactElement => {
  const { query } = usePageLocation();
  const set = useSetFilter();
  const choicesId = useId();
  const [isOpen, setOpen] = useState(false);
  const currencies = [...new Set(networks.flatMap(each => each.currencies.map(({ symbol }) => symbol)))].sort();
  const choice = (name: string, label: string, options: { value: string; label: string }[]): ReactElement => (
    <Select
      label={label}
      value={query.get(name) ?? ''}
      onChange={event => set(name, event.target.value)}
      options={anyOr(options)}
    />
  );
  const day = (name: string, label: string): ReactElement => (
    <Field label={label} type="date" value={query.get(name) ?? ''} onChange={event => set(name, event.target.value)} />
  );
  const active = names.filter(name => name !== 'search' && query.get(name)).length;
  return (
    <div className="filters">
      <div className="filter-line">
        <Search text={query.get('search') ?? ''} onSearch={text => set('search', text)} />
        <div className="filter-toggle">
          <Button aria-expanded={isOpen} aria-controls={choicesId} onClick={() => setOpen(!isOpen)}>
            {active === 0 ? 'Filters' : `Filters (${active})`}
          </Button>
        </div>
      </div>
      <div id={choicesId} className={isOpen ? 'filter-choices is-open' : 'filter-choices'}>
        {choice(
          'status',
          'Status',
          paymentStatuses.map(value => ({ value, label: spoken(value) })),
        )}
        {choice('exception', 'Issue', [...issues])}
        {choice(
          'network',
          'Network',
          networks.map(({ slug }) => ({ value: slug, label: networkName(slug) })),
        )}
        {choice(
          'currency',
          'Currency',
          currencies.map(value => ({ value, label: value })),
        )}
        {day('from', 'Created from')}
        {day('to', 'Created to')}
      </div>
      {names.some(name => query.get(name)) && (
        <Button isSmall onClick={() => replaceQuery(new URLSearchParams())}>
          Clear filters
        </Button>
      )}
    </div>
  );
};
