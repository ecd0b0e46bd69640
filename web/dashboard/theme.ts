/** The themes to choose from. `system` follows the device. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const place = 'florin.theme';

export const keptTheme = (): Theme => {
  try {
    const kept = localStorage.getItem(place);
    return themes.find(theme => theme === kept) ?? 'system';
  } catch {
    return 'system';
  }
};

export const showTheme = (theme: Theme): void => {
  document.documentElement.dataset.theme = theme;
};

export const keepTheme = (theme: Theme): void => {
  showTheme(theme);
  try {
    localStorage.setItem(place, theme);
  } catch {
    // Storage may be blocked. The theme is then used until the next reload.
  }
};
