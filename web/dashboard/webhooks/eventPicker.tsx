import { type ReactElement, useState } from 'react';
import { Checkbox, RadioChoices, type RadioOption } from '../kit/field.tsx';
import type { Values } from '../kit/form.tsx';
import { eventText, pickableEvents } from './eventText.ts';

type Which = 'all' | 'some';
const scopes: readonly RadioOption<Which>[] = [
  {
    value: 'all',
    label: (
      <>
        All events <code className="muted">*</code>
      </>
    ),
    hint: 'Kinds that a later version of Florin adds are included.',
  },
  { value: 'some', label: 'Only some' },
];

/** `*` also stands for kinds that a later version adds. */
export const EventPicker = ({ chosen = ['*'] }: { chosen?: readonly string[] }): ReactElement => {
  const [which, setWhich] = useState<Which>(chosen.includes('*') ? 'all' : 'some');
  return (
    <>
      <RadioChoices legend="Events" name="which" options={scopes} chosen={which} onChoose={setWhich} />
      {which === 'some' && (
        <fieldset className="event-list">
          <legend className="quiet">Kinds of events</legend>
          {pickableEvents.map(name => (
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

export const pickedEvents = (values: Values): string[] => {
  if (values.text('which') === 'all') return ['*'];
  const events = values.all('events');
  if (events.length === 0) throw new Error('Choose at least one kind of event.');
  return events;
};
