import { inject } from 'vitest';

/** How often a generated test is repeated: `few` in `npm test`, `all` in `npm run test:all`. */
export const rounds = (few: number, all: number): number => (inject('isThorough') ? all : few);
