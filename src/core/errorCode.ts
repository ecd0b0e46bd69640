/** The code an error carries: an errno name, one of Node's own, or an SQLSTATE. Empty where there is none. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(codeOf(error));
