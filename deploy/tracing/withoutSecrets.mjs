/**
 * What may leave the process with a span, by name. Everything else stays here: queries and paths (codes and tokens get into
 * URLs by mistake), headers, values of statements, and the messages of errors, which quote what was sent.
 */
const TOLD = new Set([
  'client.address',
  'db.namespace',
  'db.operation.name',
  'db.query.text', // with $1 for each value: no statement of Assent's has a value in its text
  'db.system.name',
  'error.type',
  'fastify.type',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'network.protocol.version',
  'server.address',
  'server.port',
  'url.scheme',
]);

/** Fastify's hooks are most of the spans, and take microseconds. */
const isHook = ({ attributes }) => attributes['fastify.type'] === 'hook';

/** Sends spans on by another exporter, without what could be a secret, and without hooks. */
export class WithoutSecrets {
  #exporter;

  /** @param {import('@opentelemetry/sdk-trace-base').SpanExporter} exporter */
  constructor(exporter) {
    this.#exporter = exporter;
  }

  export(spans, done) {
    const told = spans.filter((span) => !isHook(span)).map(withoutSecrets);
    this.#exporter.export(told, done);
  }

  forceFlush() {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown() {
    return this.#exporter.shutdown();
  }
}

function withoutSecrets(span) {
  const told = Object.entries(span.attributes).filter(([name]) => TOLD.has(name));
  const values = {
    attributes: Object.fromEntries(told),
    events: [],
    links: [],
    status: { code: span.status.code },
  };
  return Object.create(
    span,
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])),
  );
}
