# Bundles the server with everything, then keeps that alone: no compiler, no browser, no embedded PostgreSQL.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY scripts/bundle.mjs scripts/
COPY bin bin
COPY views views
COPY demo/wallet demo/wallet
COPY docs/openapi.json docs/
COPY migrations migrations
COPY deploy/postgresql deploy/postgresql
COPY src src
RUN node scripts/bundle.mjs /image

FROM node:26-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Assent" \
  org.opencontainers.image.description="OAuth 2.0 authorization server for payments" \
  org.opencontainers.image.version="1.0.0" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:26-slim"
# Traces of errors name files and lines of src, by the bundle's source maps.
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=build /image ./
COPY deploy/image/assent-health /usr/local/bin/
RUN ln -s /app/bin/assent.js /usr/local/bin/assent
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["assent-health"]
CMD ["assent", "serve"]
