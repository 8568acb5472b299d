import { fileURLToPath } from 'node:url';
import { Command, type Option } from 'commander';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { openApiText } from '../../scripts/openapi.mjs';
import { addCommands } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { FROM_FILES } from '../../src/config/environment.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { RULE_IDS, remedyFor } from '../../src/rules/common/refusals.ts';
import { read, root } from './checkout.ts';

// The reference parts of docs/, made from the schemas: `npx vitest run test/docs -u` writes them, without -u they are compared.

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;

function variableRows(): string {
  const variables = Object.entries(VARIABLES);
  const rows = variables.map(([name, schema]) => {
    const { description, unset } = z.globalRegistry.get(schema) ?? {};
    expect(description, `${name} has no description`).toBeDefined();
    const preset: unknown = schema.safeParse(undefined).data;
    return row(
      FROM_FILES.includes(name) ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
      String(description),
      String(unset ?? (preset === undefined ? 'none' : `\`${preset}\``)),
    );
  });
  return `${row('Variable', 'Meaning', 'Default')}|---|---|---|\n${rows.join('')}`;
}

const isSame = (one: Option, other: Option) =>
  one.flags === other.flags && one.description === other.description;

/** A command with its options; several options that `earlier` has as well are only named. */
function describeCommand(command: Command, path: string, earlier: Command | undefined): string {
  const args = command.registeredArguments.map((argument) =>
    argument.required ? ` <${argument.name()}>` : ` [${argument.name()}]`,
  );
  const asks = command.options.some(({ long }) => long === '--yes') ? '; asks first, or takes `--yes`' : '';
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== '--yes');
  const same = options.filter((option) => earlier?.options.some((other) => isSame(option, other)));
  const shared = same.length > 1 ? same : [];
  const lines = options.filter((option) => !shared.includes(option)).map(describeOption);
  const named = shared.map(({ long }) => `\`${long}\``).join(', ');
  const isOwn = earlier?.parent === command.parent;
  if (named !== '')
    lines.unshift(`- ${named}: as in \`${isOwn ? '' : `${earlier?.parent?.name()} `}${earlier?.name()}\`\n`);
  const list = lines.map((line) => `  ${line}`).join('');
  return `- **\`assent ${path}${args.join('')}\`**: ${command.description()}${asks}\n${list}`.trimEnd();
}

function describeOption({ flags, description, mandatory, defaultValue }: Option): string {
  const preset = defaultValue === undefined ? '' : `; default ${defaultValue}`;
  return `- \`${flags}\`${mandatory ? ' (required)' : ''}: ${description}${preset}\n`;
}

function commandSections(): string {
  const program = new Command('assent');
  addCommands(program, {} as Shell);
  const leaves = (command: Command, path: string): string[] => {
    if (path === 'resource secret')
      // the same schemas
      return ['- **`assent resource secret …`**: as `assent client secret …`'];
    const own =
      command.registeredArguments.length > 0 ||
      command.commands.length === 0 ||
      ['audit', 'notify'].includes(path);
    const isAlike = ['import', 'list'].includes(command.name());
    const among = isAlike ? program.commands.flatMap(({ commands }) => commands) : command.parent?.commands;
    const first = among?.find((other) => other.name() === (isAlike ? command.name() : 'create'));
    const earlier = first === command ? undefined : first;
    const inner = command.commands.flatMap((sub) => leaves(sub, `${path} ${sub.name()}`));
    return own ? [describeCommand(command, path, earlier), ...inner] : inner;
  };
  const groups = program.commands.map((group) => {
    return `### ${group.name()}\n\n${leaves(group, group.name()).join('\n')}\n`;
  });
  return `\n${groups.join('\n')}\n`;
}

function ruleRows(): string {
  const remedies = [...new Set(RULE_IDS.map((id) => remedyFor(id)))];
  const rows = remedies.map((remedy) => {
    const ids = RULE_IDS.filter((id) => remedyFor(id) === remedy);
    const linked = remedy
      .replaceAll(/\b(?:docs|deploy)\/[\w./-]+\.md(?:#[\w-]+)?/g, '[$&](../../$&)')
      .replaceAll(/\[docs\/integrate\/errors\.md(#[\w-]+)\]\(\S+?\)/g, '[Limits]($1)');
    return row(ids.map((id) => `\`${id}\``).join(', '), linked);
  });
  return `${row('`rule_id`', 'What an operator does')}|---|---|\n${rows.join('')}`;
}

it.each([
  ['docs/operate/configuration.md', 'variables', variableRows],
  ['docs/operate/commands.md', 'commands', commandSections],
  ['docs/integrate/errors.md', 'rule ids', ruleRows],
])('%s has the part “%s” generated from the schemas', async (page, part, make) => {
  const text = read(page);
  const place = new RegExp(`(?<=<!-- ${part} -->\n).*?(?=<!-- end -->)`, 's');
  expect(text).toMatch(place);
  await expect(text.replace(place, make)).toMatchFileSnapshot(fileURLToPath(new URL(page, root)));
});

it('docs/openapi.json is what `npm run openapi` writes', () => {
  expect(openApiText()).toBe(read('docs/openapi.json'));
});
