/** The texts of a catalogue, or what makes them, each with its group, and its path such as `signIn.title`. */
export function leavesOf(
  group: object,
  path = '',
): { path: string; group: object; name: string; text: unknown }[] {
  return Object.entries(group).flatMap(([name, text]) => {
    if (text === null) return []; // a language without such words
    const isGroup = typeof text === 'object';
    return isGroup ? leavesOf(text, `${path}${name}.`) : [{ path: path + name, group, name, text }];
  });
}
