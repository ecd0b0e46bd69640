import type { ReactElement } from 'react';
import type { QueryOf } from '../../../src/core/dashboard/dashboardApi.ts';
import type { PayableNetwork } from '../../../src/core/dashboard/moneyApi.ts';
import { exceptions, paymentStatuses } from '../../../src/core/payment/states.ts';
import { Button } from '../kit/button.tsx';
import { Field, Select } from '../kit/field.tsx';
import { Form, Submit } from '../kit/form.tsx';
import { replaceQuery, usePlace } from '../place.ts';

export type Filters = NonNullable<QueryOf<'GET /payments'>>;
export const pageSize = 25;
const names = ['search', 'status', 'exception', 'currency', 'network', 'from', 'to'] as const;

/** A day of the person's own calendar; both ends belong to it. */
const timeOf = (day: string, clock: string): string | undefined => {
  const atMs = Date.parse(`${day}T${clock}`);
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString();
};

/** The address is where they are kept: a link shows the same list, and going back goes back. */
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
  const { query } = usePlace();
  return (name, value) => {
    const next = new URLSearchParams(query);
    if (value === '') next.delete(name);
    else next.set(name, value);
    // Another list begins at its beginning.
    if (name !== 'offset') next.delete('offset');
    replaceQuery(next);
  };
};

const spoken = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const anyOf = (words: readonly string[], unfiltered: string): { value: string; label: string }[] => [
  { value: '', label: unfiltered },
  ...words.map(value => ({ value, label: spoken(value) })),
];

export const PaymentFilters = ({ networks }: { networks: readonly PayableNetwork[] }): ReactElement => {
  const { query } = usePlace();
  const set = useSetFilter();
  const currencies = [...new Set(networks.flatMap(each => each.currencies.map(({ symbol }) => symbol)))].sort();
  const choice = (name: string, label: string, options: { value: string; label: string }[]): ReactElement => (
    <Select
      label={label}
      value={query.get(name) ?? ''}
      onChange={event => set(name, event.target.value)}
      options={options}
    />
  );
  const day = (name: string, label: string): ReactElement => (
    <Field label={label} type="date" value={query.get(name) ?? ''} onChange={event => set(name, event.target.value)} />
  );
  const isFiltered = names.some(name => query.get(name));
  return (
    <div className="filters">
      <Form
        className="filter-search"
        label="Search"
        onSubmit={values => {
          set('search', values.text('search'));
        }}
      >
        <Field
          key={query.get('search') ?? ''}
          label="Search"
          name="search"
          type="search"
          defaultValue={query.get('search') ?? ''}
          placeholder="Id, address, transaction or externalId"
          spellCheck={false}
        />
        <Submit kind="plain">Search</Submit>
      </Form>
      <div className="filter-choices">
        {choice('status', 'Status', anyOf(paymentStatuses, 'Any'))}
        {choice('exception', 'Exception', anyOf(exceptions, 'Any or none'))}
        {choice('network', 'Network', [
          { value: '', label: 'Any' },
          ...networks.map(({ slug, name }) => ({ value: slug, label: name })),
        ])}
        {choice('currency', 'Currency', [
          { value: '', label: 'Any' },
          ...currencies.map(value => ({ value, label: value })),
        ])}
        {day('from', 'From')}
        {day('to', 'To')}
      </div>
      {isFiltered && (
        <Button isSmall onClick={() => replaceQuery(new URLSearchParams())}>
          Clear all filters
        </Button>
      )}
    </div>
  );
};
