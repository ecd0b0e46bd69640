import { afterAll } from 'vitest';
import { endFile } from './endOfFile.ts';

// Registered before those of the file itself, and so run after them.
afterAll(endFile);
