/** The name of each column, with its type in SQL and how its value is read from a row. */
export type Fields<R> = Readonly<Record<string, readonly [type: string, read: (row: R) => unknown]>>;

export const namesOf = (fields: Fields<never>): string => Object.keys(fields).join(', ');

/** For an update: `name = alias.name, …`. */
export const assignments = (fields: Fields<never>, alias: string): string =>
  Object.keys(fields)
    .map(name => `${name} = ${alias}.${name}`)
    .join(', ');

export type Columns<R> = {
  /** The rows as a table: `unnest($1::text[], …) as alias(name, …)`. */
  rows(alias: string): string;
  /** The call of `unnest` and the names, for a statement that adds `with ordinality`. */
  readonly unnest: string;
  readonly names: string;
  /** The parameter of one column. */
  array(name: string): string;
  /** The number of the first parameter after the columns. */
  readonly next: number;
  /** The values of the parameters: an array for each column. */
  values(rows: readonly R[]): unknown[][];
};

/**
 * Rows that a statement takes as parameters, one array for each column. A column is named once, so that its name, type
 * and values cannot get out of step. `first` is the number of the first parameter. `hidesLength` hides the length of the
 * first array from the planner, which would otherwise plan every batch again.
 */
export const columns = <R>(
  fields: Fields<R>,
  { first = 1, hidesLength = false }: { first?: number; hidesLength?: boolean } = {},
): Columns<R> => {
  const names = namesOf(fields);
  const reads = Object.values(fields).map(([, read]) => read);
  const arrays = new Map(Object.entries(fields).map(([name, [type]], at) => [name, `$${first + at}::${type}[]`]));
  const [firstArray, ...others] = [...arrays.values()];
  const unnest = `unnest(${[hidesLength ? `(select ${firstArray})` : firstArray, ...others].join(', ')})`;
  return {
    rows: alias => `${unnest} as ${alias}(${names})`,
    unnest,
    names,
    array(name) {
      const array = arrays.get(name);
      if (array === undefined) throw new Error(`no column ${name}`);
      return array;
    },
    next: first + arrays.size,
    values: rows => reads.map(read => rows.map(read)),
  };
};
