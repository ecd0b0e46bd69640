import type { ReactElement, ReactNode } from 'react';
import type { BodyOf } from '../../../src/core/api/dashboardApi.ts';
import type { Settings } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { Field, RadioChoices, type RadioOption, TextArea } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { Card } from '../kit/page.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

type Change = BodyOf<'PATCH /settings'>;

/** A card with its own Save button. People who may not change settings see them read-only. */
const Section = ({
  title,
  lead,
  changeOf,
  children,
}: {
  title: string;
  lead: string;
  changeOf: (values: Values) => Change;
  children: ReactNode;
}): ReactElement => {
  const change = useAct('PATCH /settings', { refresh: ['GET /settings', 'GET /session'] });
  const mayManage = useMay('settings.manage');
  return (
    <Card title={title} lead={lead}>
      <Form
        label={title}
        onSubmit={async values => {
          await change.mutateAsync({ body: changeOf(values) });
          say('Saved.');
        }}
      >
        <fieldset className="form narrow-form" disabled={!mayManage}>
          {children}
        </fieldset>
        <FormError />
        {mayManage && (
          <Buttons>
            <Submit>Save</Submit>
          </Buttons>
        )}
      </Form>
    </Card>
  );
};

export const AccountSection = ({ settings }: { settings: Settings }): ReactElement => (
  <Section
    title="Account"
    lead="Payers see this name unless Branding sets another one. It is the same for test and live."
    changeOf={values => ({ accountName: values.text('accountName') })}
  >
    <Field label="Account name" name="accountName" defaultValue={settings.accountName} maxLength={200} required />
  </Section>
);

const wholeNumber = (values: Values, name: string): number => Number(values.text(name));

type LateChoice = NonNullable<Settings['latePolicy']> | 'automatic';
const latePolicies: readonly RadioOption<LateChoice>[] = [
  {
    value: 'automatic',
    label: 'Automatic (tokens: accept, coins: ask)',
    hint: 'Late tokens are accepted. The price of a coin may have changed since, so a person decides about late coins.',
  },
  {
    value: 'accept',
    label: 'Always accept it',
    hint: 'Within the window below, the payment is completed and marked as late. After that, a person decides. A late payer of a coin can wait until its price has fallen.',
  },
  {
    value: 'manual',
    label: 'Review it by hand',
    hint: 'The payment stays expired and is marked as late until somebody accepts it.',
  },
];

const policyOf = (choice: LateChoice): Settings['latePolicy'] => (choice === 'automatic' ? null : choice);

export const PaymentSection = ({ settings }: { settings: Settings }): ReactElement => (
  <Section
    title="Payments"
    lead="A change applies to new payments only. Each payment keeps the settings it was created with."
    changeOf={values => ({
      tolerancePercent: values.text('tolerancePercent'),
      latePolicy: policyOf(values.text('latePolicy') as LateChoice),
      lateWindowDays: wholeNumber(values, 'lateWindowDays'),
    })}
  >
    <Field
      label="Tolerance (percent)"
      name="tolerancePercent"
      inputMode="decimal"
      defaultValue={settings.tolerancePercent}
      hint="How much less than the amount still counts as paid, from 0 to 5. With 1, a payment of 100 is completed at 99."
      required
    />
    <RadioChoices
      legend="Money that arrives after a payment expired"
      name="latePolicy"
      options={latePolicies}
      chosen={settings.latePolicy ?? 'automatic'}
    />
    <Field
      label="Late payment window (days)"
      name="lateWindowDays"
      type="number"
      min={0}
      max={3650}
      step={1}
      defaultValue={settings.lateWindowDays}
      hint="How long after expiry a late payment is accepted automatically. Later money is still detected and shown."
      required
    />
  </Section>
);

const linesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export const CheckoutSection = ({ settings }: { settings: Settings }): ReactElement => (
  <Section
    title="Checkout"
    lead="The page that payers see."
    changeOf={values => ({
      checkoutOrigins: linesIn(values.text('checkoutOrigins')),
      supportContact: values.text('supportContact') || null,
    })}
  >
    <TextArea
      label="Sites that may embed the checkout"
      name="checkoutOrigins"
      rows={3}
      spellCheck={false}
      defaultValue={settings.checkoutOrigins.join('\n')}
      placeholder="https://shop.example"
      hint="One origin per line, at most 20. Leave empty to allow none. Links to the checkout always work."
    />
    <Field
      label="Support contact"
      name="supportContact"
      defaultValue={settings.supportContact ?? ''}
      maxLength={300}
      placeholder="help@shop.example"
      hint="An email address or an https page. Payers see it when a payment has a problem. Optional."
    />
  </Section>
);
