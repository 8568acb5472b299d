import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../flows/common/context.ts';
import { bindForm, signForm } from '../../flows/common/signedForm.ts';
import { brandingOf } from '../../http/pages/look.ts';
import { pageHeaders } from '../../http/pages/views.ts';
import { inLanguage, markLanguages } from '../../languages/foreign.ts';
import { isolatesAsHtml, withoutIsolates } from '../../languages/formats.ts';
import { textIn } from '../../languages/languages.ts';
import { describeRights, describeWait } from '../../languages/rights.ts';
import type { Row } from '../../operations/snakeCase.ts';
import { REFUSALS_KEPT_DAYS } from '../../rules/common/lifetimes.ts';
import { parseScope } from '../../rules/scope/scope.ts';
import { OPERATOR_SESSION_HOURS } from '../../store/operate/operatorSessions.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { OperatorSignIn } from './providerSignIn.ts';
import { describeRefusal } from './refusal.ts';
import * as related from './related.ts';
import type { SignedIn } from './session.ts';

/** What the pages take from the server's settings. */
export type SupportContext = { readonly operatorSignIn: OperatorSignIn | null } & Pick<
  Context,
  | 'keyRing'
  | 'languages'
  | 'timeZone'
  | 'brand'
  | 'catalogue'
  | 'directory'
  | 'currency'
  | 'baseUrl'
  | 'provider'
>;

const FOLDER = fileURLToPath(new URL('../../../views/support', import.meta.url));

const capital = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

/** Made when it is called: these pages are loaded only where they are wanted. */
export function loadViews(context: SupportContext) {
  const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta')))
    eta.loadTemplate(`@${file}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));
  const { escapeFunction } = eta.config;
  const html = (text: string) => isolatesAsHtml(escapeFunction(text));
  const branding = brandingOf(context);
  const css = Buffer.concat([branding.style.body, readFileSync(`${FOLDER}/style.css`)]);
  const style = { path: `/support/style-${hash('sha256', css).slice(0, 32)}.css`, css };

  const localeOf = ({ request }: FastifyReply) => {
    const language = context.languages.preferred(request.headers['accept-language'] ?? '');
    return { ...context, language, texts: language.texts };
  };
  const show = (reply: FastifyReply, status: number, name: string, fields: object) => {
    const locale = localeOf(reply);
    const { language, texts } = locale;
    const operator = reply.request.operator as SignedIn | null;
    const english = (text: string) => inLanguage(text, 'en');
    const words: Readonly<Record<string, string>> = { ...texts.support.names, ...texts.support.verbs };
    const page = {
      ...{
        ...fields,
        ...related,
        ENDPOINTS,
        capital,
        name,
        status,
        operator,
        texts,
        english,
        html,
        withoutIsolates,
      },
      style: style.path,
      language: language.tag,
      reference: reply.request.id,
      service: textIn(context.brand.name, language),
      lasting: { hours: OPERATOR_SESSION_HOURS, days: REFUSALS_KEPT_DAYS },
      /** A noun, a verb or a field in words: where a language has none, as the API spells it. */
      labelOf: (spelled: string) =>
        words[spelled] ?? english(capital(spelled.replaceAll('_', ' ').replace('client', 'application'))),
      formToken: (path: string) => operator && signForm(context, bindForm('support', operator, path)),
      waitOf: (seconds: number) => describeWait(seconds, texts),
      timeOf: (time: Date) => texts.formats.time(time, context.timeZone),
      refusalOf: (row: Row) => describeRefusal(row, texts),
      rightsOf: (scope: string) => describeRights(parseScope(scope, context.currency), locale),
    };
    reply.code(status).headers(pageHeaders({ name }, {}, language, branding));
    return reply.send(markLanguages(eta.render(`@${name}.eta`, page)));
  };
  return { style, show, textsOf: (reply: FastifyReply) => localeOf(reply).texts.support };
}
