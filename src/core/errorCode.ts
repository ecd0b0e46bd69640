/** The error's code: an errno name, a Node.js code or an SQLSTATE. Empty if it has none. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(codeOf(error));

export const errorWith = (code: string, message: string): Error => Object.assign(new Error(message), { code });
