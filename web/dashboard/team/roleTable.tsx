import type { ReactElement } from 'react';
import { actions, mayDo, roles } from '../../../src/core/access/rights.ts';
import { Icon } from '../kit/icon.tsx';
import { Card } from '../kit/page.tsx';
import { roleNames } from '../roleNames.ts';
import { actionText } from './actionText.ts';

/** The server enforces the same table. On narrow screens, each action lists the roles that may do it. */
export const RoleTable = (): ReactElement => (
  <Card title="Permissions of each role">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard. */}
    <section className="wide-scroll" tabIndex={0} aria-label="Permissions of each role">
      <table className="role-table">
        <thead>
          <tr>
            <th scope="col">Action</th>
            {roles.map(role => (
              <th key={role} scope="col">
                {roleNames[role]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {actions.map(action => (
            <tr key={action}>
              <th scope="row">{actionText[action]}</th>
              {roles.map(role => (
                <td key={role} data-role={roleNames[role]} data-may={mayDo(role, action)}>
                  {mayDo(role, action) ? (
                    <>
                      <Icon name="check" />
                      <span className="quiet">yes</span>
                    </>
                  ) : (
                    <>
                      <span aria-hidden="true" className="muted">
                        –
                      </span>
                      <span className="quiet">no</span>
                    </>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </Card>
);
