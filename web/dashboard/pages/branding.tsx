import { type ReactElement, useId, useState } from 'react';
import type { Branding as BrandingValues, Settings } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { Checkbox, Field } from '../kit/field.tsx';
import { Form, FormError, Submit, useFieldError } from '../kit/form.tsx';
import { Card, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { CheckoutPreview } from '../settings/checkoutPreview.tsx';
import { logoTypes, readLogo } from '../settings/logoFile.ts';

type Change = (part: Partial<BrandingValues>) => void;
const firstColor = '#2450c8';

const ColorField = ({ color, change }: { color: string | null; change: Change }): ReactElement => (
  <>
    <Checkbox
      label="Use your own colour"
      checked={color !== null}
      onChange={event => change({ accentColor: event.target.checked ? firstColor : null })}
      hint="The checkout uses the nearest shade that is easy to read, in light and in dark mode."
    />
    {color !== null && (
      <Field
        label="Colour"
        name="accentColor"
        type="color"
        value={color}
        onChange={event => change({ accentColor: event.target.value })}
        hint={<code>{color}</code>}
      />
    )}
  </>
);

const LogoField = ({ logo, change }: { logo: string | null; change: Change }): ReactElement => {
  const [problem, setProblem] = useState<string | null>(null);
  const refused = useFieldError('logo');
  const wrong = problem ?? refused;
  const id = useId();
  const take = async (input: HTMLInputElement): Promise<void> => {
    const file = input.files?.[0];
    if (!file) return;
    try {
      change({ logo: await readLogo(file) });
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    // Allows the same file to be chosen again after a change.
    input.value = '';
  };
  return (
    <div className="field">
      <label htmlFor={id}>Logo</label>
      <input
        id={id}
        name="logo"
        type="file"
        accept={logoTypes.join(',')}
        aria-describedby={`${id}-hint${wrong ? ` ${id}-error` : ''}`}
        aria-invalid={wrong ? true : undefined}
        onChange={event => void take(event.currentTarget)}
      />
      <p className="field-hint" id={`${id}-hint`}>
        A square PNG, JPEG or WebP picture, at most 64 KiB.
      </p>
      {wrong && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {wrong}
        </p>
      )}
      {logo !== null && (
        <div>
          <Button isSmall onClick={() => change({ logo: null })}>
            Remove logo
          </Button>
        </div>
      )}
    </div>
  );
};

const BrandingForm = ({ settings }: { settings: Settings }): ReactElement => {
  const [branding, setBranding] = useState(settings.branding);
  const save = useAct('PATCH /settings', { refresh: ['GET /settings'] });
  const mayManage = useMay('settings.manage');
  const change: Change = part => setBranding(current => ({ ...current, ...part }));
  return (
    <div className="branding">
      <Card title="Brand">
        <Form
          label="Brand"
          onSubmit={async () => {
            await save.mutateAsync({ body: { branding } });
            say('Saved. The checkout shows it from now on.');
          }}
        >
          <fieldset className="form" disabled={!mayManage}>
            <Field
              label="Display name"
              name="displayName"
              value={branding.displayName ?? ''}
              onChange={event => change({ displayName: event.target.value || null })}
              placeholder={settings.accountName}
              maxLength={200}
              hint="Payers see it on the checkout. Leave empty to use the account name."
            />
            <ColorField color={branding.accentColor} change={change} />
            <LogoField logo={branding.logo} change={change} />
          </fieldset>
          <FormError />
          {mayManage && (
            <Buttons>
              <Submit>Save</Submit>
              <Button onClick={() => setBranding(settings.branding)}>Discard changes</Button>
            </Buttons>
          )}
        </Form>
      </Card>
      <Card title="Preview" lead="How payers see the checkout, including unsaved changes.">
        <CheckoutPreview branding={branding} accountName={settings.accountName} />
      </Card>
    </div>
  );
};

const Branding = (): ReactElement => {
  const settings = useAnswer('GET /settings');
  return (
    <Page title="Branding" lead="How the checkout looks to payers. Test and live have separate branding.">
      <Answer of={settings} lines={8}>
        {shown => <BrandingForm settings={shown} />}
      </Answer>
    </Page>
  );
};

export default Branding;
