import { type Line, openLine } from '../support/http/line.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';

export const SERVER_ROLE = 'assent_server';

/** Where a site has its database: an embedded PostgreSQL, or one that somebody else made, such as a cluster. */
export interface Home {
  readonly ownerUrl: string;
  serverUrl(index: number): string;
  /** Of the PostgreSQL that takes writes now, for one who asks it directly, as its superuser. */
  primaryUrl(): Promise<string>;
  close(): Promise<void>;
}

export interface EmbeddedHome extends Home {
  readonly postgres: OwnPostgres;
  readonly line: Line;
}

export async function makeHome(): Promise<EmbeddedHome> {
  const postgres = new OwnPostgres();
  await postgres.start();
  await postgres.run(`create role ${SERVER_ROLE} login`);
  const line = await openLine(postgres.place);
  return {
    postgres,
    line,
    ownerUrl: postgres.url(),
    serverUrl: () => line.url({ url: postgres.url('postgres', SERVER_ROLE) }),
    primaryUrl: async () => postgres.url(),
    async close() {
      line.close();
      await postgres.remove();
    },
  };
}
