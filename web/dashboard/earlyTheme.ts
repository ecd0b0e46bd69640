import { keptTheme, showTheme } from './theme.ts';

// Runs before the first paint, so that a dark page does not begin with a white flash.
showTheme(keptTheme());
