import type { ReactElement, ReactNode } from 'react';
import type { BodyOf } from '../../../src/core/dashboard/dashboardApi.ts';
import type { Settings } from '../../../src/core/dashboard/setupApi.ts';
import { useAct } from '../asking.ts';
import { say } from '../kit/announce.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { Field, RadioChoices, type RadioOption, TextArea } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { Card } from '../kit/page.tsx';
import { useMay } from '../session.tsx';

type Change = BodyOf<'PATCH /settings'>;

/** A card that saves by itself. Who may not change settings sees them and cannot type. */
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
    lead="The name is shown to payers unless branding has another one. It is the same for test and live."
    changeOf={values => ({ accountName: values.text('accountName') })}
  >
    <Field label="Account name" name="accountName" defaultValue={settings.accountName} maxLength={200} required />
  </Section>
);

const wholeNumber = (values: Values, name: string): number => Number(values.text(name));

const latePolicies: readonly RadioOption<Settings['latePolicy']>[] = [
  {
    value: 'accept',
    label: 'Accept it',
    hint: 'Within the window below the payment is completed and marked as late. After it, a person decides.',
  },
  {
    value: 'manual',
    label: 'Let a person decide',
    hint: 'The payment stays expired and is marked as late, until somebody accepts the money.',
  },
];

export const PaymentSection = ({ settings }: { settings: Settings }): ReactElement => (
  <Section
    title="Payments"
    lead="Each payment keeps the terms that it was created with. A change touches new payments only."
    changeOf={values => ({
      tolerancePercent: values.text('tolerancePercent'),
      latePolicy: values.text('latePolicy') as Settings['latePolicy'],
      lateWindowDays: wholeNumber(values, 'lateWindowDays'),
    })}
  >
    <Field
      label="Tolerance in percent"
      name="tolerancePercent"
      inputMode="decimal"
      defaultValue={settings.tolerancePercent}
      hint="How much less than the amount still counts as paid, from 0 to 5. With 1, a payment of 100 is complete at 99."
      required
    />
    <RadioChoices
      legend="Money that arrives after a payment has expired"
      name="latePolicy"
      options={latePolicies}
      chosen={settings.latePolicy}
    />
    <Field
      label="Window in days"
      name="lateWindowDays"
      type="number"
      min={0}
      max={3650}
      step={1}
      defaultValue={settings.lateWindowDays}
      hint="For how long after its end a payment accepts late money by itself. Money is noticed for ever."
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
      label="Sites that may show the checkout inside their own pages"
      name="checkoutOrigins"
      rows={3}
      spellCheck={false}
      defaultValue={settings.checkoutOrigins.join('\n')}
      placeholder="https://shop.example"
      hint="One origin a line, at most 20. Empty: no site may put it into a frame. A link to the checkout always works."
    />
    <Field
      label="Support contact"
      name="supportContact"
      defaultValue={settings.supportContact ?? ''}
      maxLength={300}
      placeholder="help@shop.example"
      hint="An e-mail address or a https page. Payers see it where money is stuck. Empty: none."
    />
  </Section>
);
