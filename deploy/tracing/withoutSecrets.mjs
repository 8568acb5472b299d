/**
 * Span attributes that may leave the process, by name. All others stay here: queries and paths (codes and tokens get into
 * URLs by mistake), headers, values of statements, and error messages, which quote input.
 */
const TOLD = new Set([
  'client.address',
  'db.namespace',
  'db.operation.name',
  'db.query.text', // with $1 for each value: no statement of Assent contains a value
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

/** Forwards spans to another exporter, without possible secrets, and without hooks. */
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
