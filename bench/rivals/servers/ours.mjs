import { CLIENTS, clientIdOf, clientSecretOf, RESOURCE } from '../../people.mjs';
import { startProgram } from '../../program.mjs';
import { assentVariables, SERVE } from '../../site.mjs';

/** It limits a user's decisions: 1,000 at once, and 30 a minute after that. */
const MANY_USERS = 512;
/** The longest allowed: codes of a round wait for the line that exchanges them. */
const CODE_LIFETIME_SECONDS = '59';

/** Assent as its operator starts it: `assent serve`, with its log and its own pool. @type {import('./server.mjs').Server} */
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
