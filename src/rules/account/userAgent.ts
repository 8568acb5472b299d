import bowser from 'bowser';

/** Parsed length of a `User-Agent`: those of browsers are shorter. */
const MAX_USER_AGENT_CHARACTERS = 400;

/** A device in terms that its user knows, such as `Firefox` on `Linux`; null for unknown parts. */
export type Device = Readonly<ReturnType<typeof deviceOf>>;

const BROWSERS: ReadonlySet<string> = new Set(Object.values(bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(bowser.OS_MAP));

/** A `User-Agent` may contain anything: only listed names are taken from it. */
export function deviceOf(userAgent: string | null) {
  if (userAgent === null || userAgent === '') return { browser: null, system: null };
  const parser = bowser.getParser(userAgent.slice(0, MAX_USER_AGENT_CHARACTERS));
  const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
  return { browser: BROWSERS.has(browser) ? browser : null, system: SYSTEMS.has(system) ? system : null };
}
