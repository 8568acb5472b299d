import { CLIENTS, clientIdOf, clientSecretOf, RESOURCE } from '../../people.mjs';
import { startProgram } from '../../program.mjs';
import { assentVariables, SERVE } from '../../site.mjs';

/** It limits how often a user decides: 1,000 times at once, and 30 a minute after that. */
const MANY_USERS = 512;
/** The longest that can be set: codes of a round wait for the line that exchanges them. */
const CODE_LIFETIME_SECONDS = '59';

/** Assent as its operator starts it: `assent serve`, its log on, its own pool. @type {import('./server.mjs').Server} */
export const ours = {
  version: '',

  async prepare({ site, database: name, node }) {
    const database = await site.createDatabase(name, MANY_USERS * CLIENTS);
    const variables = { ...assentVariables(database), CODE_LIFETIME_SECONDS };
    return {
      launch: () => startProgram(SERVE, variables, site.file(`${name}.log`), node),
      register: async ({ port }) => ({
        client: { id: clientIdOf(0), secret: clientSecretOf(0) },
        api: RESOURCE,
        apiPort: port,
        users: MANY_USERS,
      }),
    };
  },
};
