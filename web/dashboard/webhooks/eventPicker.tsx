import { type ReactElement, useState } from 'react';
import { Checkbox, Choices, Radio } from '../kit/field.tsx';
import type { Values } from '../kit/form.tsx';
import { eventText, pickableEvents } from './eventText.ts';

/** `*` also stands for kinds that a later version adds. */
export const EventPicker = ({ chosen = ['*'] }: { chosen?: readonly string[] }): ReactElement => {
  const [isAll, setAll] = useState(chosen.includes('*'));
  return (
    <>
      <Choices legend="Events">
        <Radio
          name="which"
          value="all"
          checked={isAll}
          onChange={() => setAll(true)}
          label={
            <>
              All events <code className="muted">*</code>
            </>
          }
          hint="Kinds that a later version of Florin adds are included."
        />
        <Radio name="which" value="some" checked={!isAll} onChange={() => setAll(false)} label="Only some" />
      </Choices>
      {!isAll && (
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
