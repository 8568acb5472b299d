/** A text in a catalogue, or what makes it, with the group in which it stands, and its path, for example `signIn.title`. */
export interface Leaf {
  readonly path: string;
  readonly group: object;
  readonly name: string;
  readonly text: unknown;
}

export function leavesOf(group: object, path = ''): Leaf[] {
  return Object.entries(group).flatMap(([name, text]) => {
    if (text === null) return []; // a language without such words
    return typeof text === 'object'
      ? leavesOf(text, `${path}${name}.`)
      : [{ path: path + name, group, name, text }];
  });
}
