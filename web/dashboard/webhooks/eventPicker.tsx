import { type ReactElement, useState } from 'react';
import { eventText } from '../../../src/core/payment/eventText.ts';
import { type EventType, eventTypes } from '../../../src/core/payment/states.ts';
import { Checkbox, RadioChoices, type RadioOption } from '../kit/field.tsx';
import type { Values } from '../kit/form.tsx';

type Which = 'all' | 'some';
const scopes: readonly RadioOption<Which>[] = [
  {
    value: 'all',
    label: (
      <>
        All events <code className="muted">*</code>
      </>
    ),
    hint: 'All events of payments, also types that a later version of Florin adds. Security events must be selected.',
  },
  { value: 'some', label: 'Selected events' },
];

/** Test events are sent on request, so nobody subscribes to them. */
const pickable = eventTypes.filter(name => name !== 'webhook.test');

/** `*` also covers event types that a later version adds. */
export const EventPicker = ({ chosen = ['*'] }: { chosen?: readonly string[] }): ReactElement => {
  const [which, setWhich] = useState<Which>(chosen.includes('*') ? 'all' : 'some');
  return (
    <>
      <RadioChoices legend="Events" name="which" options={scopes} chosen={which} onChoose={setWhich} />
      {which === 'some' && (
        <fieldset className="event-list">
          <legend className="quiet">Event types</legend>
          {pickable.map(name => (
            <Checkbox
              key={name}
              name="events"
              value={name}
              defaultChecked={chosen.includes(name)}
              label={<code>{name}</code>}
              hint={eventText[name]}
            />
          ))}
        </fieldset>
      )}
    </>
  );
};

export const pickedEvents = (values: Values): ('*' | EventType)[] => {
  if (values.text('which') === 'all') return ['*'];
  const events = values.all('events') as EventType[];
  if (events.length === 0) throw new Error('Choose at least one event type.');
  return events;
};
