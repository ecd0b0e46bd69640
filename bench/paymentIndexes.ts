/** An index of payments with the statements that remove and create it. */
export type PaymentIndex = { readonly name: string; readonly removal: string; readonly definition: string };

/** All but the primary key. The index of a constraint is removed and created with the constraint. */
export const paymentIndexes = `select indexrelid::regclass::text as name,
    case when c.oid is null then format('drop index %s', indexrelid::regclass)
      else format('alter table payments drop constraint %I', c.conname) end as removal,
    case when c.oid is null then pg_get_indexdef(indexrelid)
      else format('alter table payments add constraint %I %s', c.conname, pg_get_constraintdef(c.oid)) end as definition
  from pg_index left join pg_constraint c on c.conindid = indexrelid and c.contype = 'x'
  where indrelid = 'payments'::regclass and not indisprimary`;
