/** The texts of a catalogue, or what makes them, each with its group, and its path such as `signIn.title`. */
export function leavesOf(
  group: object,
  path = '',
): { path: string; group: object; name: string; text: unknown }[] {
  return Object.entries(group).flatMap(([name, text]) => {
    const isGroup = typeof text === 'object';
    return isGroup ? leavesOf(text, `${path}${name}.`) : [{ path: path + name, group, name, text }];
  });
}

/** Values of a sentence: each made by its name. */
export const eachValue = (make: (name: string) => unknown) =>
  new Proxy({}, { get: (_none, name) => make(String(name)) });
