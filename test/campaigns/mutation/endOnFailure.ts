import { configureGlobal } from 'fast-check';

/** Nobody reads the counterexample of a mutant: looking for a shorter one would take most of the time. */
configureGlobal({ endOnFailure: true });
