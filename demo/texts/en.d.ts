// Written from en.json by `node scripts/texts.mjs`.

/** What makes a text of its values. */
type With<Names extends string, Numbers extends string = never> = (
  values: { readonly [Name in Names]: string } & { readonly [Name in Numbers]: number },
) => string;

export interface Sentences {
  readonly ownName: string;
  readonly layout: {
    readonly what: string;
    readonly language: string;
    readonly begin: string;
    readonly story: string;
    readonly account: string;
    readonly code: string;
  };
  readonly home: {
    readonly title: string;
    readonly lead: string;
  };
  readonly plan: {
    readonly heading: string;
    readonly done: string;
    readonly lessons: {
      readonly connect: string;
      readonly spend: string;
      readonly again: string;
      readonly steal: string;
      readonly leave: string;
    };
    readonly end: string;
  };
  readonly steps: {
    readonly connect: string;
    readonly spend: string;
    readonly again: string;
    readonly replay: string;
    readonly introspect: string;
    readonly 'give-back': string;
  };
  readonly people: {
    readonly heading: string;
    readonly note: With<'server'>;
    readonly login: string;
    readonly password: string;
    readonly paymentPassword: string;
  };
  readonly copy: {
    readonly now: string;
    readonly done: string;
  };
  readonly compose: {
    readonly heading: string;
    readonly scope: string;
    readonly instance: string;
    readonly instanceNote: string;
    readonly ask: string;
    readonly or: string;
    readonly examples: {
      readonly week: string;
      readonly once: string;
      readonly person: string;
      readonly contradiction: string;
    };
  };
  readonly own: {
    readonly heading: string;
    readonly name: string;
    readonly redirectUri: string;
    readonly register: string;
    readonly done: string;
    readonly run: string;
  };
  readonly request: {
    readonly title: string;
    readonly lead: string;
    readonly send: string;
  };
  readonly ways: {
    readonly browserToServer: string;
    readonly browserToShop: string;
    readonly shopToServer: string;
    readonly shopToPayments: string;
    readonly paymentsToServer: string;
  };
  readonly parties: {
    readonly browser: string;
    readonly server: string;
    readonly shop: string;
    readonly payments: string;
  };
  readonly blocks: {
    readonly sent: string;
    readonly received: string;
  };
  readonly messages: {
    readonly request: {
      readonly title: string;
      readonly text: string;
    };
    readonly code: {
      readonly title: string;
      readonly text: string;
    };
    readonly rejected: {
      readonly title: string;
      readonly text: string;
    };
    readonly unasked: {
      readonly title: string;
      readonly text: string;
    };
    readonly token: {
      readonly title: string;
      readonly text: string;
    };
    readonly refused: {
      readonly title: string;
      readonly text: string;
    };
    readonly replayed: {
      readonly title: string;
      readonly text: string;
    };
    readonly unanswered: {
      readonly title: string;
      readonly text: string;
    };
    readonly allows: {
      readonly title: string;
      readonly text: string;
    };
    readonly inactive: {
      readonly title: string;
      readonly text: string;
    };
    readonly annulled: {
      readonly title: string;
      readonly text: string;
    };
    readonly givenBack: {
      readonly title: string;
      readonly text: string;
    };
    readonly judged: {
      readonly title: string;
      readonly text: string;
    };
    readonly paid: {
      readonly title: string;
      readonly text: string;
    };
    readonly notPaid: {
      readonly title: string;
      readonly text: string;
    };
  };
  readonly reasons: {
    readonly invalid_grant: string;
    readonly paid: string;
    readonly paid_once: string;
    readonly over_budget: string;
    readonly other_amount: string;
    readonly used_up: string;
    readonly no_right: string;
    readonly wrong_source: string;
    readonly over_largest: string;
    readonly ended: string;
    readonly wrong_currency: string;
    readonly invalid_amount: string;
    readonly invalid_token: string;
  };
  readonly story: {
    readonly token: string;
    readonly until: With<'day'>;
    readonly used: With<'amount' | 'limit' | 'day'>;
    readonly more: string;
    readonly to: string;
    readonly payee: string;
    readonly amount: string;
    readonly from: string;
    readonly payees: {
      readonly shop: string;
      readonly account: string;
      readonly phone: string;
      readonly email: string;
    };
    readonly sources: {
      readonly wallet: string;
      readonly card: string;
    };
    readonly pay: string;
    readonly spendNote: string;
  };
  readonly notice: {
    readonly title: string;
    readonly text: string;
  };
}
