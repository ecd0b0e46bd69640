type Write = (fields: object, message: string) => void;

/**
 * The logger of every room. Messages are constant, values are fields, and no field is secret. An error about a record that
 * Florin did not write has the field `forged`, which names its table: metrics count these, and the log has each record once a
 * minute.
 */
export type Log = { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };

const nothing: Write = () => {};
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
