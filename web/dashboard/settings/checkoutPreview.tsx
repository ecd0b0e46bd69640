import { type ReactElement, useEffect, useRef } from 'react';
import { type Shades, shadesOf } from '../../../src/core/accent.ts';
import type { Branding } from '../../../src/core/api/setupApi.ts';

/** The shades of a checkout without a brand colour. */
const plainShades: Readonly<Record<'light' | 'dark', Shades>> = {
  light: { accent: '#2450c8', onAccent: '#ffffff', soft: '#eef2fd' },
  dark: { accent: '#9dbbff', onAccent: '#0d1426', soft: '#20283a' },
};

const PreviewCard = ({
  scheme,
  name,
  logo,
  shades,
}: {
  scheme: 'light' | 'dark';
  name: string;
  logo: string | null;
  shades: Shades;
}): ReactElement => {
  const box = useRef<HTMLDivElement>(null);
  // Set by script, because the Content Security Policy forbids style attributes in markup.
  useEffect(() => {
    box.current?.style.setProperty('--preview-accent', shades.accent);
    box.current?.style.setProperty('--preview-on-accent', shades.onAccent);
    box.current?.style.setProperty('--preview-soft', shades.soft);
  }, [shades]);
  return (
    <figure className="preview" data-scheme={scheme}>
      <figcaption>{scheme === 'light' ? 'Light' : 'Dark'}</figcaption>
      <div className="preview-page" ref={box}>
        <div className="preview-card">
          <p className="preview-shop">
            {logo === null ? (
              <span className="preview-mark" aria-hidden="true">
                {[...name][0]?.toLocaleUpperCase() ?? '?'}
              </span>
            ) : (
              <img className="preview-logo" src={logo} alt="" />
            )}
            <bdi>{name}</bdi>
          </p>
          <p className="preview-sum">12.50 USDC</p>
          <p className="preview-muted">on Base · 14:32 left</p>
          <p className="preview-note">Waiting for the payment</p>
          <p className="preview-button">Pay with a wallet</p>
          <p className="preview-link">Show the details</p>
        </div>
      </div>
    </figure>
  );
};

/** A small checkout in light and dark, with the colours of the real one. */
export const CheckoutPreview = ({
  branding,
  accountName,
}: {
  branding: Branding;
  accountName: string;
}): ReactElement => {
  const shades = branding.accentColor === null ? plainShades : shadesOf(branding.accentColor);
  const name = branding.displayName || accountName;
  return (
    <div className="previews">
      {(['light', 'dark'] as const).map(scheme => (
        <PreviewCard key={scheme} scheme={scheme} name={name} logo={branding.logo} shades={shades[scheme]} />
      ))}
    </div>
  );
};
