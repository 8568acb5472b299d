import type { DisconnectedAccess } from '../../flows/disconnected.ts';
import { say } from '../../languages/formats.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { countConnections, fullNameOf } from './describeAccount.ts';

/** What the page says about something that was disconnected, true of whatever is left. */
export function describeDisconnected(
  { what, clientName, instanceName, live, orMore }: DisconnectedAccess,
  language: Language,
): { readonly title: string; readonly done: string } {
  const { disconnected, ...account } = TEXTS[language].account;
  const { title, application, some, connection, unnamed, left } = disconnected;
  const all = { title: title(say`${clientName}`) };
  if (live === 0 && !orMore) return { ...all, done: application(clientName) };
  if (what === 'application') return { ...all, done: some(clientName) };
  const one = instanceName === null ? unnamed(clientName) : connection(clientName, instanceName);
  const others = left(clientName, countConnections(live, orMore, account));
  return {
    title: title(fullNameOf(clientName, instanceName, language)),
    done: live === 0 ? one : `${one} ${others}`,
  };
}
