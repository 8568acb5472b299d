import { CLIENTS, clientIdOf, clientSecretOf, RESOURCE } from '../../people.mjs';
import { startProgram } from '../../program.mjs';
import { USERS } from '../../settings.mjs';
import { assentVariables, SERVE } from '../../site.mjs';

/** The longest allowed: codes of a round wait for the line that exchanges them. */
const CODE_LIFETIME_SECONDS = '59';

/** Assent as its operator starts it: `assent serve`, with its log and its own pool. @type {import('./server.mjs').Server} */
export const ours = {
  version: '',

  async prepare({ site, database: name, node }) {
    const database = await site.createDatabase(name, USERS * CLIENTS);
    const variables = { ...assentVariables(database), CODE_LIFETIME_SECONDS };
    return {
      launch: () => startProgram(SERVE, variables, site.file(`${name}.log`), node),
      register: async ({ port }) => ({
        client: { id: clientIdOf(0), secret: clientSecretOf(0) },
        api: RESOURCE,
        apiPort: port,
      }),
    };
  },
};
