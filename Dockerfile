# Builds with everything, then keeps what the server needs: no compiler, no browser, no embedded PostgreSQL, and of the
# packages half: no types, source maps and tests.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json prepare.mjs ./
COPY src src
COPY demo demo
COPY examples examples
RUN npm ci && npm prune --omit=dev \
  && find node_modules dist -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' -o -path '*/test/*' \) -delete
# Telephone numbers: two thirds of that package are the same for browsers, ES modules and longer metadata.
RUN find node_modules/libphonenumber-js -mindepth 1 -maxdepth 1 ! -name package.json ! -name 'LICENSE*' \
    ! -name min ! -name core ! -name build ! -name metadata.min.json -exec rm -r {} + \
  && node -e "require('libphonenumber-js/min')"

FROM node:26-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Assent" \
  org.opencontainers.image.description="OAuth 2.0 authorization server for payments" \
  org.opencontainers.image.version="1.0.0" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:26-slim"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY package.json ./
COPY bin bin
COPY views views
COPY demo/wallet demo/wallet
COPY migrations migrations
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY deploy/image/assent-health /usr/local/bin/
RUN ln -s /app/bin/assent.js /usr/local/bin/assent
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["assent-health"]
CMD ["assent", "serve"]
